import RTMP

/// A player of one stream, by whatever protocol.
protocol StreamPlayer: Sendable {
    func start()
    func stop()
}

extension RTMPPlayer: StreamPlayer {}
