import Media
import NIOCore
import NIOPosix
import RTMP
import Synchronization

/// A viewer by RTMP or HTTP-FLV who looks at the times of pictures and sound, and may look at them and listen.
final class SoakPlayer: Sendable {
    private struct State {
        /// When the last picture came; when the viewer did, before the first.
        var last = MonotonicTime.now()
        var timestamp = Int64.min
        var longestWait = 0.0
        var backwardSteps = 0
        var lastSound: Int64?
        var soundGaps = 0
        var end: String?
        var isStopped = false
    }

    private let state = Mutex(State())
    private let player = Mutex<(any StreamPlayer)?>(nil)

    /// By RTMP.
    init(_ url: String, ear: SoakEar? = nil, eye: SoakEye? = nil, group: any EventLoopGroup) {
        let player = RTMPPlayer(
            url: url,
            group: group,
            onPacket: { [weak self] packet, arrival in
                ear?.take(packet)
                eye?.take(packet)
                self?.take(packet, arrival)
            },
            onEnd: { [weak self] reason in
                self?.state.withLock { if !$0.isStopped { $0.end = reason } }
            }
        )
        self.player.withLock { $0 = player }
        player.start()
    }

    /// By HTTP-FLV.
    init(flv stream: String, port: Int, group: MultiThreadedEventLoopGroup) {
        let player = FLVPlayer(
            port: port,
            dialogue: .flv(port: port, stream: stream),
            group: group,
            onPacket: { [weak self] packet, arrival in self?.take(packet, arrival) },
            onEnd: { [weak self] in self?.state.withLock { if !$0.isStopped { $0.end = "the connection ended" } } }
        )
        self.player.withLock { $0 = player }
        player.start()
    }

    /// Why the gateway let it go; nil while it plays.
    var end: String? { state.withLock { $0.end } }

    var backwardSteps: Int { state.withLock { $0.backwardSteps } }

    /// How often a frame of sound was missing.
    var soundGaps: Int { state.withLock { $0.soundGaps } }

    /// The longest time without a picture since the last call, in seconds; one that lasts is counted.
    func takeLongestWait() -> Double {
        state.withLock { state in
            defer { state.longestWait = 0 }
            return max(state.longestWait, MonotonicTime.now().seconds(since: state.last))
        }
    }

    func stop() {
        state.withLock { $0.isStopped = true }
        player.withLock { $0 }?.stop()
    }

    private func take(_ packet: MediaPacket, _ arrival: MonotonicTime) {
        state.withLock { state in
            if packet.timestamp < state.timestamp { state.backwardSteps += 1 }
            state.timestamp = max(state.timestamp, packet.timestamp)
            if packet.isAudio, !packet.isConfiguration {
                // A frame has 21.3 ms.
                if let last = state.lastSound, packet.timestamp - last > 23 { state.soundGaps += 1 }
                state.lastSound = packet.timestamp
            }
            guard packet.isVideo, !packet.isConfiguration else { return }
            state.longestWait = max(state.longestWait, arrival.seconds(since: state.last))
            state.last = arrival
        }
    }
}
