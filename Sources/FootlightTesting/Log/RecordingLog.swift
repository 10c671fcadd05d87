public import Logging
import Synchronization

/// Keeps what is logged.
public final class RecordingLog: Sendable {
    /// One entry.
    public struct Line: Sendable, CustomStringConvertible {
        /// How grave it is.
        public let level: Logger.Level
        /// What is said.
        public let message: String
        /// What is said of the case, the logger's own included.
        public let metadata: [String: String]

        /// The level, the message, and `key=value` in the order of the keys.
        public var description: String {
            (["\(level)", message] + metadata.map { "\($0.key)=\($0.value)" }.sorted()).joined(separator: " ")
        }
    }

    private struct Handler: LogHandler {
        let log: RecordingLog
        var metadata: Logger.Metadata = [:]
        var logLevel: Logger.Level

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let all = metadata.merging(event.metadata ?? [:]) { $1 }.mapValues { "\($0)" }
            log.kept.withLock { $0.append(Line(level: event.level, message: "\(event.message)", metadata: all)) }
        }
    }

    private let kept = Mutex<[Line]>([])
    private let level: Logger.Level

    /// Makes one without entries.
    ///
    /// - Parameter level: The least that is kept.
    public init(level: Logger.Level = .trace) { self.level = level }

    /// All entries, in their order.
    public var lines: [Line] { kept.withLock { $0 } }

    /// Writes to it.
    public var logger: Logger { Logger(label: "test") { [self] _ in Handler(log: self, logLevel: level) } }
}
