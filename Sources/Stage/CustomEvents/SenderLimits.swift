import Media

/// Limits how often participants may have something told to everybody in a room: each of them, and all together.
///
/// Every reader of a room receives what one participant sends, so a crowd that claps must not cost readers their streams.
/// Those who run the show are limited one by one only.
struct SenderLimits: Sendable {
    /// What one sender may send in the long run, a second, and at once after a pause.
    static let ofOne = (perSecond: 5.0, burst: 10.0)
    /// The same of all participants of a room together.
    static let ofAll = (perSecond: 50.0, burst: 100.0)

    private var senders = RateLimiter<String>(perSecond: Self.ofOne.perSecond, burst: Self.ofOne.burst)
    private var participants = RateLimiter<Int>(
        perSecond: Self.ofAll.perSecond,
        burst: Self.ofAll.burst,
        capacity: 1
    )

    /// Counts one more.
    ///
    /// - Parameters:
    ///   - sender: Who sends; of one that runs the show something that is no identity.
    ///   - isParticipant: False for one that runs the show without being in it.
    /// - Throws: 429.
    mutating func admit(_ sender: String, isParticipant: Bool, at now: Double) throws(StageError) {
        let time = MonotonicTime(nanoseconds: 0).advanced(seconds: now)
        guard senders.takesRequest(from: sender, now: time) else { throw .tooManyEvents }
        guard isParticipant else { return }
        guard participants.takesRequest(from: 0, now: time) else { throw .tooManyEvents }
    }
}

extension StageError {
    /// 429 for who sends too much into a room; the code is the HTTP status, as no source system has one for it.
    public static let tooManyEvents = StageError(
        code: 429,
        name: "TooManyRequestsError",
        message: "Too many events are sent",
        cause: "The sender, or all participants of the room together, sent more events than they may",
        solution: "Send less often, and wait before the next event",
        status: 429,
        isRetryable: true,
        retryAfter: 1
    )
}
