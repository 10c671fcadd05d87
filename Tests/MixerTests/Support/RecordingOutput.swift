import Codecs

@testable import Mixer

/// Takes a program's pictures and sound as they are, before any encoder.
final class RecordingOutput: ProgramOutput {
    struct Shown {
        let index: Int64
        /// What `probe` saw.
        let colours: [YUVColour]
    }

    private let ring: CanvasRing
    /// Where to look in each picture.
    var probes: [PixelRectangle] = []
    private(set) var pictures: [Shown] = []
    private(set) var left: [Float] = []
    private(set) var firstSample: Int64?
    private(set) var isContiguous = true

    init(ring: CanvasRing) {
        self.ring = ring
    }

    var pendingPictures: Int { 0 }

    func takePicture(canvas: Int, index: Int64) {
        let colours = probes.map { ring.canvases[canvas].averageColour(of: $0) }
        pictures.append(Shown(index: index, colours: colours))
        ring.giveBack(canvas)
    }

    func takeSound(left: UnsafePointer<Float>, right: UnsafePointer<Float>, count: Int, firstSample: Int64) {
        if let first = self.firstSample {
            isContiguous = isContiguous && firstSample == first + Int64(self.left.count)
        } else {
            self.firstSample = firstSample
        }
        self.left.append(contentsOf: UnsafeBufferPointer(start: left, count: count))
    }

    /// The sound from one program time to another, milliseconds.
    func sound(from start: Int, to end: Int) -> ArraySlice<Float> {
        left[min(start * 48, left.count)..<min(end * 48, left.count)]
    }
}
