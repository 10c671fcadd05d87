import Codecs
import Media
import Stage
import Synchronization

/// Encodes the preview with little effort, on a thread that exists only while there is a preview.
final class PreviewEncoder: PreviewOutput, Sendable {
    private struct State: Sendable {
        var encoder: RenditionEncoder?
        /// The number of the last frame's GOP; nil before the first.
        var gop: Int64?
        /// The processor seconds of earlier encoders.
        var past = 0.0
    }

    private let program: ProgramConfiguration
    private let sink: @Sendable (MediaPacket) -> Void
    private let state = Mutex(State())
    /// Makes image files of the preview's frames on request.
    let snapshots = SnapshotWorker()

    /// - Parameter sink: Receives the preview's video, first its decoder configuration; called on a thread of its own.
    init(of program: ProgramConfiguration, sink: @escaping @Sendable (MediaPacket) -> Void) {
        var program = program
        program.preset = .superfast
        self.program = program
        self.sink = sink
    }

    /// Opens or closes the encoder, which takes milliseconds; any one thread but the program's.
    func setActive(_ isActive: Bool) {
        guard isActive != state.withLock({ $0.encoder != nil }) else { return }
        // Without an encoder those backstage see the slate.
        let next = isActive ? try? makeEncoder() : nil
        let former = state.withLock { state in
            defer { (state.encoder, state.gop) = (next, nil) }
            return state.encoder
        }
        former?.close()
        let used = former?.statistics.encodeSeconds ?? 0
        state.withLock { $0.past += used }
    }

    /// Ends the preview; no frame follows.
    func close() {
        setActive(false)
        snapshots.close()
    }

    /// The processor seconds for encoding.
    var encodeSeconds: Double { state.withLock { $0.past + ($0.encoder?.statistics.encodeSeconds ?? 0) } }

    func writeFrame(_ canvas: Canvas, index: Int64) {
        snapshots.show(canvas)
        let gop = index / Int64(program.gopLength)
        let (encoder, isKey) = state.withLock { state in
            defer { state.gop = gop }
            return (state.encoder, state.gop != gop)
        }
        _ = encoder?.writeFrame(from: canvas, index: index, isKey: isKey)
    }

    private func makeEncoder() throws(CodecError) -> RenditionEncoder {
        let rendition = Rendition(previewOf: program)
        let video = try RenditionVideoEncoder(
            rendition,
            of: program,
            encoderOptions: VideoEncoderConfiguration.usualOptions(of: program.preset.rawValue),
            firstTimestamp: 0
        )
        return RenditionEncoder(rendition.name, video: video, audioConfiguration: nil, hasThread: true, sink: sink)
    }
}

/// Receives the frames of the preview on the program's thread.
protocol PreviewOutput: AnyObject {
    /// Receives program frame `index`; the canvas is valid during the call only.
    func writeFrame(_ canvas: Canvas, index: Int64)
}
