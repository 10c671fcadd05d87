public import Codecs

/// The colours of a scene where no host's picture is.
public struct SceneColours: Sendable, Hashable, Codable {
    /// Between and around the tiles, and the whole slate when nobody is on air.
    public var background: YUVColour
    /// A tile whose host has no picture.
    public var emptyTile: YUVColour

    /// Makes a set of colours.
    public init(background: YUVColour, emptyTile: YUVColour) {
        self.background = background
        self.emptyTile = emptyTile
    }

    /// Nearly black, with dark grey tiles: what a program has unless something else is asked for.
    public static let dark = SceneColours(
        background: ProgramColours.background,
        emptyTile: ProgramColours.emptyTile
    )
    /// Nearly white, with light grey tiles.
    public static let light = SceneColours(
        background: YUVColour(red: 236, green: 236, blue: 240),
        emptyTile: YUVColour(red: 204, green: 204, blue: 210)
    )

    /// The colours that are `amount` (0 to 1) of the way from these to `other`.
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
