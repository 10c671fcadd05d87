public import Stage

/// What the program shows and sounds like from the next picture on.
public struct Scene: Sendable, Equatable {
    /// The places of the picture in painting order; a later tile covers an earlier one.
    public var tiles: [Tile]
    /// The sids of the participants whose sound is in the mix.
    public var audible: Set<String>
    /// What is seen where nobody's picture is.
    public var colours: SceneColours

    /// A scene; without arguments the empty one, which is background and silence.
    public init(tiles: [Tile] = [], audible: Set<String> = [], colours: SceneColours = .dark) {
        self.tiles = tiles
        self.audible = audible
        self.colours = colours
    }
}
