import Foundation
import Glibc
package import Logging

/// Writes each log message as one line of JSON to the standard error stream, for programs that collect logs.
///
/// A line has `time` (UTC, ISO 8601), `level`, `logger`, `message`, and the message's metadata as `metadata`.
package struct JSONLogHandler: LogHandler {
    /// The value of `log.format` that selects this handler; also that of its environment variable.
    package static let format = "json"
    /// The environment variable by which a mixer learns the format, in which the gateway reads its messages.
    package static let variable = "FOOTLIGHT_LOG_FORMAT"

    private let label: String
    private let write: @Sendable (_ line: String) -> Void
    package var logLevel = Logger.Level.info
    package var metadata = Logger.Metadata()
    package var metadataProvider: Logger.MetadataProvider?

    /// - Parameter write: Receives each line with its line feed; by default it is written to the standard error stream.
    package init(label: String, write: @escaping @Sendable (_ line: String) -> Void = Self.writeToStandardError) {
        self.label = label
        self.write = write
    }

    /// Makes this the format of the process; call it once, before the first logger is made.
    package static func bootstrap() {
        LoggingSystem.bootstrap { label in JSONLogHandler(label: label) }
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        var all = metadata
        if let provided = metadataProvider?.get() { all.merge(provided) { $1 } }
        if let own = event.metadata { all.merge(own) { $1 } }
        if let error = event.error { all["error"] = "\(error)" }
        let line = JSONLogLine(
            time: Date().formatted(Self.timeFormat),
            level: event.level,
            logger: label,
            message: event.message.description,
            metadata: all
        )
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Encoding strings does not fail.
        guard let data = try? encoder.encode(line) else { return }
        write(String(decoding: data, as: UTF8.self) + "\n")
    }

    private static let timeFormat = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    /// One write per line, so that the lines of several threads do not mix.
    package static let writeToStandardError: @Sendable (String) -> Void = { line in
        var line = line
        line.withUTF8 { bytes in _ = Glibc.write(STDERR_FILENO, bytes.baseAddress, bytes.count) }
    }
}
