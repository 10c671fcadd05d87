public import Codecs

/// The colours of a scene where no video is.
public struct SceneColours: Sendable, Hashable, Codable {
    /// Between and around the tiles, and of slates.
    public var background: YUVColour
    /// Of a tile without video.
    public var emptyTile: YUVColour

    /// Makes a set of colours.
    public init(background: YUVColour, emptyTile: YUVColour) {
        self.background = background
        self.emptyTile = emptyTile
    }

    /// Nearly black, with dark grey tiles; the default.
    public static let dark = SceneColours(
        background: ProgramColours.background,
        emptyTile: ProgramColours.emptyTile
    )
    /// Nearly white, with light grey tiles.
    public static let light = SceneColours(
        background: YUVColour(red: 236, green: 236, blue: 240),
        emptyTile: YUVColour(red: 204, green: 204, blue: 210)
    )

    /// Returns the colours mixed with `other` by `amount` (0 to 1).
    func mixed(with other: SceneColours, amount: Double) -> SceneColours {
        SceneColours(
            background: background.mixed(with: other.background, amount: amount),
            emptyTile: emptyTile.mixed(with: other.emptyTile, amount: amount)
        )
    }
}

extension YUVColour {
    fileprivate func mixed(with other: YUVColour, amount: Double) -> YUVColour {
        func mixed(_ one: UInt8, _ other: UInt8) -> UInt8 {
            UInt8((Double(one) + (Double(other) - Double(one)) * min(max(amount, 0), 1)).rounded())
        }
        return YUVColour(y: mixed(y, other.y), u: mixed(u, other.u), v: mixed(v, other.v))
    }
}

/// The default colours of the program where no video is.
public enum ProgramColours {
    /// Between and around the tiles, and of slates: nearly black.
    public static let background = YUVColour(red: 16, green: 16, blue: 18)
    /// Of a tile without video: dark grey.
    public static let emptyTile = YUVColour(red: 52, green: 52, blue: 56)
}
