import FootlightClient
import Synchronization

/// A client clock that stands still until a test moves it.
final class ManualClientClock: Sendable {
    private struct Sleeper {
        let due: Duration
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now = Duration.seconds(1_000)
        var sleepers: [Int: Sleeper] = [:]
        /// Sleepers whose task was cancelled before they were registered.
        var cancelled: Set<Int> = []
        var lastSleeper = 0
    }

    private let state = Mutex(State())

    /// The random number is 0.5, so that delays have no jitter.
    var clock: ClientClock {
        ClientClock(
            now: { self.now },
            sleep: { try await self.sleep($0) },
            chance: { 0.5 }
        )
    }

    var now: Duration { state.withLock { $0.now } }

    /// Moves the clock and resumes the sleepers whose time has come, the earliest first.
    ///
    /// - Returns: The number of resumed sleepers.
    @discardableResult
    func advance(_ duration: Duration) -> Int {
        let due = state.withLock { state in
            state.now += duration
            let due = state.sleepers.filter { $0.value.due <= state.now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.sorted { $0.due < $1.due }
        }
        for sleeper in due { sleeper.continuation.resume() }
        return due.count
    }

    private func sleep(_ duration: Duration) async throws {
        let id = state.withLock { state in
            state.lastSleeper += 1
            return state.lastSleeper
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result = state.withLock { state -> Result<Void, any Error>? in
                    if state.cancelled.remove(id) != nil { return .failure(CancellationError()) }
                    guard duration > .zero else { return .success(()) }
                    state.sleepers[id] = Sleeper(due: state.now + duration, continuation: continuation)
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                let sleeper = state.sleepers.removeValue(forKey: id)
                if sleeper == nil { state.cancelled.insert(id) }
                return sleeper
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }
}

extension ClientClock {
    /// Returns a clock that runs faster by a factor.
    func running(_ factor: Double) -> ClientClock {
        let start = now()
        return ClientClock(
            now: { (self.now() - start) * factor },
            sleep: { try await self.sleep($0 / factor) },
            chance: chance
        )
    }
}
