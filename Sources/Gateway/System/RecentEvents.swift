import FootlightModel
import Foundation
import Logging
import Synchronization

/// The latest notices, warnings and errors of this process, in memory.
///
/// Any thread. What the log level leaves out is missing here too.
final class RecentEvents: Sendable {
    /// Those of the process, whose log handlers record to it.
    static let shared = RecentEvents()

    /// The most messages; the oldest are dropped.
    static let capacity = 500
    /// The most characters of a message, and of a value.
    private static let longestText = 500
    /// The most values of a message.
    private static let mostValues = 20

    private struct Ring {
        var events: [SystemEventResource] = []
        /// The place of the oldest, once the ring is full.
        var oldest = 0
    }

    private let ring = Mutex(Ring())

    init() {}

    /// Records a message from the severity notice on.
    ///
    /// - Parameter metadata: Evaluated only for a message that is recorded.
    func record(
        _ level: Logger.Level,
        _ message: Logger.Message,
        metadata: @autoclosure () -> Logger.Metadata,
        logger: String
    ) {
        guard level >= .notice else { return }
        let values = metadata().sorted { $0.key < $1.key }.prefix(Self.mostValues).map { key, value in
            (key, Self.text(of: value))
        }
        let event = SystemEventResource(
            at: Timestamp(Date().timeIntervalSince1970),
            level: level.rawValue,
            logger: logger,
            message: String(message.description.prefix(Self.longestText)),
            metadata: Dictionary(values, uniquingKeysWith: { $1 })
        )
        ring.withLock { ring in
            guard ring.events.count == Self.capacity else { return ring.events.append(event) }
            ring.events[ring.oldest] = event
            ring.oldest = (ring.oldest + 1) % Self.capacity
        }
    }

    private static func text(of value: Logger.MetadataValue) -> String {
        if case .stringConvertible(let secret) = value, secret is LogSecret { return "***" }
        return String(value.description.prefix(longestText))
    }

    /// Returns the messages, the latest first.
    ///
    /// - Parameters:
    ///   - level: The lowest severity.
    ///   - room: The unique name of a room, whose messages alone are returned; nil for all.
    func events(from level: String, room: String?) -> [SystemEventResource] {
        let lowest = Logger.Level(rawValue: level) ?? .notice
        let (events, oldest) = ring.withLock { ($0.events, $0.oldest) }
        return (events[oldest...] + events[..<oldest]).reversed().filter { event in
            (Logger.Level(rawValue: event.level) ?? .notice) >= lowest
                && (room == nil || event.metadata["room"] == room)
        }
    }
}

/// A value of a log message that whoever reads the log may know, and nobody else: it is not kept in memory.
struct LogSecret: CustomStringConvertible, Sendable {
    let description: String
}
