import Codecs

/// A rectangle between two pixels.
struct MotionFrame: Sendable, Hashable {
    var x: Double
    var y: Double
    var width: Double
    var height: Double

    init(_ rectangle: PixelRectangle) {
        x = Double(rectangle.x)
        y = Double(rectangle.y)
        width = Double(rectangle.width)
        height = Double(rectangle.height)
    }

    /// The rectangle that is `amount` (0 to 1) of the way from this one to `other`.
    func moved(to other: MotionFrame, by amount: Double) -> MotionFrame {
        var result = self
        result.x += (other.x - x) * amount
        result.y += (other.y - y) * amount
        result.width += (other.width - width) * amount
        result.height += (other.height - height) * amount
        return result
    }

    /// The nearest rectangle with even edges; never empty.
    var pixels: PixelRectangle {
        let (left, top) = (Self.even(x), Self.even(y))
        return PixelRectangle(
            x: left,
            y: top,
            width: max(Self.even(x + width) - left, 2),
            height: max(Self.even(y + height) - top, 2)
        )
    }

    private static func even(_ edge: Double) -> Int { 2 * Int((edge / 2).rounded()) }
}
