import Codecs

@testable import Mixer

/// Records a program's frames and audio before encoding.
final class RecordingOutput: ProgramOutput {
    struct Shown {
        let index: Int64
        /// The average colours of `probes`.
        let colours: [YUVColour]
    }

    private let ring: CanvasRing
    /// The areas measured in each frame.
    var probes: [PixelRectangle] = []
    private(set) var frames: [Shown] = []
    private(set) var left: [Float] = []
    private(set) var firstSample: Int64?
    private(set) var isContiguous = true

    init(ring: CanvasRing) {
        self.ring = ring
    }

    var pendingFrames: Int { 0 }

    func writeFrame(canvas: Int, index: Int64) {
        let colours = probes.map { ring.canvases[canvas].averageColour(of: $0) }
        frames.append(Shown(index: index, colours: colours))
        ring.release(canvas)
    }

    func writeAudio(left: UnsafePointer<Float>, right: UnsafePointer<Float>, count: Int, firstSample: Int64) {
        if let first = self.firstSample {
            isContiguous = isContiguous && firstSample == first + Int64(self.left.count)
        } else {
            self.firstSample = firstSample
        }
        self.left.append(contentsOf: UnsafeBufferPointer(start: left, count: count))
    }

    /// Returns the audio from one program time to another, milliseconds.
    func audio(from start: Int, to end: Int) -> ArraySlice<Float> {
        left[min(start * 48, left.count)..<min(end * 48, left.count)]
    }
}

/// Records the mix-minus audio of single hosts before encoding.
final class RecordingMixMinusOutput: MixMinusOutput {
    struct Feed {
        var left: [Float] = []
        let firstSample: Int64
        var isContiguous = true
    }

    private(set) var recorded: [String: Feed] = [:]
    /// Whether the feeds have the preview's video.
    private(set) var isPreviewShown = false

    func showPreview(_ isShown: Bool) { isPreviewShown = isShown }

    func writeMix(
        _ host: String,
        left: UnsafePointer<Float>,
        right: UnsafePointer<Float>,
        count: Int,
        firstSample: Int64
    ) {
        var present = recorded[host] ?? Feed(firstSample: firstSample)
        if firstSample != present.firstSample + Int64(present.left.count) { present.isContiguous = false }
        present.left.append(contentsOf: UnsafeBufferPointer(start: left, count: count))
        recorded[host] = present
    }

    /// Returns what `host` heard from one program time to another, milliseconds.
    func audio(of host: String, from start: Int, to end: Int) -> ArraySlice<Float> {
        guard let recorded = recorded[host] else { return [] }
        func index(_ time: Int) -> Int { min(max(time * 48 - Int(recorded.firstSample), 0), recorded.left.count) }
        return recorded.left[index(start)..<index(end)]
    }
}

/// Records the preview's frames before encoding.
final class RecordingPreviewOutput: PreviewOutput {
    /// The areas measured in each frame.
    var probes: [PixelRectangle] = []
    private(set) var frames: [RecordingOutput.Shown] = []

    func writeFrame(_ canvas: Canvas, index: Int64) {
        frames.append(RecordingOutput.Shown(index: index, colours: probes.map { canvas.averageColour(of: $0) }))
    }
}
