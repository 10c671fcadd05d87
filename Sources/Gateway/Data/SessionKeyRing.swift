import Foundation
import Viewership

/// The keys that prove session ids, in one file: the one that signs, and for a day the one before it.
///
/// Until the first rotation there is one key, the secret `session`. Everything changes with one file, so that a crash
/// leaves the keys of before or those of after.
struct SessionKeyRing: Codable, Equatable {
    struct Key: Codable, Equatable {
        /// The byte that ids name it by.
        var version: UInt8
        var secret: Data

        fileprivate var key: SessionKey { SessionKey(version: version, secret: [UInt8](secret)) }
    }

    static let fileName = "session.ring"
    private static let secretName = "session"
    /// Seconds for which ids of a retired key are taken.
    ///
    /// Who is known goes on for longer, as ids are proven once.
    static let grace: Double = 86_400

    var current: Key
    var retired: Key?
    /// When that was, in seconds since 1970.
    var retiredAt: Double?

    /// Reads the ring; makes the first key when there is none.
    init(_ directory: DataDirectory) throws {
        guard let data = try directory.read(Self.fileName) else {
            let secret = try directory.secret(Self.secretName, for: ["viewership.sqlite"])
            self.init(current: Key(version: 1, secret: Data(secret)))
            return
        }
        do {
            self = try JSONDecoder().decode(Self.self, from: data)
        } catch {
            throw DataDirectoryError.unreadable(directory.filePath(Self.fileName))
        }
    }

    init(current: Key) {
        self.current = current
    }

    /// Until when ids of the retired key are taken; nil when there is none, or its time is over.
    func end(at date: Date) -> Date? {
        guard retired != nil, let retiredAt else { return nil }
        let end = Date(timeIntervalSince1970: retiredAt + Self.grace)
        return end > date ? end : nil
    }

    /// The keys in force.
    func keys(at date: Date) -> SessionKeys {
        SessionKeys(current: current.key, previous: end(at: date) == nil ? nil : retired?.key)
    }

    /// A new key signs; the one before it is retired, or forgotten.
    mutating func rotate(forgetting: Bool, at date: Date) {
        var generator = SystemRandomNumberGenerator()
        let secret = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        retired = forgetting ? nil : current
        retiredAt = forgetting ? nil : date.timeIntervalSince1970
        current = Key(version: current.version &+ 1, secret: Data(secret))
    }

    func write(to directory: DataDirectory) throws {
        try directory.write(try JSONEncoder().encode(self), to: Self.fileName, mode: 0o600)
        directory.remove(Self.secretName + ".key")
    }
}
