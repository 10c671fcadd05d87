/// Where the settled history is read: what was counted, minute by minute and session by session.
public protocol AudienceHistory: Sendable {
    /// The broadcasts of a room, the latest first.
    func broadcasts(room: String, limit: Int) async throws -> [BroadcastRow]
    /// The minutes from `from` to before `to`, of all broadcasts in that time, added up in steps, in order.
    ///
    /// A row for each step and each group, with what it is not grouped by left at any value, and one for the whole. The
    /// most at once in the row of a group is that of the group, where the viewers are grouped.
    ///
    /// - Parameters:
    ///   - room: Nil for all rooms together.
    ///   - from: Minutes since 1970, where the first step begins.
    ///   - step: Minutes.
    ///   - limit: Rows, at most.
    func minutes(
        room: String?,
        from: Int64,
        to: Int64,
        step: Int64,
        grouping: ViewershipTimeline.Grouping?,
        limit: Int
    ) async throws -> [MinuteRow]
    /// When any program was on the air, from the minute `from` to before `to`, and the most viewers of all at once.
    func air(from: Int64, to: Int64) async throws -> PeriodFigures.Air
    /// Everything added up over the minutes: a row for each place in the dimensions.
    func sums(of scope: ReportScope) async throws -> [MinuteRow]
    /// What of each group does not follow from `sums`, and of everybody, who are no group, the distinct viewers.
    func groups(of scope: ReportScope) async throws -> [ViewerGroup?: GroupFigures]
    /// Sessions of a broadcast, in order of their beginning.
    ///
    /// - Parameter after: goes on behind this beginning and code.
    func sessions(epoch: Int64, after: (start: Int64, code: UInt64)?, limit: Int) async throws -> [SessionRow]
    /// When sessions of a broadcast were away and came back, in order.
    ///
    /// - Parameters:
    ///   - first: The first session of those that are asked for, in order of their beginning.
    ///   - last: The last one.
    ///   - limit: Rows, at most.
    func gaps(epoch: Int64, from first: SessionRow, through last: SessionRow, limit: Int) async throws -> [GapRow]
    /// The most sessions at once, by their settled beginnings and ends, of everybody, who are no group, and of each group.
    ///
    /// Nothing of a broadcast that lasts, of a time in which one does, and where the sessions are too many, or are kept no
    /// longer; of a broadcast that of everybody is kept.
    func settledPeaks(of scope: ReportScope) async throws -> [ViewerGroup?: SettledPeak]
}
