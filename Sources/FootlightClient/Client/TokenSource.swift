import Foundation
import Stage
import Synchronization

/// The token of a client whose app provides a new one when it is needed.
///
/// The app is asked before the first request, shortly before a token expires, and after the gateway has refused one as
/// expired. Copies of a client share the token, and concurrent requests share one question.
final class TokenSource: Sendable {
    /// How often one request asks for another token after a refusal.
    static let maximumRenewals = 2

    private struct State {
        var token: String?
        /// The time from which the token counts as about to expire; nil if it does not say when it expires.
        var renewAt: Duration?
        var pending: Task<String, any Error>?
    }

    private let provider: BroadcastClient.TokenProvider
    private let clock: ClientClock
    private let state = Mutex(State())

    init(_ provider: @escaping BroadcastClient.TokenProvider, clock: ClientClock) {
        self.provider = provider
        self.clock = clock
    }

    /// The token that was provided last; nil before the first.
    var latest: String? { state.withLock { $0.token } }

    /// Returns a token that is not about to expire; asks the app if there is none.
    ///
    /// - Throws: The app's `StageError`, 499 if it was cancelled, or 53000 for any other error.
    func token() async throws(StageError) -> String {
        let (token, pending) = state.withLock { state -> (String?, Task<String, any Error>?) in
            if let token = state.token, state.renewAt.map({ clock.now() < $0 }) ?? true { return (token, nil) }
            let pending = state.pending ?? Task { try await self.renew() }
            state.pending = pending
            return (nil, pending)
        }
        if let token { return token }
        do {
            return try await pending?.value ?? ""
        } catch let error as StageError {
            throw error
        } catch is CancellationError {
            throw .requestCancelled
        } catch {
            var failure = StageError.callNotConnected
            failure.cause = "The app could not provide a token: \(error)"
            throw failure
        }
    }

    /// Discards a token that was refused, unless another one has replaced it.
    func discard(_ token: String) {
        state.withLock { state in
            guard state.token == token else { return }
            state.token = nil
        }
    }

    private func renew() async throws -> String {
        defer { state.withLock { $0.pending = nil } }
        let token = try await provider()
        let renewAt = Self.usableTime(of: token).map { clock.now() + $0 }
        state.withLock { state in
            state.token = token
            state.renewAt = renewAt
        }
        return token
    }

    /// The time for which a new token is used: its lifetime without the last minute, or without the last tenth of a
    /// short one.
    ///
    /// The lifetime is the difference of the claims `exp` and `iat` (RFC 7519 section 4.1), so that the device's clock
    /// may be wrong.
    static func usableTime(of token: String) -> Duration? {
        guard let claims = TokenClaims(token), let from = claims.issuedAt, let end = claims.expiresAt,
            end > from, end - from < 1e9
        else { return nil }
        let lifetime = end - from
        return .seconds(lifetime - min(60, lifetime / 10))
    }
}
