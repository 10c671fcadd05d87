import Logging
import Synchronization

/// Keeps what is logged.
final class RecordingLog: Sendable {
    struct Line: Sendable {
        let level: Logger.Level
        let message: String
        let metadata: [String: String]
    }

    private let kept = Mutex<[Line]>([])

    var lines: [Line] { kept.withLock { $0 } }

    var logger: Logger {
        Logger(label: "audit") { [self] _ in Handler(store: self) }
    }

    private struct Handler: LogHandler {
        let store: RecordingLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let all = metadata.merging(event.metadata ?? [:]) { $1 }.mapValues { "\($0)" }
            store.kept.withLock { $0.append(Line(level: event.level, message: "\(event.message)", metadata: all)) }
        }
    }
}
