import Media

/// Asks `condition` again and again until it holds.
///
/// For what another process does in its own time; whatever runs on an injected clock is tested by moving that clock.
///
/// - Parameters:
///   - deadline: How long to go on asking. Where the condition comes true a long one costs nothing, and a machine may
///     be held up for seconds; so a shorter one than the usual is for where the time itself is what is tested.
///   - pause: The time between two questions.
/// - Returns: Whether the condition held before the deadline.
public func eventually(
    within deadline: Duration = .seconds(20),
    every pause: Duration = .milliseconds(20),
    _ condition: () async throws -> Bool
) async throws -> Bool {
    let (seconds, attoseconds) = deadline.components
    let end = MonotonicTime.now().advanced(seconds: Double(seconds) + Double(attoseconds) / 1e18)
    while true {
        if try await condition() { return true }
        if MonotonicTime.now() >= end { return false }
        try await Task.sleep(for: pause)
    }
}
