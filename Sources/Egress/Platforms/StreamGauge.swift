import Media
import Stage
import Synchronization

/// Measures a feed for all outputs that push it.
final class StreamGauge: Sendable, PacketSink {
    private struct State: Sendable {
        var meter = StreamMeter()
        var figures: StreamFigures?
    }

    private let state = Mutex(State())

    func receive(_ packet: MediaPacket) {
        state.withLock { state in
            if let figures = state.meter.take(packet) { state.figures = figures }
        }
    }

    /// The latest figures that were not taken yet.
    func takeFigures() -> StreamFigures? {
        state.withLock { state in
            defer { state.figures = nil }
            return state.figures
        }
    }
}
