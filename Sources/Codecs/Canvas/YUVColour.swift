/// A colour as the program's frames hold it: limited range, BT.709.
public struct YUVColour: Sendable, Hashable, Codable {
    /// Luma, 16 (black) to 235 (white).
    public let y: UInt8
    /// Blue difference, 16 to 240; 128 is none.
    public let u: UInt8
    /// Red difference, 16 to 240; 128 is none.
    public let v: UInt8

    /// No light at all.
    public static let black = YUVColour(y: 16, u: 128, v: 128)

    /// A colour by its coded values.
    public init(y: UInt8, u: UInt8, v: UInt8) {
        self.y = y
        self.u = u
        self.v = v
    }

    /// The nearest colour to gamma-coded red, green and blue of 0 to 255.
    public init(red: UInt8, green: UInt8, blue: UInt8) {
        let (red, green, blue) = (Double(red) / 255, Double(green) / 255, Double(blue) / 255)
        let matrix = ColourMatrix.bt709
        let luma = matrix.red * red + (1 - matrix.red - matrix.blue) * green + matrix.blue * blue
        y = Self.byte(16 + 219 * luma)
        u = Self.byte(128 + 112 * (blue - luma) / (1 - matrix.blue))
        v = Self.byte(128 + 112 * (red - luma) / (1 - matrix.red))
    }

    /// The colour on a screen: gamma-coded red, green and blue, cut to 0 to 255.
    public var rgb: (red: UInt8, green: UInt8, blue: UInt8) {
        let matrix = ColourMatrix.bt709
        let luma = (Double(y) - 16) / 219
        let blue = luma + (Double(u) - 128) / 112 * (1 - matrix.blue)
        let red = luma + (Double(v) - 128) / 112 * (1 - matrix.red)
        let green = (luma - matrix.red * red - matrix.blue * blue) / (1 - matrix.red - matrix.blue)
        return (Self.byte(255 * red), Self.byte(255 * green), Self.byte(255 * blue))
    }

    private static func byte(_ value: Double) -> UInt8 {
        UInt8(min(max(value.rounded(), 0), 255))
    }
}
