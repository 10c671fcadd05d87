import Stage
import Synchronization

/// One event stream, counted as long as somebody holds it.
final class OpenStream: Sendable {
    private let subscription: EventSubscription
    /// Why it was ended from here; nil while it was not.
    private let reason = Mutex<StageError?>(nil)
    /// Of the token that opened it.
    private let tokenWatch = Mutex<TokenWatch?>(nil)
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
        end(.serverBusy(retryAfter: 5))
    }

    /// Ends the stream with a last word that says why; the first reason counts.
    func end(_ error: StageError) {
        reason.withLock { $0 = $0 ?? error }
        subscription.cancel()
    }

    /// Ends the stream when its token is revoked, or out of its time; the show of a mixer goes on past that.
    func endWithToken(_ claims: AccessClaims, _ revocations: TokenRevocations) {
        let watch = revocations.watch(claims, outlivesToken: claims.role == .mixer) { [weak self] error in
            self?.end(error)
        }
        tokenWatch.withLock { $0 = watch }
    }

    /// What is said after the last event: why it was ended from here, otherwise nothing.
    func lastWord(after latest: StageEvent?) -> StageEvent? {
        guard let error = reason.withLock({ $0 }), var last = latest else { return nil }
        last.payload = .sessionDisconnected(error)
        return last
    }
}
