/// A part of a canvas in pixels; its edges are even, because chroma has half the resolution.
public struct PixelRectangle: Sendable, Hashable {
    /// Left edge, even.
    public let x: Int
    /// Top edge, even.
    public let y: Int
    /// Columns, even.
    public let width: Int
    /// Rows, even.
    public let height: Int

    /// Odd edges move to the even pixel before them, so that neighbours still meet.
    public init(x: Int, y: Int, width: Int, height: Int) {
        self.x = x & ~1
        self.y = y & ~1
        self.width = ((x + width) & ~1) - (x & ~1)
        self.height = ((y + height) & ~1) - (y & ~1)
    }

    /// The pixel column just past the right edge.
    public var right: Int { x + width }

    /// The pixel row just below the bottom edge.
    public var bottom: Int { y + height }

    /// There is no pixel in it.
    public var isEmpty: Bool { width <= 0 || height <= 0 }

    /// Whether every pixel of `other` lies in this rectangle.
    public func contains(_ other: PixelRectangle) -> Bool {
        other.x >= x && other.y >= y && other.right <= right && other.bottom <= bottom
    }
}
