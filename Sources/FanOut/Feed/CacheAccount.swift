import Synchronization

/// What one holder of a feed's group of pictures keeps, told to whoever adds it up; given back when the holder goes.
final class CacheAccount {
    private let counters: FeedCounters
    private let budget: AudienceBudget
    private let copies: Int
    private var bytes = 0

    /// - Parameter copies: Holders that the feed has in all.
    init(counters: FeedCounters, budget: AudienceBudget, copies: Int) {
        self.counters = counters
        self.budget = budget
        self.copies = copies
    }

    deinit { note(0) }

    /// Bytes that the holder's group may have now.
    var largestGroup: Int { budget.largestGroup(copies: copies) }

    /// It keeps that many now.
    func note(_ bytes: Int) {
        let more = bytes - self.bytes
        guard more != 0 else { return }
        self.bytes = bytes
        counters.cached.add(more, ordering: .relaxed)
        budget.cached.add(more, ordering: .relaxed)
    }
}
