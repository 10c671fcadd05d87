import Media

/// Says which refused logins are logged: a few at once, then one now and then, whoever tries.
struct RefusedLogins: Sendable {
    private var budget = LoginBudget()
    private var unreported = 0

    /// Counts a refused login.
    ///
    /// - Returns: The refused logins since the latest line, this one included, where it gets one; nil where it gets none.
    mutating func count(now: MonotonicTime) -> Int? {
        unreported += 1
        guard budget.take(from: "", now: now) == nil else { return nil }
        defer { unreported = 0 }
        return unreported
    }
}
