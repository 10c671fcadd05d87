public import Media

/// The lease of one process, renewed by every acknowledged write.
///
/// The lease is of the node and not of its rooms, so its cost does not grow with the number of rooms. It holds until
/// `timeToLive` after the time at which the latest acknowledged write was *sent*, on this machine's own clock: the
/// write can only have been stored later, so others see the row change later and wait longer.
public struct NodeLease: Sendable {
    private struct Request {
        var count: UInt64
        var sentAt: MonotonicTime
    }

    /// The durations.
    public let configuration: LeaseConfiguration
    /// The process that holds or seeks the lease.
    public private(set) var identity: NodeIdentity
    /// Whether a registration was acknowledged or recognised.
    private(set) var isRegistered = false
    /// The count of the latest acknowledged write; 0 without one.
    private(set) var acknowledged: UInt64 = 0
    /// The time at which the latest acknowledged write was sent; nil without one.
    public private(set) var acknowledgedAt: MonotonicTime?
    /// The time at which the first write since then was sent; nil if the latest was acknowledged.
    public private(set) var unansweredSince: MonotonicTime?
    /// The last time at which the lease holds; nil without one.
    public private(set) var validUntil: MonotonicTime?
    /// The time since which every request was answered; nil after one that was not.
    private(set) var steadySince: MonotonicTime?
    private var latest: Request?
    private let rules: ClusterRules

    init(identity: NodeIdentity, configuration: LeaseConfiguration, rules: ClusterRules) {
        self.identity = identity
        self.configuration = configuration
        self.rules = rules
    }

    /// Whether the lease holds.
    public func isHeld(at now: MonotonicTime) -> Bool {
        guard let validUntil else { return false }
        return now <= validUntil || rules.ignoresExpiry
    }

    /// Whether `since` and the last failed request are both longer ago than another node may be silent.
    ///
    /// Waiting for own requests to succeed all the while ensures that an outage of the store fences no node: all others
    /// have time for a heartbeat first.
    func hasWaited(since: MonotonicTime, at now: MonotonicTime) -> Bool {
        if rules.fencesOnFirstSight { return true }
        guard let steadySince = rules.ignoresSteadiness ? since : steadySince else { return false }
        let waited = now.nanoseconds - max(since, steadySince).nanoseconds
        let silence = configuration.silence * 1_000_000
        return rules.includesBoundary ? waited >= silence : waited > silence
    }

    /// Numbers a write that is sent now.
    mutating func nextCount(at now: MonotonicTime) -> UInt64 {
        let count = (latest?.count ?? 0) + 1
        let gap = configuration.interval + configuration.requestTimeout
        // A process that was stopped knows nothing of the time between.
        if let acknowledgedAt, now > acknowledgedAt.advanced(milliseconds: gap) { steadySince = nil }
        latest = Request(count: count, sentAt: now)
        if unansweredSince == nil { unansweredSince = now }
        return count
    }

    /// Extends the lease after the latest write was acknowledged.
    mutating func accepted(at now: MonotonicTime) {
        guard let latest else { return }
        isRegistered = true
        acknowledged = latest.count
        acknowledgedAt = latest.sentAt
        unansweredSince = nil
        if steadySince == nil { steadySince = latest.sentAt }
        extend(from: rules.holdsFromAnswer ? now : latest.sentAt)
    }

    /// Recognises the row of an own registration whose answer was lost; the lease begins with the next write.
    mutating func registrationFound() {
        isRegistered = true
    }

    /// Records that a request got no answer.
    mutating func unanswered() {
        steadySince = nil
    }

    /// Ends the lease of this process and begins to seek another, with a new incarnation.
    mutating func end(next incarnation: UInt64) {
        self = NodeLease(
            identity: NodeIdentity(node: identity.node, incarnation: incarnation),
            configuration: configuration,
            rules: rules
        )
    }

    /// Extends the lease by a read, which is wrong: for tests of the tests.
    mutating func extendByRead(of row: NodeStatus) {
        guard rules.holdsByRead, row.identity == identity, !row.isFenced, let latest, row.count == latest.count else {
            return
        }
        extend(from: latest.sentAt)
    }

    private mutating func extend(from time: MonotonicTime) {
        let end = time.advanced(milliseconds: configuration.timeToLive)
        validUntil = max(validUntil ?? end, end)
    }
}
