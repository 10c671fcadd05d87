/// Places sounds on the sample clock of their track.
///
/// Timestamps come in whole milliseconds, a frame of AAC lasts 21.333 of them: taken as they are they would leave gaps
/// and overlaps of a sample's fraction at every frame. So frames are laid end to end, and the timestamps only watch
/// over it: when they say that the place is wrong by more than 20 ms, the clock follows them.
struct SoundClock {
    enum Placement: Equatable {
        /// The sound begins at this tick.
        case at(Int64)
        /// What the sound would say has been said: writing it would go backwards.
        case overlapping
        /// The timestamp lies more than a second back: the feed's clock was set anew.
        case backwards
    }

    /// Ticks per second.
    let rate: Int64
    /// Ticks of one sound.
    let length: Int64
    /// Where the next sound belongs; nil before the first.
    private(set) var next: Int64?

    init(rate: Int, samplesPerFrame: Int) {
        self.rate = Int64(rate)
        length = Int64(samplesPerFrame)
    }

    /// The tick of a moment in milliseconds, to the nearest.
    func tick(milliseconds: Int64) -> Int64 {
        let (seconds, rest) = milliseconds.quotientAndRemainder(dividingBy: 1000)
        return seconds * rate + (rest * rate + 500) / 1000
    }

    mutating func place(milliseconds: Int64) -> Placement {
        let stated = tick(milliseconds: milliseconds)
        guard let next else {
            self.next = stated + length
            return .at(stated)
        }
        let error = stated - next
        let tolerance = rate / 50
        if error < -rate { return .backwards }
        if error < -tolerance { return .overlapping }
        let start = error > tolerance ? stated : next
        self.next = start + length
        return .at(start)
    }
}
