/// Determines what a host's tile shows as frames come, stop and return; all by program time.
///
/// - The last frame stays unchanged for two seconds, since most gaps are shorter. That of a screen share stays for
///   thirty, for many encoders send nothing while the screen is static.
/// - Then it is dimmed to show that it is old, and three seconds after the last frame the host's card has replaced it.
/// - The first frame after that, like the very first, fades in over the card; a dimmed one only brightens. A frame that
///   is there when the tile appears is shown with the tile, without a card before it.
/// - A concealed host is a card at once, and its earlier frames never come back.
struct TileVisibility: Sendable, Equatable {
    /// The blend of a tile's frame and card.
    struct Appearance: Sendable, Equatable {
        /// The reduction of the frame's brightness, in units of 1/256.
        var dim: Int
        /// The opacity of the card over the frame, in units of 1/256.
        var card: Int

        /// The card alone.
        static let absent = Appearance(dim: 0, card: 256)
    }

    /// Samples for which the last frame stays unchanged.
    static let freeze = 2 * ProgramTime.sampleRate
    /// The same for a screen share.
    static let stillness = 30 * ProgramTime.sampleRate
    /// Samples after that until the card begins to fade in; with `crossFade`, one second until it has replaced the
    /// frame.
    static let dimmed = ProgramTime.sampleRate - crossFade
    /// Samples that dimming and brightening take: 300 ms.
    static let dimming = ProgramTime.sampleRate * 3 / 10
    /// Samples of the cross-fade between frame and card: 200 ms.
    static let crossFade = ProgramTime.sampleRate / 5
    /// The brightness reduction of a dimmed frame in units of 1/256; 40 % remain.
    static let darkness: Int64 = 154

    private var lastFrame: Int64?
    private var lastAdvance: Int64?
    private var dim: Int64 = 0
    private var card = Self.crossFade

    /// Returns the appearance at `now`, a sample of the program's counter.
    ///
    /// - Parameters:
    ///   - hasNew: There is a frame that was not shown before.
    ///   - isConcealed: The host's video may not be shown.
    ///   - isScreen: The video is a screen share.
    mutating func advance(to now: Int64, hasNew: Bool, isConcealed: Bool, isScreen: Bool = false) -> Appearance {
        let elapsed = max(now - (lastAdvance ?? now), 0)
        if lastAdvance == nil, hasNew { card = 0 }
        lastAdvance = now
        if hasNew, !isConcealed { lastFrame = now }
        guard let last = lastFrame, !isConcealed else {
            lastFrame = nil
            (dim, card) = (0, Self.crossFade)
            return .absent
        }
        let silence = now - last
        let freeze = isScreen ? Self.stillness : Self.freeze
        card = Self.moved(card, by: elapsed, up: silence > freeze + Self.dimmed, limit: Self.crossFade)
        if card == Self.crossFade {
            if silence > freeze { lastFrame = nil }
            // Behind the card nothing needs to brighten.
            dim = 0
        } else {
            dim = Self.moved(dim, by: elapsed, up: silence > freeze, limit: Self.dimming)
        }
        return Appearance(dim: Int(dim * Self.darkness / Self.dimming), card: Int(card * 256 / Self.crossFade))
    }

    private static func moved(_ value: Int64, by elapsed: Int64, up: Bool, limit: Int64) -> Int64 {
        up ? min(value + elapsed, limit) : max(value - elapsed, 0)
    }
}
