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
}
