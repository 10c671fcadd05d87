/// How near a room's mixer is to the limit of what its machine can do.
public struct MixerLoadResource: Codable, Sendable, Hashable {
    /// How far down the program is, 0 to 6; each level adds to those before it, and none leaves out sound.
    ///
    /// 1: some of the coder's search. 2: pictures of smaller tiles. 3: one picture of three. 4: the pictures of all but the
    /// first tiles and who speaks. 5: renditions. 6: all pictures of hosts.
    public var level: Int
    /// `frame_work` or `encoder_queue`; left out on level 0.
    public var reason: String?
    /// The part of its time that a slow picture takes; 1 leaves none to spare.
    public var work: Double
    /// Processor cores that the mixer keeps busy.
    public var cores: Double
    /// How each rendition is doing; left out where none is offered.
    public var renditions: [RenditionLoadResource]?

    /// Makes a load.
    public init(
        level: Int,
        reason: String? = nil,
        work: Double,
        cores: Double,
        renditions: [RenditionLoadResource]? = nil
    ) {
        self.level = level
        self.reason = reason
        self.work = work
        self.cores = cores
        self.renditions = renditions
    }

    private enum CodingKeys: String, CodingKey {
        case level
        case reason
        case work
        case cores
        case renditions
    }
}
