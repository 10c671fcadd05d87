import Media
import Synchronization

/// The common clock of a program and its renditions.
///
/// A mixer sends all of them with the same timestamps, on connections that open one after the other and may break
/// independently. The offset from a mixer's time to the feeds' time is therefore fixed once per mixer, by the first
/// packet of any of them, and applies to all: frames of one moment have one timestamp in every rendition. The next
/// mixer continues after the last one, plus the real time that has passed. The first mixer keeps its own time,
/// because the first packet to arrive need not be the earliest: the audio-only rendition is ahead of the video.
public final class SharedTimeline: Sendable {
    private struct State {
        /// The feeds' time minus the mixer's time, by epoch.
        var offsets: [UInt64: Int64] = [:]
        var last: (timestamp: Int64, arrival: MonotonicTime)?
        /// The time at which the current mixer began.
        var begin: Int64 = 0
    }

    /// The number of mixers whose offsets are stored: the leaving one, the current one, and two spare.
    private static let mostEpochs = 4
    /// The latest timestamp of the very first packet, in milliseconds.
    private static let latestStart: Int64 = 2_000

    private let state = Mutex(State())

    /// Creates a clock that has not started.
    public init() {}

    /// Returns how many milliseconds the clock is ahead of `timestamp`, within the current mixer's time.
    func lag(of timestamp: Int64) -> Int64 {
        state.withLock { state in
            state.last.map { max($0.timestamp - max(timestamp, state.begin), 0) } ?? 0
        }
    }

    /// Returns the feeds' time for a packet; 0 for a configuration, which takes the current time of its feed.
    ///
    /// - Parameters:
    ///   - packet: A packet with its mixer's own timestamp.
    ///   - epoch: The mixer's epoch.
    ///   - arrival: The time at which the packet arrived.
    func place(_ packet: MediaPacket, epoch: UInt64, arrival: MonotonicTime) -> Int64 {
        state.withLock { state in
            guard !packet.isConfiguration else { return 0 }
            guard let offset = state.offsets[epoch] else {
                let now =
                    state.last.map { $0.timestamp + max(1, arrival.milliseconds - $0.arrival.milliseconds) }
                    ?? min(max(packet.timestamp, 0), Self.latestStart)
                if state.offsets.count >= Self.mostEpochs, let oldest = state.offsets.keys.min() {
                    state.offsets[oldest] = nil
                }
                state.offsets[epoch] = now - packet.timestamp
                state.last = (now, arrival)
                state.begin = now
                return now
            }
            let placed = packet.timestamp + offset
            if placed > state.last?.timestamp ?? .min { state.last = (placed, arrival) }
            return placed
        }
    }
}
