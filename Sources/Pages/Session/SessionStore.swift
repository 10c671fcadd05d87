import Crypto
import Foundation
import Media
import Synchronization

/// A session of the dashboard as it is stored, so that it goes on after a restart: without the secret of its cookie.
public struct DashboardLogin: Codable, Sendable, Equatable {
    /// The SHA-256 of the cookie's secret, in base64.
    let digest: String
    let id: String
    let token: String
    let agent: String
    /// Seconds since 1970.
    let openedAt: Double
}

/// The sessions of logged-in browsers, each a random secret that stands for an operator's token.
///
/// An ended session cannot be resumed.
struct SessionStore: Sendable {
    /// A session, without its secret.
    struct Entry: Sendable {
        /// Names the session to operators; of no use as its secret.
        let id: String
        let token: String
        /// The browser, as it names itself.
        let agent: String
        let openedAt: MonotonicTime
        var usedAt: MonotonicTime
    }

    /// The idle timeout of a session, in seconds.
    static let idleLimit = 12.0 * 3600
    /// The maximum age of a session, in seconds.
    static let ageLimit = 7.0 * 86_400
    /// The maximum number of sessions; the least recently used one is evicted.
    static let capacity = 256
    private static let secretBytes = 32
    private static let idBytes = 12
    private static let longestAgent = 200

    /// By the digests of their secrets.
    private var entries: [String: Entry] = [:]

    /// Restores the sessions of an earlier run, as used now.
    ///
    /// - Parameter date: The present time in seconds since 1970.
    init(_ logins: [DashboardLogin] = [], now: MonotonicTime = MonotonicTime(nanoseconds: 0), date: Double = 0) {
        for login in logins.suffix(Self.capacity) {
            entries[login.digest] = Entry(
                id: login.id,
                token: login.token,
                agent: login.agent,
                openedAt: now.advanced(seconds: min(login.openedAt - date, 0)),
                usedAt: now
            )
        }
    }

    /// The sessions to store.
    ///
    /// - Parameter date: The present time in seconds since 1970.
    func logins(now: MonotonicTime, date: Double) -> [DashboardLogin] {
        entries.filter { !Self.isOver($0.value, now: now) }.map { digest, entry in
            DashboardLogin(
                digest: digest,
                id: entry.id,
                token: entry.token,
                agent: entry.agent,
                openedAt: date - now.seconds(since: entry.openedAt)
            )
        }
    }

    /// The number of stored sessions, including expired ones.
    var count: Int { entries.count }

    /// Returns the sessions that have not expired, the oldest first.
    func present(now: MonotonicTime) -> [Entry] {
        entries.values.filter { !Self.isOver($0, now: now) }.sorted { ($0.openedAt, $0.id) < ($1.openedAt, $1.id) }
    }

    /// Returns the id of a session; nil if there is none.
    func id(of secret: String) -> String? { entries[Self.digest(secret)]?.id }

    /// Whether the session with an id has neither ended nor expired.
    func isOpen(id: String, now: MonotonicTime) -> Bool {
        entries.values.contains { $0.id == id && !Self.isOver($0, now: now) }
    }

    /// Opens a session.
    ///
    /// - Parameter agent: The browser, as it names itself; only the beginning of a long name is stored.
    /// - Returns: The session's secret, 43 characters of base64url.
    mutating func open(token: String, agent: String = "", now: MonotonicTime) -> String {
        entries = entries.filter { !Self.isOver($0.value, now: now) }
        if entries.count >= Self.capacity, let oldest = entries.min(by: { $0.value.usedAt < $1.value.usedAt }) {
            entries[oldest.key] = nil
        }
        let secret = Self.makeText(bytes: Self.secretBytes)
        entries[Self.digest(secret)] = Entry(
            id: Self.makeText(bytes: Self.idBytes),
            token: token,
            agent: String(agent.prefix(Self.longestAgent)),
            openedAt: now,
            usedAt: now
        )
        return secret
    }

    /// Returns a session and marks it as used; nil if it does not exist or has expired.
    mutating func use(_ secret: String, now: MonotonicTime) -> Entry? {
        let digest = Self.digest(secret)
        guard var entry = entries[digest] else { return nil }
        guard !Self.isOver(entry, now: now) else {
            entries[digest] = nil
            return nil
        }
        entry.usedAt = now
        entries[digest] = entry
        return entry
    }

    /// Ends a session.
    mutating func close(_ secret: String) {
        entries[Self.digest(secret)] = nil
    }

    /// Ends the session with an id; returns whether there was one.
    mutating func close(id: String) -> Bool {
        guard let digest = entries.first(where: { $0.value.id == id })?.key else { return false }
        entries[digest] = nil
        return true
    }

    private static func digest(_ secret: String) -> String {
        Data(SHA256.hash(data: Data(secret.utf8))).base64EncodedString()
    }

    private static func isOver(_ entry: Entry, now: MonotonicTime) -> Bool {
        now.seconds(since: entry.usedAt) > idleLimit || now.seconds(since: entry.openedAt) > ageLimit
    }

    /// Returns random text in base64url.
    private static func makeText(bytes: Int) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        // The system's generator is cryptographically secure; each character carries six bits.
        var generator = SystemRandomNumberGenerator()
        let length = (bytes * 8 + 5) / 6
        return String((0..<length).map { _ in alphabet[Int.random(in: alphabet.indices, using: &generator)] })
    }
}

/// A value protected by a mutex, shared by reference.
final class LockedBox<Value: Sendable>: Sendable {
    private let value: Mutex<Value>

    init(_ value: Value) {
        self.value = Mutex(value)
    }

    func with<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        value.withLock { body(&$0) }
    }
}
