public import Stage

/// What the program shows and sounds like from the next picture on.
public struct Scene: Sendable, Hashable, Codable {
    /// The places of the picture in painting order; a later tile covers an earlier one.
    public var tiles: [Tile]
    /// The sids of the participants whose sound is in the mix.
    public var audible: Set<String>
    /// The sids of those whom the other hosts hear, by their return feeds, though the audience does not.
    ///
    /// Those in `audible` need not be named again.
    public var talkback: Set<String>
    /// What is seen where nobody's picture is.
    public var colours: SceneColours
    /// Milliseconds, 0 to 2000, in which tiles move, come and go when this scene takes another one's place; 0 is at once.
    public var transition: Int
    /// What is painted over and behind the tiles.
    public var decoration: Decoration
    /// What is shown in place of all tiles; nil shows the tiles.
    public var slate: Slate?
    /// What is shown in place of all tiles where the machine is too short of time for them; nil shows a plain slate.
    ///
    /// Its music is not played: the sound of the hosts goes on.
    public var standIn: Slate?
    /// How the sound of those who are audible is mixed.
    public var sound: SoundScene
    /// The hosts of whom nothing may be seen from now on, whether they have a tile or had one.
    public var concealed: Set<String>
    /// Who has the floor, or had it last: where the machine is short of time, this host's picture is spared; nil for
    /// nobody.
    public var speaker: String?

    /// A scene; without arguments the empty one, which is background and silence.
    public init(
        tiles: [Tile] = [],
        audible: Set<String> = [],
        talkback: Set<String> = [],
        colours: SceneColours = .dark,
        transition: Int = 300,
        decoration: Decoration = Decoration(),
        slate: Slate? = nil,
        sound: SoundScene = SoundScene(),
        concealed: Set<String> = [],
        standIn: Slate? = nil,
        speaker: String? = nil
    ) {
        self.tiles = tiles
        self.audible = audible
        self.talkback = talkback
        self.colours = colours
        self.transition = transition
        self.decoration = decoration
        self.slate = slate
        self.sound = sound
        self.concealed = concealed
        self.standIn = standIn
        self.speaker = speaker
    }
}
