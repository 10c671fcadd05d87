/// When somebody counts as speaking, and when the floor goes to somebody else.
public struct SpeakerSettings: Sendable, Hashable {
    /// The lowest level that can be speech, in dBFS.
    public var threshold: Double
    /// The level that is always speech, in dBFS, however noisy the place.
    public var highestThreshold: Double
    /// How far above its own background noise a voice is, in decibels.
    public var margin: Double
    /// How fast the estimate of the background noise rises, in decibels a second; it falls at once.
    public var floorRise: Double
    /// Seconds of voice until somebody speaks.
    public var attack: Double
    /// Seconds of silence inside of one and the same utterance.
    public var gap: Double
    /// Seconds of voice, and of the other's silence, until the floor changes hands; less is a back-channel ("mm-hm").
    public var takeover: Double
    /// Seconds that a choice stays at least, and that the last speaker keeps the floor when nobody follows.
    public var hold: Double
    /// The longest time that one level stands for, in seconds; whoever is not heard of for longer is silent.
    public var longestInterval: Double

    /// Makes settings; what is not named has its default.
    public init(
        threshold: Double = -50,
        highestThreshold: Double = -35,
        margin: Double = 10,
        floorRise: Double = 1,
        attack: Double = 0.3,
        gap: Double = 0.3,
        takeover: Double = 0.6,
        hold: Double = 2.5,
        longestInterval: Double = 0.25
    ) {
        self.threshold = threshold
        self.highestThreshold = highestThreshold
        self.margin = margin
        self.floorRise = floorRise
        self.attack = attack
        self.gap = gap
        self.takeover = takeover
        self.hold = hold
        self.longestInterval = longestInterval
    }
}
