/// Asks `condition` again and again until it holds, on the main actor, where calls live.
///
/// - Returns: Whether the condition held before the deadline.
@MainActor
func soon(
    within deadline: Duration,
    every pause: Duration = .milliseconds(15),
    _ condition: () async throws -> Bool
) async throws -> Bool {
    let end = ContinuousClock.now + deadline
    while true {
        if try await condition() { return true }
        if ContinuousClock.now >= end { return false }
        try await Task.sleep(for: pause)
    }
}
