/// Makes one continuous clock of a host's timestamps.
///
/// In: decode times as the host sent them, already unwrapped; they may begin anywhere, leap, or start again from zero
/// when the host reconnects. Out: milliseconds that go on evenly, the same correction for picture and sound, so that the
/// host's own lip-sync is never altered. A leap is a step that the time of arrival does not explain: more than two
/// seconds ahead of it, or backwards. A stall that ends in a burst is no leap.
///
/// The gateway has put each connection of a host on its feed's clock already, so that a leap of the encoder's never
/// reaches the feed, whose queues are measured in time. That clock begins anew with every connection, and with the
/// gateway itself; and a mixer has only the packets to go by. So what one program needs, one clock from a host's joining
/// to its leaving, is made here.
struct TimestampUnifier: Sendable {
    enum Kind: Sendable { case picture, sound }

    /// A step further ahead than arrival explains is a leap, in milliseconds.
    static let leap = 2000.0
    /// A step back up to this many milliseconds is disorder and not a new clock.
    static let disorder: Int64 = 100

    private struct Last: Sendable {
        var timestamp: Int64
        var unified: Int64
        var arrival: Double
    }

    private var picture: Last?
    private var sound: Last?
    private var correction: Int64 = 0
    private var earlierCorrection: Int64?
    /// How often the clock was taken up anew.
    private(set) var leaps = 0

    /// The time on the continuous clock, in milliseconds.
    ///
    /// - Parameters:
    ///   - timestamp: The host's decode time in milliseconds.
    ///   - arrival: When the packet came, in milliseconds of any even clock.
    mutating func unify(_ timestamp: Int64, kind: Kind, arrival: Double) -> Int64 {
        let own = kind == .picture ? picture : sound
        let other = kind == .picture ? sound : picture
        let unified = place(timestamp, own: own, other: other, arrival: arrival)
        let last = Last(timestamp: timestamp, unified: unified, arrival: arrival)
        if kind == .picture { picture = last } else { sound = last }
        return unified
    }

    private mutating func place(_ timestamp: Int64, own: Last?, other: Last?, arrival: Double) -> Int64 {
        guard let reference = own ?? other else { return timestamp }
        let candidate = timestamp + correction
        if fits(candidate, after: reference, arrival: arrival, isOwn: own != nil) {
            return nearer(candidate, timestamp, to: expected(after: reference, arrival: arrival))
        }
        if let other, fits(candidate, after: other, arrival: arrival, isOwn: false) {
            // The other kind has leapt already, and this one now follows it.
            return candidate
        }
        if let earlierCorrection {
            // The other kind has leapt, and this packet is still from before.
            let before = timestamp + earlierCorrection
            if fits(before, after: reference, arrival: arrival, isOwn: own != nil) { return before }
        }
        let expected = expected(after: reference, arrival: arrival)
        earlierCorrection = correction
        correction = expected - timestamp
        leaps += 1
        return expected
    }

    private func expected(after last: Last, arrival: Double) -> Int64 {
        last.unified + Int64(max(arrival - last.arrival, 0).rounded())
    }

    /// While one kind has leapt by little and the other not yet, both corrections can fit; the evener one is meant.
    private func nearer(_ candidate: Int64, _ timestamp: Int64, to expected: Int64) -> Int64 {
        guard let earlierCorrection else { return candidate }
        let before = timestamp + earlierCorrection
        return abs(before - expected) < abs(candidate - expected) ? before : candidate
    }

    private func fits(_ time: Int64, after last: Last, arrival: Double, isOwn: Bool) -> Bool {
        let step = time - last.unified
        guard Double(step) - max(arrival - last.arrival, 0) <= Self.leap else { return false }
        // Between picture and sound interleaving alone makes steps back of any size below the leap.
        return isOwn ? step >= -Self.disorder : Double(step) >= -Self.leap
    }
}
