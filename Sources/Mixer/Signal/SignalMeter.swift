/// Follows one input on its way into the program: its level, and whether anything of it gets decoded.
struct SignalMeter {
    /// Media that could be decoded this many milliseconds ago still counts.
    static let memory = 3000.0
    /// The same for the pictures of an input that may stand still.
    static let stillMemory = 30_000.0
    /// A smaller move of the sound's end, in milliseconds, is one of rounding.
    private static let rounding = 0.01

    private var level = SoundLevel()
    private var pictures: Int64 = 0
    private var picturesAt: Double?
    private var soundEnd: Double?
    private var soundAt: Double?

    /// Takes a quantum of the input's sound in, as it is before gain.
    mutating func add(_ left: UnsafePointer<Float>, _ right: UnsafePointer<Float>, count: Int) {
        level.add(left, right, count: count)
    }

    /// The signal since the last reading.
    ///
    /// - Parameters:
    ///   - pictures: Pictures decoded so far.
    ///   - soundEnd: Where the decoded sound ends in the host's time, milliseconds; nil before the first.
    ///   - now: Milliseconds.
    ///   - mayStandStill: Pictures come only when something changes.
    mutating func read(
        id: String,
        pictures: Int64,
        soundEnd: Double?,
        now: Double,
        mayStandStill: Bool = false
    ) -> HostSignal {
        if pictures != self.pictures {
            self.pictures = pictures
            picturesAt = now
        }
        if let soundEnd, abs(soundEnd - (self.soundEnd ?? -.infinity)) > Self.rounding {
            self.soundEnd = soundEnd
            soundAt = now
        }
        let (level, peak) = level.read()
        return HostSignal(
            id: id,
            level: level,
            peak: peak,
            hasSound: soundAt.map { now - $0 <= Self.memory } ?? false,
            hasPictures: picturesAt.map { now - $0 <= (mayStandStill ? Self.stillMemory : Self.memory) } ?? false
        )
    }
}
