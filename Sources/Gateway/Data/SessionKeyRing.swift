public import Foundation
import Logging
import ServiceLifecycle
import Viewership

/// The keys of session ids, in one file: the signing key, and for a day its predecessor.
///
/// Before the first rotation there is one key, the secret `session`. A rotation replaces the file, so that it is
/// atomic.
struct SessionKeyRing: Codable, Equatable {
    struct Key: Codable, Equatable {
        /// The version byte in the ids.
        var version: UInt8
        var secret: Data

        fileprivate var key: SessionKey { SessionKey(version: version, secret: [UInt8](secret)) }
    }

    static let fileName = "session.ring"
    private static let secretName = "session"
    /// Seconds for which ids of a retired key are accepted.
    ///
    /// A session that is known already stays valid for longer, because ids are verified once.
    static let grace: Double = 86_400

    var current: Key
    var retired: Key?
    /// The time of retirement in seconds since 1970.
    var retiredAt: Double?

    /// Reads the ring; creates the first key if there is none.
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

    /// Returns the time until which ids of the retired key are accepted; nil without one, or after that time.
    func end(at date: Date) -> Date? {
        guard retired != nil, let retiredAt else { return nil }
        let end = Date(timeIntervalSince1970: retiredAt + Self.grace)
        return end > date ? end : nil
    }

    /// Returns the valid keys.
    func keys(at date: Date) -> SessionKeys {
        SessionKeys(current: current.key, previous: end(at: date) == nil ? nil : retired?.key)
    }

    /// Makes a new signing key, and retires or discards the current one.
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

/// Replaces the key of viewers' session ids; a running gateway loads the new one within seconds.
public struct SessionKeyRotation: Sendable {
    /// Ids of the previous key are still accepted.
    public struct TooSoon: Error, CustomStringConvertible {
        /// The time until which they are accepted.
        public let end: Date

        /// The problem and its remedy.
        public var description: String {
            "ids of the previous key are accepted until \(end.formatted(.iso8601)); rotate after that, or discard it"
        }
    }

    private let directory: DataDirectory

    /// Prepares a rotation without changing any file.
    ///
    /// - Parameter configuration: The configuration with the folder of the keys.
    public init(_ configuration: GatewayConfiguration) throws {
        directory = try DataDirectory(configuration.dataDirectory)
    }

    /// Makes a new key; ids of the old one are accepted for a day, or not at all.
    ///
    /// At most two keys are valid, so that a rotation is possible once a day. Sessions that the gateway knows continue
    /// with an id of a discarded key; after a restart such an id is refused.
    ///
    /// - Parameter forgetting: Whether to discard the old key at once, such as after a leak.
    /// - Returns: The time until which ids of the old key are accepted; nil if it was discarded.
    /// - Throws: `TooSoon`, or an error of the data folder.
    @discardableResult
    public func rotate(forgetting: Bool = false, at date: Date = Date()) throws -> Date? {
        var ring = try SessionKeyRing(directory)
        if !forgetting, let end = ring.end(at: date) { throw TooSoon(end: end) }
        ring.rotate(forgetting: forgetting, at: date)
        try ring.write(to: directory)
        return ring.end(at: date)
    }
}

/// Reloads the keys of session ids after a rotation, and discards the retired key when it expires.
struct SessionKeyService: Service {
    /// Seconds between two checks of the file.
    private static let checkInterval = 5.0

    let viewership: ViewershipLedger
    let directory: DataDirectory
    let logger: Logger

    /// Applies the keys of the file if they have changed.
    ///
    /// - Parameter known: The last ring, and whether its retired key was valid.
    /// - Returns: The present ring, and whether its retired key is valid.
    func reload(_ known: (SessionKeyRing, Bool)?, at date: Date) throws -> (SessionKeyRing, Bool) {
        let ring = try SessionKeyRing(directory)
        let now = (ring, ring.end(at: date) != nil)
        if let known, known == now { return now }
        viewership.use(ring.keys(at: date))
        return now
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var known: (SessionKeyRing, Bool)?
            var isReadable = true
            while !Task.isCancelled {
                do {
                    known = try await directory.onQueue { [known] in try reload(known, at: Date()) }
                    isReadable = true
                } catch {
                    if isReadable {
                        logger.error("session id keys cannot be read", metadata: ["reason": "\(error)"])
                    }
                    isReadable = false
                }
                // Cancellation ends the sleep and, with it, the loop.
                try? await Task.sleep(for: .seconds(Self.checkInterval), tolerance: .seconds(1))
            }
        }
    }
}
