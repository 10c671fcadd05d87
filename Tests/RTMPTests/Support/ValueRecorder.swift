import Synchronization

/// Collects values from any thread and waits for them with a timeout.
final class ValueRecorder<Value: Sendable>: Sendable {
    private let storage = Mutex<[Value]>([])

    var values: [Value] { storage.withLock { $0 } }

    func append(_ value: Value) {
        storage.withLock { $0.append(value) }
    }

    /// Waits for at most `seconds` until `isEnough` accepts the values.
    func wait(seconds: Double = 20, until isEnough: ([Value]) -> Bool) async -> [Value] {
        let deadline = ContinuousClock.now.advanced(by: .seconds(seconds))
        while ContinuousClock.now < deadline {
            if isEnough(values) { break }
            try? await Task.sleep(for: .milliseconds(10))
        }
        return values
    }
}
