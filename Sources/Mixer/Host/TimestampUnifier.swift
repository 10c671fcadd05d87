/// Maps a host's timestamps to one continuous clock.
///
/// Input: unwrapped decode times as the host sent them; they may begin anywhere, have discontinuities, or restart from
/// zero when the host reconnects. Output: continuous milliseconds with the same correction for video and audio, so that
/// the host's A/V sync never changes. A discontinuity is a step that the arrival time does not explain: more than two
/// seconds ahead of it, or backwards. A stall that ends in a burst is none.
///
/// The gateway already puts each connection of a host on its feed's clock, so that an encoder's discontinuity never
/// reaches the feed, whose queues are measured in time. But that clock restarts with every connection, and with the
/// gateway; and a mixer sees only the packets. One clock from a host's join to its leave is therefore made here.
struct TimestampUnifier: Sendable {
    enum Kind: Sendable { case video, audio }

    /// A step further ahead of the arrival time than this many milliseconds is a discontinuity.
    static let discontinuityThreshold = 2000.0
    /// A step back up to this many milliseconds is reordering and not a new clock.
    static let reorderingTolerance: Int64 = 100

    private struct Last: Sendable {
        var timestamp: Int64
        var unified: Int64
        var arrival: Double
    }

    private var video: Last?
    private var audio: Last?
    private var correction: Int64 = 0
    private var earlierCorrection: Int64?
    /// The number of discontinuities corrected.
    private(set) var discontinuities = 0

    /// Returns the time on the continuous clock, in milliseconds.
    ///
    /// - Parameters:
    ///   - timestamp: The host's decode time in milliseconds.
    ///   - arrival: When the packet came, in milliseconds of a monotonic clock.
    mutating func unify(_ timestamp: Int64, kind: Kind, arrival: Double) -> Int64 {
        let own = kind == .video ? video : audio
        let other = kind == .video ? audio : video
        let unified = resolve(timestamp, own: own, other: other, arrival: arrival)
        let last = Last(timestamp: timestamp, unified: unified, arrival: arrival)
        if kind == .video { video = last } else { audio = last }
        return unified
    }

    private mutating func resolve(_ timestamp: Int64, own: Last?, other: Last?, arrival: Double) -> Int64 {
        guard let reference = own ?? other else { return timestamp }
        let candidate = timestamp + correction
        if fits(candidate, after: reference, arrival: arrival, isOwn: own != nil) {
            return nearer(candidate, timestamp, to: expected(after: reference, arrival: arrival))
        }
        if let other, fits(candidate, after: other, arrival: arrival, isOwn: false) {
            // The other track has jumped already, and this one now follows it.
            return candidate
        }
        if let earlierCorrection {
            // The other track has jumped, and this packet is still from before the jump.
            let before = timestamp + earlierCorrection
            if fits(before, after: reference, arrival: arrival, isOwn: own != nil) { return before }
        }
        let expected = expected(after: reference, arrival: arrival)
        earlierCorrection = correction
        correction = expected - timestamp
        discontinuities += 1
        return expected
    }

    private func expected(after last: Last, arrival: Double) -> Int64 {
        last.unified + Int64(max(arrival - last.arrival, 0).rounded())
    }

    /// Returns the more plausible of two corrections; both can fit while one track has made a small jump before the
    /// other.
    private func nearer(_ candidate: Int64, _ timestamp: Int64, to expected: Int64) -> Int64 {
        guard let earlierCorrection else { return candidate }
        let before = timestamp + earlierCorrection
        return abs(before - expected) < abs(candidate - expected) ? before : candidate
    }

    private func fits(_ time: Int64, after last: Last, arrival: Double, isOwn: Bool) -> Bool {
        let step = time - last.unified
        guard Double(step) - max(arrival - last.arrival, 0) <= Self.discontinuityThreshold else { return false }
        // Interleaving alone makes steps back between video and audio of any size below the threshold.
        return isOwn ? step >= -Self.reorderingTolerance : Double(step) >= -Self.discontinuityThreshold
    }
}
