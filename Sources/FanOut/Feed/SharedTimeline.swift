import Media
import Synchronization

/// The one clock of a program and its renditions.
///
/// A mixer sends all of them with the same timestamps, on connections that come up one after the other and may break by
/// themselves. So what a mixer's time is on the feeds' clock is decided once for each mixer, by the first packet of any
/// of them, and holds for all: pictures of one moment have one time, whichever rendition they are from. A next mixer
/// goes on behind the last one, after the time that has really passed. The first one keeps its own time: the packet that
/// comes first need not be the earliest, for a rendition of sound alone is ahead of the pictures.
public final class SharedTimeline: Sendable {
    private struct State {
        /// The feeds' time minus the mixer's, by epoch.
        var offsets: [UInt64: Int64] = [:]
        var last: (timestamp: Int64, arrival: MonotonicTime)?
        /// Where the newest mixer began.
        var begin: Int64 = 0
    }

    /// Mixers whose offsets are remembered: one that leaves, one that comes, and some to spare.
    private static let mostEpochs = 4
    /// Milliseconds from the feeds' zero at which the first packet of all lies at most.
    private static let latestStart: Int64 = 2_000

    private let state = Mutex(State())

    /// A clock that has not begun.
    public init() {}

    /// Milliseconds by which the feeds are past `timestamp`, where one of them is; of the present mixer's time only.
    func lag(of timestamp: Int64) -> Int64 {
        state.withLock { state in
            state.last.map { max($0.timestamp - max(timestamp, state.begin), 0) } ?? 0
        }
    }

    /// The feeds' time for a packet; 0 for a configuration, which has no time of its own but that of its feed.
    ///
    /// - Parameters:
    ///   - packet: With its mixer's own timestamp.
    ///   - epoch: Which mixer it is from.
    ///   - arrival: When it came in.
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
