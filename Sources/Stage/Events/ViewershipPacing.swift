/// Paces the news of a room's number of viewers: at most one a second, and always one after the last change.
struct ViewershipPacing: Sendable, Equatable {
    /// Seconds between two, at least.
    static let interval = 1.0

    private var isDue = false
    private var toldAt: Double?
    /// The number that was told last, as far as it is known here.
    private var known: Int?

    /// The number changed, or may have.
    mutating func changed() {
        isDue = true
    }

    /// The number is `viewers` now; the same as before is no news.
    mutating func changed(to viewers: Int) {
        guard viewers != known else { return }
        known = viewers
        isDue = true
    }

    /// Whether it is time to tell of it; to be called now and then.
    mutating func isTime(at now: Double) -> Bool {
        guard isDue, toldAt.map({ now - $0 >= Self.interval }) ?? true else { return false }
        told(at: now)
        return true
    }

    /// It was told, as inside of a change of mode that does not wait.
    mutating func told(at now: Double) {
        isDue = false
        toldAt = now
    }
}
