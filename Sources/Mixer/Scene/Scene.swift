public import Stage

/// What the program shows and plays from the next frame on.
public struct Scene: Sendable, Hashable, Codable {
    /// The tiles in painting order; a later tile covers an earlier one.
    public var tiles: [Tile]
    /// The sids of the participants whose audio is in the mix.
    public var audible: Set<String>
    /// The sids of the participants that the other hosts hear in their mix-minus feeds, though the audience does not.
    ///
    /// Those in `audible` need not be repeated.
    public var talkback: Set<String>
    /// The colours where no host's video is.
    public var colours: SceneColours
    /// The milliseconds, 0 to 2000, in which tiles move and fade when this scene replaces another; 0 is at once.
    public var transition: Int
    /// The overlays and the background.
    public var decoration: Decoration
    /// The slate shown in place of all tiles; nil shows the tiles.
    public var slate: Slate?
    /// The slate shown in place of all tiles when degradation drops them; nil shows a plain slate.
    ///
    /// Its music is not played: the hosts' audio continues.
    public var standIn: Slate?
    /// The mix settings of the audible hosts.
    public var audio: AudioScene
    /// The hosts whose video must not be shown from now on, whether they have a tile or had one.
    public var concealed: Set<String>
    /// The dominant speaker, present or last; degradation spares this host's video; nil for none.
    public var speaker: String?
    /// The tiles of the preview, which shows what would be on air while the audience sees the slate; nil for no preview.
    public var previewTiles: [Tile]?

    /// The keys in recordings of arrivals.
    private enum CodingKeys: String, CodingKey {
        case tiles, audible, talkback, colours, transition, decoration, slate, standIn
        case audio = "sound"
        case concealed, speaker, previewTiles
    }

    /// Makes a scene; without arguments the empty one, which is background and silence.
    public init(
        tiles: [Tile] = [],
        audible: Set<String> = [],
        talkback: Set<String> = [],
        colours: SceneColours = .dark,
        transition: Int = 300,
        decoration: Decoration = Decoration(),
        slate: Slate? = nil,
        audio: AudioScene = AudioScene(),
        concealed: Set<String> = [],
        standIn: Slate? = nil,
        speaker: String? = nil,
        previewTiles: [Tile]? = nil
    ) {
        self.tiles = tiles
        self.audible = audible
        self.talkback = talkback
        self.colours = colours
        self.transition = transition
        self.decoration = decoration
        self.slate = slate
        self.audio = audio
        self.concealed = concealed
        self.standIn = standIn
        self.speaker = speaker
        self.previewTiles = previewTiles
    }
}

extension Scene {
    /// The id of the mix of all hosts that belongs to the preview, in `AudioScene.returns` beside those of hosts.
    public static let previewMix = "preview"

    /// The scene as the preview shows it; nil without a preview.
    var preview: Scene? {
        guard let previewTiles else { return nil }
        var scene = self
        scene.tiles = previewTiles
        if !previewTiles.isEmpty { scene.slate = nil }
        scene.previewTiles = nil
        return scene
    }
}

extension Scene {
    /// Returns whether a later tile covers a tile completely; tiles are opaque up to their edges.
    func isCovered(_ index: Int) -> Bool {
        tiles[(index + 1)...].contains { $0.rectangle.covers(tiles[index].rectangle) }
    }
}

extension TileRectangle {
    /// A limit for coordinates from outside, larger than any canvas.
    private static let largest: UInt = 1 << 24

    /// Returns whether a tile in this rectangle hides all of one in `other` that is painted before it.
    ///
    /// Four pixels share a chroma sample, so a rectangle with odd edges counts as reaching to the next even edge, and
    /// covers nothing.
    fileprivate func covers(_ other: TileRectangle) -> Bool {
        let numbers = [x, y, width, height]
        guard numbers.allSatisfy({ $0 & 1 == 0 && $0.magnitude <= Self.largest }),
            [other.x, other.y, other.width, other.height].allSatisfy({ $0.magnitude <= Self.largest })
        else { return false }
        let (right, bottom) = ((other.x + other.width + 1) & ~1, (other.y + other.height + 1) & ~1)
        return x <= other.x & ~1 && y <= other.y & ~1 && right <= x + width && bottom <= y + height
    }
}
