import FootlightTesting

/// Asks `condition` again and again until it holds, on the main actor, where calls live.
///
/// The deadline is for a machine that is held up, and costs nothing where the condition comes true: a shorter one than
/// the usual is given only where the time itself is what is tested.
///
/// - Returns: Whether the condition held before the deadline.
@MainActor
func soon(
    within deadline: Duration = .seconds(20),
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

/// Moves a clock by hand until `condition` holds; the world outside has some 10 ms for each step.
///
/// - Parameters:
///   - step: How far the clock moves each time.
///   - line: What is asked of a gateway goes over it; the clock stands while an answer is due, which takes as long as
///     the machine takes.
/// - Returns: Whether the condition held before the deadline.
@MainActor
func soon(
    moving clock: ManualClientClock,
    by step: Duration,
    over line: FaultProxy? = nil,
    within deadline: Duration = .seconds(30),
    _ condition: () async throws -> Bool
) async throws -> Bool {
    try await soon(within: deadline) {
        if try await condition() { return true }
        guard line?.isAnswerDue != true else { return false }
        // Whoever wakes has something to do, such as to ask for something, before time goes on.
        if clock.advance(step) > 0 { try await Task.sleep(for: .milliseconds(20)) }
        return false
    }
}
