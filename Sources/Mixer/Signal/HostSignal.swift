/// What the mixer gets of one input at this moment: how loud it is, and what of it can be decoded.
public struct HostSignal: Sendable, Equatable {
    /// The input's id.
    public var id: String
    /// Root mean square of the last tenth of a second in dBFS, before any gain of the mix; `silence` at the least.
    public var level: Double
    /// The largest sample of the last tenth of a second in dBFS; `silence` at the least.
    public var peak: Double
    /// Sound was decoded lately.
    public var hasSound: Bool
    /// Pictures were decoded lately.
    public var hasPictures: Bool
    /// Decibels by which levelling turns it up at present, or down.
    public var levelling = 0.0

    /// The level of no sound at all, in dBFS.
    public static let silence = -127.0

    /// Makes one from its parts; an input that gives nothing by default.
    public init(
        id: String,
        level: Double = silence,
        peak: Double = silence,
        hasSound: Bool = false,
        hasPictures: Bool = false
    ) {
        self.id = id
        self.level = level
        self.peak = peak
        self.hasSound = hasSound
        self.hasPictures = hasPictures
    }
}
