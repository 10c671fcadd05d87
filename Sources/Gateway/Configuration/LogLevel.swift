import Logging
import MixerProcess
import Synchronization

/// The lowest severity that the process logs, which can change while it runs.
enum LogLevel {
    private static let level = Atomic<Int>(index(of: .info))

    /// The level, for all loggers.
    static var current: Logger.Level {
        get { Logger.Level.allCases[level.load(ordering: .relaxed)] }
        set { level.store(index(of: newValue), ordering: .relaxed) }
    }

    private static func index(of level: Logger.Level) -> Int { Logger.Level.allCases.firstIndex(of: level) ?? 0 }

    /// Makes handlers of the configured format with this level those of the process; call it once, before the first
    /// logger is made.
    static func bootstrap(_ configuration: GatewayConfiguration) {
        if let level = Logger.Level(rawValue: configuration.logLevel) { current = level }
        let isJSON = configuration.logFormat == JSONLogHandler.format
        LoggingSystem.bootstrap { label in
            let handler: any LogHandler =
                isJSON ? JSONLogHandler(label: label) : StreamLogHandler.standardError(label: label)
            return SharedLevelHandler(handler, label: label)
        }
    }
}

/// Passes the messages of the process's level to another handler, and keeps the latest in memory; a level of a single
/// logger is ignored.
private struct SharedLevelHandler: LogHandler {
    private var handler: any LogHandler
    private let label: String

    init(_ handler: any LogHandler, label: String) {
        self.handler = handler
        self.label = label
        self.handler.logLevel = .trace
    }

    var logLevel: Logger.Level {
        get { LogLevel.current }
        set {}
    }

    var metadata: Logger.Metadata {
        get { handler.metadata }
        set { handler.metadata = newValue }
    }

    var metadataProvider: Logger.MetadataProvider? {
        get { handler.metadataProvider }
        set { handler.metadataProvider = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { handler[metadataKey: key] }
        set { handler[metadataKey: key] = newValue }
    }

    func log(event: LogEvent) {
        handler.log(event: event)
        RecentEvents.shared.record(event.level, event.message, metadata: values(of: event), logger: label)
    }

    private func values(of event: LogEvent) -> Logger.Metadata {
        var values = metadata.merging(event.metadata ?? [:]) { $1 }
        if let error = event.error { values["error"] = "\(error)" }
        return values
    }
}
