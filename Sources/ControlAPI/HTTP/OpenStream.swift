import Stage
import Synchronization

/// One event stream, counted as long as somebody holds it.
final class OpenStream: Sendable {
    private let subscription: EventSubscription
    private let isReplaced = Atomic<Bool>(false)
    private let onClose: @Sendable () -> Void

    /// Takes what is to be done when nobody holds the stream any more.
    init(_ subscription: EventSubscription, onClose: @escaping @Sendable () -> Void) {
        self.subscription = subscription
        self.onClose = onClose
    }

    deinit {
        onClose()
    }

    var events: AsyncStream<StageEvent> { subscription.events }

    func cancel() {
        subscription.cancel()
    }

    /// Ends the stream with a last word, because a newer one takes its place.
    func replace() {
        isReplaced.store(true, ordering: .releasing)
        subscription.cancel()
    }

    /// What is said after the last event: 53006 to a stream that a newer one replaced, otherwise nothing.
    func lastWord(after latest: StageEvent?) -> StageEvent? {
        guard isReplaced.load(ordering: .acquiring), var last = latest else { return nil }
        last.payload = .sessionDisconnected(.serverBusy(retryAfter: 5))
        return last
    }
}
