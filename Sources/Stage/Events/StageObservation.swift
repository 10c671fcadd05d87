/// Keeps an observer in place; its end, or `cancel()`, takes the observer away.
public final class StageObservation: Sendable {
    private let end: @Sendable () -> Void

    init(end: @escaping @Sendable () -> Void) {
        self.end = end
    }

    deinit {
        end()
    }

    /// No further call begins after this returns, but one may still be under way on another thread.
    public func cancel() {
        end()
    }
}
