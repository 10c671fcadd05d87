/// A picture over a corner of the canvas.
public struct Logo: Sendable, Hashable, Codable {
    /// Where on the canvas it lies.
    public enum Corner: String, Sendable, Hashable, CaseIterable, Codable {
        case topLeft
        case topRight
        case bottomLeft
        case bottomRight
    }

    /// The asset's id.
    public var asset: String
    /// Where it lies.
    public var corner: Corner
    /// 0, not seen, to 1, nothing seen through it.
    public var opacity: Double
    /// Its height as a fraction of the canvas's, 0.02 to 0.5; the width follows the picture's shape.
    public var height: Double

    /// Makes a logo.
    public init(asset: String, corner: Corner = .topRight, opacity: Double = 1, height: Double = 0.1) {
        self.asset = asset
        self.corner = corner
        self.opacity = opacity
        self.height = height
    }
}
