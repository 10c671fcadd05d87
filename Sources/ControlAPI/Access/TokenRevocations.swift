import Foundation
public import Stage
import Synchronization

/// The list of revoked access tokens, and the open connections that end with their token.
///
/// Looked up at each check of a token; any thread. What expired is forgotten with the next change.
public final class TokenRevocations: Sendable {
    /// Tokens on the list at most.
    public static let capacity = 10_000

    /// A connection that ends with its token.
    private struct Watcher {
        let tokenID: String
        /// The name of the token's key; nil for a connection that outlives its key.
        let keyID: String?
        /// Seconds since 1970; nil for a connection that outlives the token's time.
        let expiresAt: Double?
        let end: @Sendable (StageError) -> Void

        init(_ claims: AccessClaims, outlivesToken: Bool, end: @escaping @Sendable (StageError) -> Void) {
            tokenID = claims.tokenID ?? ""
            // A mixer that has been at work since before a rotation goes on.
            keyID = claims.role == .mixer ? nil : claims.keyID
            expiresAt = outlivesToken ? nil : claims.expiresAt + AccessTokens.skew
            self.end = end
        }
    }

    private struct State {
        var tokens: [String: RevokedToken] = [:]
        /// The names of the keys in force; nil as long as they have not changed.
        var keys: Set<String>?
        var watchers: [UInt64: Watcher] = [:]
        var lastWatcher: UInt64 = 0

        /// Puts a token on the list; false while that is full.
        ///
        /// One that is there already stays as it is, with what was not known of it, and the later end of the two.
        mutating func add(_ token: RevokedToken) -> Bool {
            guard var known = tokens[token.id] else {
                guard tokens.count < TokenRevocations.capacity else { return false }
                tokens[token.id] = token
                return true
            }
            known.identity = known.identity ?? token.identity
            known.role = known.role ?? token.role
            known.expiresAt = max(known.expiresAt, token.expiresAt)
            tokens[token.id] = known
            return true
        }

        /// Why a connection is to end; nil while it may go on.
        func reason(for watcher: Watcher, at time: Double) -> StageError? {
            if tokens[watcher.tokenID] != nil { return .tokenRevoked }
            if let keys, let key = watcher.keyID, !keys.contains(key) { return .tokenSignatureInvalid }
            if let expiresAt = watcher.expiresAt, time >= expiresAt { return .tokenExpired }
            return nil
        }
    }

    private let state: Mutex<State>
    private let store: (any RevokedTokenStoring)?
    private let now: @Sendable () -> Double

    /// Makes the list.
    ///
    /// - Parameters:
    ///   - tokens: Those of an earlier run.
    ///   - store: Keeps the list over a restart; nil where nobody does.
    public convenience init(_ tokens: [RevokedToken] = [], store: (any RevokedTokenStoring)? = nil) {
        self.init(tokens, store: store) { Date().timeIntervalSince1970 }
    }

    /// As above, with the time in seconds since 1970 from elsewhere.
    init(
        _ tokens: [RevokedToken],
        store: (any RevokedTokenStoring)?,
        now: @escaping @Sendable () -> Double
    ) {
        self.store = store
        self.now = now
        let time = now()
        let present = tokens.filter { $0.expiresAt + AccessTokens.skew > time }.map { ($0.id, $0) }
        state = Mutex(State(tokens: Dictionary(present) { $1 }))
    }

    // MARK: The list

    /// Whether the token of an id is revoked.
    public func contains(_ id: String) -> Bool {
        state.withLock { $0.tokens[id] != nil }
    }

    /// All revoked tokens that would still be good, in the order in which they were revoked.
    public var all: [RevokedToken] {
        let time = now()
        return state.withLock { state in
            state.tokens.values.filter { $0.expiresAt + AccessTokens.skew > time }
        }.sorted { ($0.revokedAt, $0.id) < ($1.revokedAt, $1.id) }
    }

    /// The same with entries of an earlier run that could not be read before, which are taken in.
    public func all(with found: [RevokedToken]) -> [RevokedToken] {
        if !found.isEmpty {
            state.withLock { state in
                for token in found { _ = state.add(token) }
            }
            endConnections()
        }
        return all
    }

