import Codecs
import Dispatch
import Media
import Synchronization

/// Encodes what single hosts hear, on a thread of its own, and joins it with the program's pictures.
///
/// The pictures are those that were encoded for the program; only sound is coded again. The way in is bounded: what
/// finds no room is dropped and counted, sound as silence, pictures up to the next key picture.
final class ReturnEncoders: ReturnOutput, Sendable {
    private enum Job: Sendable {
        case program(MediaPacket)
        case sound(host: String, AudioBlock, firstSample: Int64)
    }

    private struct State {
        var jobs = Fifo<Job>()
        var wanted: Set<String> = []
        var configuration: MediaPacket?
        var hasLostPictures = false
        var dropped: Int64 = 0
        var isClosed = false
    }

    /// About two seconds of a program with twelve returns.
    private static let mostWaiting = 2048

    private let bitrate: Int
    private let sink: @Sendable (String, MediaPacket) -> Void
    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)

    /// - Parameters:
    ///   - bitrate: Of each return's sound, bits per second.
    ///   - sink: Takes each return's packets with the host they are for; called on the thread of `run`.
    init(bitrate: Int, sink: @escaping @Sendable (String, MediaPacket) -> Void) {
        self.bitrate = bitrate
        self.sink = sink
    }

    /// Packets and quanta that found no room.
    var dropped: Int64 { state.withLock { $0.dropped } }

    /// Packets and quanta that wait to be encoded.
    var waiting: Int { state.withLock { $0.jobs.count } }

    /// Says who wants a return from now on; any thread.
    func follow(_ hosts: Set<String>) {
        let isChange = state.withLock { state in
            guard state.wanted != hosts else { return false }
            state.wanted = hosts
            return true
        }
        if isChange { wake.signal() }
    }

    /// Takes the program's next packet; any one thread, in order.
    func takeProgram(_ packet: MediaPacket) {
        let isTaken = state.withLock { state in
            if case .videoConfiguration = packet.content { state.configuration = packet }
            guard !packet.isAudio, !state.wanted.isEmpty else { return false }
            guard state.jobs.count < Self.mostWaiting else {
                state.dropped += 1
                state.hasLostPictures = true
                return false
            }
            state.jobs.append(.program(packet))
            return true
        }
        if isTaken { wake.signal() }
    }

    func takeReturn(
        _ host: String,
        left: UnsafePointer<Float>,
        right: UnsafePointer<Float>,
        count: Int,
        firstSample: Int64
    ) {
        let block = AudioBlock(frameCount: count, timestamp: Double(firstSample) / 48) { (toLeft, toRight) in
            toLeft.baseAddress?.update(from: left, count: count)
            toRight.baseAddress?.update(from: right, count: count)
        }
        let isTaken = state.withLock { state in
            guard state.wanted.contains(host) else { return false }
            guard state.jobs.count < Self.mostWaiting else {
                state.dropped += 1
                return false
            }
            state.jobs.append(.sound(host: host, block, firstSample: firstSample))
            return true
        }
        if isTaken { wake.signal() }
    }

    /// Lets `run` return.
    func close() {
        state.withLock { $0.isClosed = true }
        wake.signal()
    }

    /// Encodes what comes until closed.
    ///
    /// - Parameter report: Told the thread's processor seconds now and then.
    func run(report: (Double) -> Void) {
        var streams: [String: ReturnStream] = [:]
        var taken = 0
        while true {
            let (job, wanted, configuration, hasLost, isClosed) = state.withLock { state in
                defer { state.hasLostPictures = false }
                return (
                    state.jobs.popFirst(), state.wanted, state.configuration, state.hasLostPictures, state.isClosed
                )
            }
            if isClosed { return }
            if streams.count != wanted.count || !wanted.allSatisfy({ streams[$0] != nil }) {
                streams = streams.filter { wanted.contains($0.key) }
                for host in wanted where streams[host] == nil {
                    streams[host] = makeStream(host, configuration)
                }
            }
            if hasLost { for stream in streams.values { stream.skipToKey() } }
            switch job {
            case .program(let packet):
                for stream in streams.values { stream.takeProgram(packet) }
            case .sound(let host, let block, let firstSample):
                streams[host]?.takeSound(block, firstSample: firstSample)
                taken += 1
                if taken % 50 == 0 { report(MonotonicSleep.threadSeconds()) }
            case nil:
                wake.wait()
            }
        }
    }

    private func makeStream(_ host: String, _ configuration: MediaPacket?) -> ReturnStream? {
        do {
            return try ReturnStream(bitrate: bitrate, configuration: configuration) { [sink] in sink(host, $0) }
        } catch {
            // Without an encoder there is no feed; the mix goes on.
            state.withLock { _ = $0.wanted.remove(host) }
            return nil
        }
    }
}
