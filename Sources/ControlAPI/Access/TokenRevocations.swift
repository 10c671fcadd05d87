import Foundation
public import Stage
import Synchronization

/// The list of revoked access tokens, and the open connections that are closed with their token.
///
/// Consulted at each verification, on any thread. Expired entries are removed at the next change.
public final class TokenRevocations: Sendable {
    /// Maximum number of revoked tokens.
    public static let capacity = 10_000

    /// A connection that is closed with its token.
    private struct Observer {
        let tokenID: String
        /// The id of the token's key; nil for claims without a token.
        let keyID: String?
        /// Seconds since 1970; nil for a connection that stays open when the token expires.
        let expiresAt: Double?
        /// Whether the login that opened the connection has ended; nil for a connection without one.
        let hasLoggedOut: (@Sendable () -> Bool)?
        let end: @Sendable (StageError) -> Void

        init(
            _ claims: AccessClaims,
            outlivesToken: Bool,
            hasLoggedOut: (@Sendable () -> Bool)? = nil,
            end: @escaping @Sendable (StageError) -> Void
        ) {
            tokenID = claims.tokenID ?? ""
            keyID = claims.keyID
            expiresAt = outlivesToken ? nil : claims.expiresAt + AccessTokens.skew
            self.hasLoggedOut = hasLoggedOut
            self.end = end
        }
    }

    private struct State {
        var tokens: [String: RevokedToken] = [:]
        /// The ids of the current keys; nil until they change.
        var keys: Set<String>?
        var observers: [UInt64: Observer] = [:]
        var lastObserver: UInt64 = 0

        /// Adds a token to the list; returns false if the list is full.
        ///
        /// An existing entry is kept, completed by the new one, with the later of the two expiry times.
        mutating func add(_ token: RevokedToken) -> Bool {
            guard var entry = tokens[token.id] else {
                guard tokens.count < TokenRevocations.capacity else { return false }
                tokens[token.id] = token
                return true
            }
            entry.identity = entry.identity ?? token.identity
            entry.role = entry.role ?? token.role
            entry.expiresAt = max(entry.expiresAt, token.expiresAt)
            tokens[token.id] = entry
            return true
        }

        /// The reason to close a connection; nil if it may stay open.
        func reason(for observer: Observer, at time: Double) -> StageError? {
            if tokens[observer.tokenID] != nil { return .tokenRevoked }
            if let keys, let key = observer.keyID, !keys.contains(key) { return .tokenSignatureInvalid }
            if let expiresAt = observer.expiresAt, time >= expiresAt { return .tokenExpired }
            if observer.hasLoggedOut?() ?? false { return .loggedOut }
            return nil
        }
    }

    private let state: Mutex<State>
    private let store: (any RevokedTokenStoring)?
    private let now: @Sendable () -> Double

    /// Creates the list.
    ///
    /// - Parameters:
    ///   - tokens: The revoked tokens of an earlier run.
    ///   - store: Persists the list; nil to keep it in memory only.
    public convenience init(_ tokens: [RevokedToken] = [], store: (any RevokedTokenStoring)? = nil) {
        self.init(tokens, store: store) { Date().timeIntervalSince1970 }
    }

    /// Creates the list with a clock that returns seconds since 1970.
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

    /// Whether the token with an id is revoked.
    public func contains(_ id: String) -> Bool {
        state.withLock { $0.tokens[id] != nil }
    }

    /// The revoked tokens that have not expired, in the order of revocation.
    public var all: [RevokedToken] {
        let time = now()
        return state.withLock { state in
            state.tokens.values.filter { $0.expiresAt + AccessTokens.skew > time }
        }.sorted { ($0.revokedAt, $0.id) < ($1.revokedAt, $1.id) }
    }

    /// Adds entries of an earlier run that could not be read before, and returns all revoked tokens.
    public func all(with found: [RevokedToken]) -> [RevokedToken] {
        if !found.isEmpty {
            state.withLock { state in
                for token in found { _ = state.add(token) }
            }
            endConnections()
        }
        return all
    }