    /// Revokes a token: it is refused from now on, and what is open by it ends.
    ///
    /// - Returns: The entry of the list, which for a token that was revoked already is the one of then, with the later end
    ///   of the two.
    /// - Throws: 53006 while the list is full, 500 when it cannot be written: the token is refused all the same, but only
    ///   until a restart.
    @discardableResult
    public func revoke(_ token: RevokedToken) async throws(StageError) -> RevokedToken {
        let time = now()
        let known = state.withLock { state -> RevokedToken? in
            state.tokens = state.tokens.filter { $0.value.expiresAt + AccessTokens.skew > time }
            return state.add(token) ? state.tokens[token.id] : nil
        }
        guard let known else {
            var error = StageError.serverBusy(retryAfter: nil)
            error.cause = "The list of revoked tokens is full: \(Self.capacity)"
            error.solution = "Rotate the signing key, remove the old one from retired-keys, and unlist its tokens"
            throw error
        }
        endConnections()
        // Also for one that is known: the try that put it there may have failed to write it.
        try await save()
        return known
    }

    /// Accepts a token again.
    ///
    /// - Throws: 404 for a token that is not on the list, 500 when the list cannot be written.
    public func restore(_ id: String) async throws(StageError) {
        guard state.withLock({ $0.tokens.removeValue(forKey: id) }) != nil else { throw .tokenNotRevoked }
        try await save()
    }

    private func save() async throws(StageError) {
        guard let store else { return }
        do {
            try await store.save { [self] found in all(with: found) }
        } catch {
            var fault = StageError.internalFault
            fault.cause = "The list of revoked tokens cannot be written to disk; it is in force until a restart"
            throw fault
        }
    }

    // MARK: Connections

    /// Ends a connection when its token is revoked, or its key removed.
    ///
    /// - Parameters:
    ///   - claims: Of the token.
    ///   - outlivesToken: Whether the connection goes on when the token's time is over.
    ///   - end: Called once, on any thread, with 20101 for a token that is revoked, 20104 for one whose time is over and
    ///     20107 for one whose key was removed; at once if that is so already.
    /// - Returns: What to hold as long as the connection is open.
    public func watch(
        _ claims: AccessClaims,
        outlivesToken: Bool = false,
        end: @escaping @Sendable (StageError) -> Void
    ) -> TokenWatch {
        let watcher = Watcher(claims, outlivesToken: outlivesToken, end: end)
        let time = now()
        let (id, reason) = state.withLock { state -> (UInt64, StageError?) in
            state.lastWatcher &+= 1
            let reason = state.reason(for: watcher, at: time)
            if reason == nil { state.watchers[state.lastWatcher] = watcher }
            return (state.lastWatcher, reason)
        }
        if let reason { end(reason) }
        return TokenWatch { [weak self] in self?.forget(id) }
    }

    /// Takes the names of the keys that verify tokens from now on, and ends what is open by tokens of others.
    func accept(keys: Set<String>) {
        state.withLock { $0.keys = keys }
        endConnections()
    }

    private func forget(_ id: UInt64) {
        // What it holds is let go outside of the lock.
        _ = state.withLock { $0.watchers.removeValue(forKey: id) }
    }

    /// Whether a token is revoked or out of its time, or its key removed.
    func isOver(_ claims: AccessClaims) -> Bool {
        let (watcher, time) = (Watcher(claims, outlivesToken: false) { _ in }, now())
        return state.withLock { $0.reason(for: watcher, at: time) } != nil
    }

    /// Ends what is open by tokens that are revoked or out of their time; to be called once a second.
    public func endConnections() {
        let time = now()
        let ended = state.withLock { state in
            var ended: [(Watcher, StageError)] = []
            for (id, watcher) in state.watchers {
                guard let reason = state.reason(for: watcher, at: time) else { continue }
                state.watchers[id] = nil
                ended.append((watcher, reason))
            }
            return ended
        }
        // Outside of the lock, which a connection that ends takes.
        for (watcher, reason) in ended { watcher.end(reason) }
    }
}

/// Keeps watch over the token of one connection, until nobody holds it.
public final class TokenWatch: Sendable {
    private let onEnd: @Sendable () -> Void

    init(onEnd: @escaping @Sendable () -> Void) {
        self.onEnd = onEnd
    }

    deinit {
        onEnd()
    }
}
