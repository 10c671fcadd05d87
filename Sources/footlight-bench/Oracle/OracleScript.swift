/// How the players of an oracle come and go; times are seconds since it began.
struct OracleScript: Sendable {
    /// When the last one begins, and when all have left.
    let end: Double
    /// Within which the first players come.
    let ramp: Double
    /// Between two playlists, in seconds; players vary it by a tenth.
    static let poll = 2.0
    /// No player leaves before it is proven by whatever clock.
    static let shortest = 15.0

    init(seconds: Double) {
        end = seconds
        ramp = min(20, seconds / 4)
    }

    /// How long the next player in a place stays: some leave soon, and a few stay to the end.
    func stay() -> Double {
        Self.shortest + Double.random(in: 0...1) * Double.random(in: 0...1) * 150
    }

    /// When a player leaves that would stay beyond the end.
    ///
    /// Not all at once: those who wait for the next segment ask all together, and all would be as far from their last playlist.
    func lastMoment() -> Double { end - .random(in: 0...2 * Self.poll) }

    /// How long a place is empty between two players.
    func pause() -> Double { .random(in: 0.2...8) }

    /// After how much of its playing a player is away for a moment; nil for one that never is.
    func blip() -> (after: Double, length: Double)? {
        guard Double.random(in: 0...1) < 0.3 else { return nil }
        return (.random(in: 8...40), .random(in: 0.5...6))
    }
}
