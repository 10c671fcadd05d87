/// A colour to draw with: gamma-coded red, green and blue, and how much of what lies below it hides.
public struct RGBAColour: Sendable, Hashable, Codable {
    /// 0 to 255.
    public var red: UInt8
    /// 0 to 255.
    public var green: UInt8
    /// 0 to 255.
    public var blue: UInt8
    /// 0, not seen, to 1, nothing seen through it.
    public var opacity: Double

    /// Full light.
    public static let white = RGBAColour(red: 255, green: 255, blue: 255)
    /// No light.
    public static let black = RGBAColour(red: 0, green: 0, blue: 0)
    /// Nothing at all.
    public static let clear = RGBAColour(red: 0, green: 0, blue: 0, opacity: 0)

    /// Makes a colour; opaque unless said otherwise.
    public init(red: UInt8, green: UInt8, blue: UInt8, opacity: Double = 1) {
        self.red = red
        self.green = green
        self.blue = blue
        self.opacity = opacity
    }

    /// A colour of the program's frames, opaque.
    public init(_ colour: YUVColour) {
        let (red, green, blue) = colour.rgb
        self.init(red: red, green: green, blue: blue)
    }

    /// The same colour with another opacity.
    public func with(opacity: Double) -> RGBAColour {
        RGBAColour(red: red, green: green, blue: blue, opacity: opacity)
    }
}