    /// Revokes a token: it is refused from now on, and its open connections are closed.
    ///
    /// - Returns: The list's entry: for a token that was revoked before, the earlier one with the later expiry time.
    /// - Throws: 53006 if the list is full; 500 if the list cannot be written, in which case the token is refused until
    ///   a restart.
    @discardableResult
    public func revoke(_ token: RevokedToken) async throws(StageError) -> RevokedToken {
        let time = now()
        let entry = state.withLock { state -> RevokedToken? in
            state.tokens = state.tokens.filter { $0.value.expiresAt + AccessTokens.skew > time }
            return state.add(token) ? state.tokens[token.id] : nil
        }
        guard let entry else {
            var error = StageError.serverBusy(retryAfter: nil)
            error.cause = "The list of revoked tokens is full: \(Self.capacity)"
            error.solution = "Rotate the signing key, remove the old one from retired-keys, and unlist its tokens"
            throw error
        }
        endConnections()
        // An existing entry is written too: the call that added it may have failed to write it.
        try await save()
        return entry
    }

    /// Removes a token from the list, so that it is accepted again.
    ///
    /// - Throws: 404 if the token is not on the list; 500 if the list cannot be written.
    public func restore(_ id: String) async throws(StageError) {
        guard state.withLock({ $0.tokens.removeValue(forKey: id) }) != nil else { throw .tokenNotRevoked }
        try await save()
    }

    private func save() async throws(StageError) {
        guard let store else { return }
        do {
            try await store.save { [self] found in all(with: found) }
        } catch {
            var fault = StageError.internalError
            fault.cause = "The list of revoked tokens cannot be written to disk; it is in force until a restart"
            throw fault
        }
    }

    // MARK: Connections

    /// Closes a connection when its token is revoked or expires, its key is removed, or its login ends.
    ///
    /// - Parameters:
    ///   - claims: The token's claims.
    ///   - outlivesToken: Whether the connection stays open when the token expires.
    ///   - hasLoggedOut: Whether the login that opened the connection has ended; evaluated once a second, and must not use
    ///     this list. Nil for a connection without a login.
    ///   - end: Called once, on any thread, with 20101 if the token is revoked or the login has ended, 20104 if it has expired and 20107 if
    ///     its key was removed; called immediately if that is already so.
    /// - Returns: An observation to retain as long as the connection is open.
    public func observe(
        _ claims: AccessClaims,
        outlivesToken: Bool = false,
        hasLoggedOut: (@Sendable () -> Bool)? = nil,
        end: @escaping @Sendable (StageError) -> Void
    ) -> TokenObservation {
        let observer = Observer(claims, outlivesToken: outlivesToken, hasLoggedOut: hasLoggedOut, end: end)
        let time = now()
        let (id, reason) = state.withLock { state -> (UInt64, StageError?) in
            state.lastObserver &+= 1
            let reason = state.reason(for: observer, at: time)
            if reason == nil { state.observers[state.lastObserver] = observer }
            return (state.lastObserver, reason)
        }
        if let reason { end(reason) }
        return TokenObservation { [weak self] in self?.removeObserver(id) }
    }

    /// Sets the ids of the current keys, and closes the connections whose tokens were signed with other keys.
    func accept(keys: Set<String>) {
        state.withLock { $0.keys = keys }
        endConnections()
    }

    private func removeObserver(_ id: UInt64) {
        // The observer's captured values are released outside the lock.
        _ = state.withLock { $0.observers.removeValue(forKey: id) }
    }

    /// Whether a token is revoked or expired, or its key removed.
    func isOver(_ claims: AccessClaims) -> Bool {
        let (observer, time) = (Observer(claims, outlivesToken: false) { _ in }, now())
        return state.withLock { $0.reason(for: observer, at: time) } != nil
    }

    /// Closes the connections whose tokens are revoked or expired, or whose logins have ended; to be called once a
    /// second.
    public func endConnections() {
        let time = now()
        let ended = state.withLock { state in
            var ended: [(Observer, StageError)] = []
            for (id, observer) in state.observers {
                guard let reason = state.reason(for: observer, at: time) else { continue }
                state.observers[id] = nil
                ended.append((observer, reason))
            }
            return ended
        }
        // Called outside the lock, because a closing connection acquires it.
        for (observer, reason) in ended { observer.end(reason) }
    }
}

/// Observes the token of one connection until it is released.
public final class TokenObservation: Sendable {
    private let onEnd: @Sendable () -> Void

    init(onEnd: @escaping @Sendable () -> Void) {
        self.onEnd = onEnd
    }

    deinit {
        onEnd()
    }
}

extension StageError {
    /// 20101: the login of the dashboard that opened a stream has ended.
    static let loggedOut = StageError(
        code: 20101,
        name: "AccessTokenInvalidError",
        message: "Logged out",
        cause: "The login has ended, or was not used for long",
        solution: "Log in again",
        status: 401
    )
}
