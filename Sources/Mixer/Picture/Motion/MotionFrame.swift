import Codecs

/// A rectangle between two pixels, and how a picture is put into it.
struct MotionFrame: Sendable, Hashable {
    var x: Double
    var y: Double
    var width: Double
    var height: Double
    /// How far a picture is on its way from covering the rectangle, 0, to being seen whole, 1.
    var wholeness: Double

    init(_ rectangle: PixelRectangle, _ fit: PictureFit) {
        x = Double(rectangle.x)
        y = Double(rectangle.y)
        width = Double(rectangle.width)
        height = Double(rectangle.height)
        wholeness =
            switch fit {
            case .fill: 0
            case .fit: 1
            case .between(let way): way
            }
    }

    /// The rectangle that is `amount` (0 to 1) of the way from this one to `other`.
    func moved(to other: MotionFrame, by amount: Double) -> MotionFrame {
        var result = self
        result.x += (other.x - x) * amount
        result.y += (other.y - y) * amount
        result.width += (other.width - width) * amount
        result.height += (other.height - height) * amount
        result.wholeness += (other.wholeness - wholeness) * amount
        return result
    }

    /// How a picture is put into it.
    var fit: PictureFit {
        switch wholeness {
        case ...0: .fill
        case 1...: .fit
        default: .between(wholeness)
        }
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
