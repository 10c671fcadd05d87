/// A picture that is laid over the program: 4:2:0, limited BT.709, with how much it hides at each pixel.
///
/// Its samples are premultiplied: each holds the share it adds to the result, so that a sample of the canvas becomes
/// `share + canvas * (255 - alpha) / 255`, rounded. Averaging premultiplied pixels is exact, which leaves no fringe of the
/// wrong colour where chroma is shared by seen and unseen pixels; chroma has an alpha of its own, the mean of its four.
///
/// `@unchecked Sendable`: written only while it is made, by one thread; afterwards it is shared and only read.
public final class OverlayPicture: @unchecked Sendable {
    /// Pixels; a long ticker is one picture.
    public static let longestSide = 1 << 18
    /// Pixels in all.
    public static let mostPixels = 32 << 20

    /// Pixels, even.
    public let width: Int
    /// Pixels, even.
    public let height: Int

    /// What is added to the canvas.
    let planes: PicturePlanes
    /// How much of luma is hidden.
    let alpha: PicturePlanes.Plane
    /// How much of chroma is hidden.
    let chromaAlpha: PicturePlanes.Plane
    /// What is seen in each pair of rows, from left to right.
    private(set) var runs: [[OverlayRun]] = []

    private let memory: UnsafeMutablePointer<UInt8>
    private let size: Int

    /// A picture of which nothing is seen yet.
    ///
    /// - Parameters:
    ///   - width: Even.
    ///   - height: Even.
    init(width: Int, height: Int) throws(CodecError) {
        guard width > 0, height > 0, width % 2 == 0, height % 2 == 0 else {
            throw CodecError(.badConfiguration, "an overlay of \(width)x\(height)")
        }
        guard width <= Self.longestSide, height <= Self.longestSide, width * height <= Self.mostPixels else {
            throw CodecError(.tooLarge, "an overlay of \(width)x\(height)")
        }
        // Rows of every plane begin on whole vectors, and a vector may be read at the end of each.
        let stride = (width + 31) & ~31
        let (luma, chroma) = (stride * height, stride / 2 * (height / 2))
        size = 2 * luma + 3 * chroma + 32
        memory = .allocate(capacity: size)
        memory.initialize(repeating: 0, count: size)
        planes = PicturePlanes(
            y: .init(start: memory, stride: stride),
            u: .init(start: memory + 2 * luma, stride: stride / 2),
            v: .init(start: memory + 2 * luma + chroma, stride: stride / 2)
        )
        alpha = .init(start: memory + luma, stride: stride)
        chromaAlpha = .init(start: memory + 2 * luma + 2 * chroma, stride: stride / 2)
        self.width = width
        self.height = height
    }

    deinit {
        memory.deallocate()
    }

    /// Bytes of memory it takes.
    public var byteCount: Int { size + runs.reduce(0) { $0 + $1.count * MemoryLayout<OverlayRun>.stride } }

    /// Nothing is seen through it anywhere.
    public var isOpaque: Bool {
        runs.allSatisfy { $0.count == 1 && $0[0] == OverlayRun(start: 0, end: width, isOpaque: true) }
    }

    /// How much of the canvas a pixel hides, 0 to 255; 0 outside.
    public func alpha(x: Int, y: Int) -> UInt8 {
        guard (0..<width).contains(x), (0..<height).contains(y) else { return 0 }
        return alpha.at(x: x, y: y).pointee
    }

    /// The colour of a pixel by itself; nil where nothing is seen.
    public func colour(x: Int, y: Int) -> YUVColour? {
        let hidden = Int(alpha(x: x, y: y))
        guard hidden > 0 else { return nil }
        let chromaHidden = max(Int(chromaAlpha.at(x: x / 2, y: y / 2).pointee), 1)
        return YUVColour(
            y: Self.whole(planes.y.at(x: x, y: y).pointee, hidden),
            u: Self.whole(planes.u.at(x: x / 2, y: y / 2).pointee, chromaHidden),
            v: Self.whole(planes.v.at(x: x / 2, y: y / 2).pointee, chromaHidden)
        )
    }

    private static func whole(_ share: UInt8, _ alpha: Int) -> UInt8 {
        UInt8(min((Int(share) * 255 + alpha / 2) / alpha, 255))
    }

    /// Finds what is seen, once all pixels are there.
    func findRuns() {
        runs = (0..<height / 2).map { OverlayRun.all(inPair: $0, of: alpha, width: width) }
    }
}
