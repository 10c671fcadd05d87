public import Foundation

/// Replaces the key that proves viewers' session ids; a running gateway takes the new one up within seconds.
public struct SessionKeyRotation: Sendable {
    /// Ids of the key before this one may still be in use.
    public struct TooSoon: Error, CustomStringConvertible {
        /// When they are no longer taken.
        public let end: Date

        /// What to do.
        public var description: String {
            "ids of the key before this one are taken until \(end.formatted(.iso8601)); rotate then, or forget it"
        }
    }

    private let directory: DataDirectory

    /// Prepares a rotation; nothing is changed yet.
    ///
    /// - Parameter configuration: Says where the keys are.
    public init(_ configuration: GatewayConfiguration) throws {
        directory = try DataDirectory(configuration.dataDirectory)
    }

    /// Makes a new key; ids of the old one are taken for a day, or not at all.
    ///
    /// Two keys are in force at most, so this is done once a day at most. Who is watching goes on with an id of a key
    /// that was forgotten: only a gateway that does not know the id, because it was started again, turns it away.
    ///
    /// - Parameter forgetting: The old key is known to somebody who must not have it.
    /// - Returns: Until when ids of the old key are taken; nil when it is forgotten.
    /// - Throws: `TooSoon`, or what is wrong with the data folder.
    @discardableResult
    public func rotate(forgetting: Bool = false, at date: Date = Date()) throws -> Date? {
        var ring = try SessionKeyRing(directory)
        if !forgetting, let end = ring.end(at: date) { throw TooSoon(end: end) }
        ring.rotate(forgetting: forgetting, at: date)
        try ring.write(to: directory)
        return ring.end(at: date)
    }
}
