import Media

/// The browsers that are logged in: each has a secret of its own, for which the operator's token stands here.
///
/// Kept in memory alone. A restart logs everybody out, and a session that was ended cannot come back.
struct SessionBook: Sendable {
    private struct Entry: Sendable {
        let token: String
        let openedAt: MonotonicTime
        var usedAt: MonotonicTime
    }

    /// Seconds without a request after which a session is over.
    static let idleLimit = 12.0 * 3600
    /// Seconds after which a session is over in any case.
    static let ageLimit = 7.0 * 86_400
    /// Sessions at a time; the one that was used least recently makes room.
    static let capacity = 256
    private static let secretBytes = 32

    private var entries: [String: Entry] = [:]

    /// Sessions that are kept, those that are over included.
    var count: Int { entries.count }

    /// Opens a session.
    ///
    /// - Returns: Its secret, 43 characters of base64url.
    mutating func open(token: String, now: MonotonicTime) -> String {
        entries = entries.filter { !Self.isOver($0.value, now: now) }
        if entries.count >= Self.capacity, let oldest = entries.min(by: { $0.value.usedAt < $1.value.usedAt }) {
            entries[oldest.key] = nil
        }
        let secret = Self.makeSecret()
        entries[secret] = Entry(token: token, openedAt: now, usedAt: now)
        return secret
    }

    /// The token of a session, which counts as used by that; nil for none, and for one that is over.
    mutating func token(of secret: String, now: MonotonicTime) -> String? {
        guard var entry = entries[secret] else { return nil }
        guard !Self.isOver(entry, now: now) else {
            entries[secret] = nil
            return nil
        }
        entry.usedAt = now
        entries[secret] = entry
        return entry.token
    }

    /// Ends a session.
    mutating func close(_ secret: String) {
        entries[secret] = nil
    }

    private static func isOver(_ entry: Entry, now: MonotonicTime) -> Bool {
        now.seconds(since: entry.usedAt) > idleLimit || now.seconds(since: entry.openedAt) > ageLimit
    }

    private static func makeSecret() -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        // The system's generator is fit for secrets; six bits a character, as many characters as the bytes need.
        var generator = SystemRandomNumberGenerator()
        let length = (secretBytes * 8 + 5) / 6
        return String((0..<length).map { _ in alphabet[Int.random(in: alphabet.indices, using: &generator)] })
    }
}
