import Logging
import Synchronization

/// Keeps what is logged, level and metadata with the message.
final class LineLog: Sendable {
    private struct Handler: LogHandler {
        let log: LineLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.info

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let words = (event.metadata ?? [:]).map { "\($0.key)=\($0.value)" }.sorted()
            log.kept.withLock { $0.append((["\(event.level)", "\(event.message)"] + words).joined(separator: " ")) }
        }
    }

    private let kept = Mutex<[String]>([])

    var lines: [String] { kept.withLock { $0 } }

    var logger: Logger { Logger(label: "pages") { [self] _ in Handler(log: self) } }
}
