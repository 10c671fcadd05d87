import CFFmpeg

/// A frame that is laid over the program: 4:2:0, limited BT.709, with how much it hides at each pixel.
///
/// Its samples are premultiplied: each holds the share it adds to the result, so that a sample of the canvas becomes
/// `share + canvas * (255 - alpha) / 255`, rounded. Averaging premultiplied pixels is exact, which leaves no fringe of
/// the wrong colour where chroma is shared by seen and unseen pixels; chroma has an alpha of its own, the mean of its
/// four.
///
/// `@unchecked Sendable`: written only while it is made, by one thread; afterwards it is shared and only read.
public final class OverlayImage: @unchecked Sendable {
    /// Pixels; a long ticker is one frame.
    public static let longestSide = 1 << 18
    /// Pixels in all.
    public static let mostPixels = 32 << 20

    /// Pixels, even.
    public let width: Int
    /// Pixels, even.
    public let height: Int

    /// What is added to the canvas.
    let planes: FramePlanes
    /// How much of luma is hidden.
    let alpha: FramePlanes.Plane
    /// How much of chroma is hidden.
    let chromaAlpha: FramePlanes.Plane
    /// What is seen in each pair of rows, from left to right.
    private(set) var runs: [[OverlayRun]] = []

    private let memory: UnsafeMutablePointer<UInt8>
    private let size: Int

    /// A frame of which nothing is seen yet.
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
        planes = FramePlanes(
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

extension OverlayImage {
    /// The overlay as a frame that is drawn and scaled like a host's, for one that nothing is seen through.
    ///
    /// What can be seen through is mixed with black.
    ///
    /// - Throws: `.tooLarge` beyond `FrameLimits`.
    public func makeFrame() throws(CodecError) -> VideoFrame {
        guard max(width, height) <= FrameLimits.side, width * height <= FrameLimits.pixels else {
            throw CodecError(.tooLarge, "a frame of \(width)x\(height)")
        }
        let canvas = try Canvas(width: max(width, 16), height: max(height, 16))
        canvas.blend(self, x: 0, y: 0)
        // The canvas goes with this call; its memory stays with the frame.
        let frame = try FrameOwner()
        let status = av_frame_ref(frame.pointer, canvas.shown)
        guard status >= 0 else { throw CodecError(status, doing: "allocating a frame") }
        frame.pointer.pointee.width = Int32(width)
        frame.pointer.pointee.height = Int32(height)
        return try VideoFrame(moving: frame.pointer, presentationTimestamp: 0)
    }
}

extension OverlayImage {
    /// Takes over premultiplied pixels, four bytes each: blue, green, red, alpha.
    ///
    /// - Parameters:
    ///   - part: Where they go, within the frame.
    ///   - pixels: The first row of `part`.
    ///   - stride: Bytes from one row to the next.
    func fill(_ part: PixelRectangle, from pixels: UnsafePointer<UInt8>, stride: Int) {
        let target = planes.moved(x: part.x, y: part.y)
        let alpha = alpha.moved(x: part.x, y: part.y)
        let chromaAlpha = chromaAlpha.moved(x: part.x / 2, y: part.y / 2)
        for pair in 0..<part.height / 2 {
            let upper = pixels + 2 * pair * stride
            let lower = upper + stride
            for column in 0..<part.width / 2 {
                var sum = PremultipliedColour()
                for (row, source) in [(2 * pair, upper), (2 * pair + 1, lower)] {
                    for x in [2 * column, 2 * column + 1] {
                        let colour = PremultipliedColour(source + 4 * x)
                        target.y.at(x: x, y: row).pointee = colour.luma
                        alpha.at(x: x, y: row).pointee = UInt8(colour.alpha)
                        sum.add(colour)
                    }
                }
                target.u.at(x: column, y: pair).pointee = sum.blueDifferenceOfFour
                target.v.at(x: column, y: pair).pointee = sum.redDifferenceOfFour
                chromaAlpha.at(x: column, y: pair).pointee = UInt8((sum.alpha + 2) / 4)
            }
        }
    }
}

/// Red, green, blue and alpha of one pixel, or the sum of those of four.
private struct PremultipliedColour {
    var red: Int32 = 0
    var green: Int32 = 0
    var blue: Int32 = 0
    var alpha: Int32 = 0

    init() {}

    /// - Parameter pixel: Blue, green, red, alpha.
    init(_ pixel: UnsafePointer<UInt8>) {
        alpha = Int32(pixel[3])
        // Never more than alpha, as in every well-made premultiplied pixel.
        red = min(Int32(pixel[2]), alpha)
        green = min(Int32(pixel[1]), alpha)
        blue = min(Int32(pixel[0]), alpha)
    }

    mutating func add(_ other: PremultipliedColour) {
        red += other.red
        green += other.green
        blue += other.blue
        alpha += other.alpha
    }

    // BT.709, 0...255 to 16...235 and 16...240, in units of 1/65536. Each row of weights adds up to what white has to
    // become: 219/255 for luma, nothing for chroma. All is linear, so it holds for premultiplied values as it stands,
    // with alpha in place of one.
    var luma: UInt8 {
        Self.byte(11_966 * red + 40_254 * green + 4_064 * blue + 4_112 * alpha + 1 << 15, 16)
    }

    var blueDifferenceOfFour: UInt8 {
        Self.byte(-6_596 * red - 22_189 * green + 28_785 * blue + 32_897 * alpha + 1 << 17, 18)
    }

    var redDifferenceOfFour: UInt8 {
        Self.byte(28_785 * red - 26_145 * green - 2_640 * blue + 32_897 * alpha + 1 << 17, 18)
    }

    private static func byte(_ value: Int32, _ fraction: Int32) -> UInt8 {
        UInt8(clamping: value >> fraction)
    }
}

/// Columns of a pair of rows in which an overlay is seen; what lies between runs is left alone.
struct OverlayRun: Sendable, Hashable {
    /// The first column, even.
    var start: Int
    /// The column after the last, even.
    var end: Int
    /// Nothing is seen through any pixel of it.
    var isOpaque: Bool

    /// Columns looked at together; a run begins and ends at a multiple of it, or at the right edge.
    static let block = 16

    /// The runs of the rows `2 * pair` and `2 * pair + 1`, from left to right.
    static func all(inPair pair: Int, of alpha: FramePlanes.Plane, width: Int) -> [OverlayRun] {
        let (upper, lower) = (alpha.at(x: 0, y: 2 * pair), alpha.at(x: 0, y: 2 * pair + 1))
        var runs: [OverlayRun] = []
        for start in stride(from: 0, to: width, by: block) {
            let end = min(start + block, width)
            var (least, most) = (UInt8.max, UInt8.min)
            for column in start..<end {
                least = min(least, upper[column], lower[column])
                most = max(most, upper[column], lower[column])
            }
            guard most > 0 else { continue }
            let run = OverlayRun(start: start, end: end, isOpaque: least == .max)
            if let last = runs.last, last.end == run.start, last.isOpaque == run.isOpaque {
                runs[runs.count - 1].end = run.end
            } else {
                runs.append(run)
            }
        }
        return runs
    }
}
