public import Logging
import Synchronization

/// Captures log entries.
public final class LogCapture: Sendable {
    /// A log entry.
    public struct Line: Sendable, CustomStringConvertible {
        /// The level.
        public let level: Logger.Level
        /// The message.
        public let message: String
        /// The metadata, including that of the logger.
        public let metadata: [String: String]

        /// The level, the message, and `key=value` pairs in key order.
        public var description: String {
            (["\(level)", message] + metadata.map { "\($0.key)=\($0.value)" }.sorted()).joined(separator: " ")
        }
    }

    private struct Handler: LogHandler {
        let log: LogCapture
        var metadata: Logger.Metadata = [:]
        var logLevel: Logger.Level

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let all = metadata.merging(event.metadata ?? [:]) { $1 }.mapValues { "\($0)" }
            log.entries.withLock { $0.append(Line(level: event.level, message: "\(event.message)", metadata: all)) }
        }
    }

    private let entries = Mutex<[Line]>([])
    private let level: Logger.Level

    /// Creates an empty capture.
    ///
    /// - Parameter level: The minimum captured level.
    public init(level: Logger.Level = .trace) { self.level = level }

    /// The entries in order.
    public var lines: [Line] { entries.withLock { $0 } }

    /// A logger that writes to the capture.
    public var logger: Logger { Logger(label: "test") { [self] _ in Handler(log: self, logLevel: level) } }
}
