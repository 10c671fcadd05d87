/// What a host's tile shows as its pictures come, stay away and come back; all of it by the program's time.
///
/// - The last picture stays for two seconds as it is: most gaps are shorter, and nobody sees them. That of a screen
///   stays for thirty, for a screen may stand still, and then many encoders send nothing.
/// - Then it is dimmed, which says that it is old, and when it is three seconds old the host's card has taken its place.
/// - The first picture after that, as the first one ever, fades in over the card; a dimmed one only brightens. One that
///   is there when the tile appears, as that of a screen is, comes with the tile: no card is seen before it.
/// - Who may not be seen any more is a card at once, and what was seen before never comes back.
struct PicturePresence: Sendable, Equatable {
    /// How a tile is painted.
    struct Look: Sendable, Equatable {
        /// How much of the picture's light is taken away, in units of 1/256.
        var dim: Int
        /// How much of the card is seen over the picture, in units of 1/256.
        var card: Int

        /// The card alone.
        static let absent = Look(dim: 0, card: 256)
    }

    /// Samples a picture stays as it is after the last one.
    static let freeze = 2 * ProgramTime.sampleRate
    /// The same for a screen.
    static let stillness = 30 * ProgramTime.sampleRate
    /// Samples after that until the card begins to take its place: with `crossFade`, a second until nothing of it is left.
    static let dimmed = ProgramTime.sampleRate - crossFade
    /// Samples that dimming and brightening take: 300 ms.
    static let dimming = ProgramTime.sampleRate * 3 / 10
    /// Samples in which picture and card take each other's place: 200 ms.
    static let crossFade = ProgramTime.sampleRate / 5
    /// What is left of a dimmed picture's light is 40 %: this much of 256 is taken.
    static let darkness: Int64 = 154

    private var lastPicture: Int64?
    private var looked: Int64?
    private var dim: Int64 = 0
    private var card = Self.crossFade

    /// What is seen at `now`, a sample of the program's counter.
    ///
    /// - Parameters:
    ///   - hasNew: There is a picture that was not seen before.
    ///   - isConcealed: Nothing of the host may be seen.
    ///   - isScreen: The pictures are those of a screen.
    mutating func advance(to now: Int64, hasNew: Bool, isConcealed: Bool, isScreen: Bool = false) -> Look {
        let elapsed = max(now - (looked ?? now), 0)
        if looked == nil, hasNew { card = 0 }
        looked = now
        if hasNew, !isConcealed { lastPicture = now }
        guard let last = lastPicture, !isConcealed else {
            lastPicture = nil
            (dim, card) = (0, Self.crossFade)
            return .absent
        }
        let silence = now - last
        let freeze = isScreen ? Self.stillness : Self.freeze
        card = Self.moved(card, by: elapsed, up: silence > freeze + Self.dimmed, most: Self.crossFade)
        if card == Self.crossFade {
            if silence > freeze { lastPicture = nil }
            // Behind the card nothing needs to brighten.
            dim = 0
        } else {
            dim = Self.moved(dim, by: elapsed, up: silence > freeze, most: Self.dimming)
        }
        return Look(dim: Int(dim * Self.darkness / Self.dimming), card: Int(card * 256 / Self.crossFade))
    }

    private static func moved(_ value: Int64, by elapsed: Int64, up: Bool, most: Int64) -> Int64 {
        up ? min(value + elapsed, most) : max(value - elapsed, 0)
    }
}
