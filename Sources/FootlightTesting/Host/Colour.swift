/// A colour in 8-bit RGB, full range.
public struct Colour: Sendable, Hashable, CustomStringConvertible {
    /// Red, 0 to 255.
    public var red: Int
    /// Green, 0 to 255.
    public var green: Int
    /// Blue, 0 to 255.
    public var blue: Int

    /// A colour from its three parts, 0 to 255 each.
    public init(red: Int, green: Int, blue: Int) {
        self.red = red
        self.green = green
        self.blue = blue
    }

    /// A strong red.
    public static let red = Colour(red: 200, green: 30, blue: 30)
    /// A strong green.
    public static let green = Colour(red: 30, green: 170, blue: 40)
    /// A strong blue.
    public static let blue = Colour(red: 30, green: 50, blue: 200)
    /// A strong yellow.
    public static let yellow = Colour(red: 220, green: 200, blue: 30)
    /// Middle grey.
    public static let grey = Colour(red: 128, green: 128, blue: 128)
    /// Black.
    public static let black = Colour(red: 0, green: 0, blue: 0)
    /// White.
    public static let white = Colour(red: 255, green: 255, blue: 255)

    /// The largest difference among the three parts: 0 for the same colour, 255 between black and white.
    public func distance(to other: Colour) -> Int {
        max(abs(red - other.red), abs(green - other.green), abs(blue - other.blue))
    }

    /// Brightness by the weights of BT.601, 0 to 255.
    public var luma: Double {
        0.299 * Double(red) + 0.587 * Double(green) + 0.114 * Double(blue)
    }

    /// The three parts as six hexadecimal digits behind `#`.
    public var description: String {
        "#"
            + [red, green, blue].map {
                let digits = String(min(max($0, 0), 255), radix: 16)
                return digits.count == 1 ? "0" + digits : digits
            }.joined()
    }
}
