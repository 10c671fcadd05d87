/// Where the settled history is read: what was counted, minute by minute and session by session.
public protocol AudienceHistory: Sendable {
    /// The broadcasts of a room, the latest first.
    func broadcasts(room: String, limit: Int) async throws -> [BroadcastRow]
    /// The minutes of a room from `from` to before `to`, in order; those of all broadcasts that fall into the time.
    ///
    /// - Parameters:
    ///   - from: Minutes since 1970.
    ///   - limit: Rows, at most.
    func minutes(room: String, from: Int64, to: Int64, limit: Int) async throws -> [MinuteRow]
    /// Everything of a broadcast, added up over its minutes: a row for each place in the dimensions.
    func sums(epoch: Int64) async throws -> [MinuteRow]
    /// Sessions of a broadcast, in order of their beginning.
    ///
    /// - Parameter after: goes on behind this beginning and code.
    func sessions(epoch: Int64, after: (start: Int64, code: UInt64)?, limit: Int) async throws -> [SessionRow]
    /// The most sessions at once, by their settled beginnings and ends, and when that was reached; nil without any.
    func settledPeak(epoch: Int64) async throws -> (viewers: Int, at: Int64)?
}
