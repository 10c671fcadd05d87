import Codecs

/// Where something of an overlay is seen, and how much.
struct Ink: Equatable {
    /// The first and the last column, and the first and the last row, with a pixel that is at least half hidden.
    private(set) var left = Int.max
    private(set) var right = -1
    private(set) var top = Int.max
    private(set) var bottom = -1
    /// Pixels in which anything is seen.
    private(set) var count = 0
    /// Pixels that nothing is seen through.
    private(set) var solid = 0
    private(set) var alphas = 0

    private let overlay: OverlayImage

    init(of overlay: OverlayImage, columns: Range<Int>? = nil) {
        self.overlay = overlay
        for y in 0..<overlay.height {
            for x in columns ?? 0..<overlay.width {
                let alpha = overlay.alpha(x: x, y: y)
                guard alpha > 0 else { continue }
                count += 1
                alphas += Int(alpha)
                if alpha == 255 { solid += 1 }
                guard alpha >= 128 else { continue }
                (left, right) = (min(left, x), max(right, x))
                (top, bottom) = (min(top, y), max(bottom, y))
            }
        }
    }

    /// The pixels that nothing is seen through.
    var solidPixels: [(Int, Int)] {
        (0..<overlay.height).flatMap { y in
            (0..<overlay.width).filter { overlay.alpha(x: $0, y: y) == 255 }.map { ($0, y) }
        }
    }

    static func == (one: Ink, other: Ink) -> Bool {
        one.left == other.left && one.right == other.right && one.top == other.top && one.bottom == other.bottom
            && one.count == other.count && one.solid == other.solid && one.alphas == other.alphas
    }
}

/// The largest difference of red, green and blue between `colour` and the given one.
func distance(_ colour: YUVColour, red: UInt8, green: UInt8, blue: UInt8) -> Int {
    let rgb = colour.rgb
    return max(
        abs(Int(rgb.red) - Int(red)),
        abs(Int(rgb.green) - Int(green)),
        abs(Int(rgb.blue) - Int(blue))
    )
}
