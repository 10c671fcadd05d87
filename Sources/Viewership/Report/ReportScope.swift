/// What a report is of.
public enum ReportScope: Sendable, Hashable {
    /// One broadcast, by its number.
    case broadcast(Int64)
    /// All rooms together in these minutes since 1970.
    case period(Range<Int64>)
}
