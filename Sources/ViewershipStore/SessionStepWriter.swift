import Logging
import Stage
import Viewership

/// Writes the steps of sessions to their log.
///
/// A log that cannot be opened or written is tried again each second; what was to be written meanwhile is not kept.
struct SessionStepWriter {
    /// Writes between two tries to open the log.
    private static let turnsPerTry = 20

    private let path: String
    private let logger: Logger
    private var log: SessionStepLog?
    /// A process that ends in order writes no more.
    private(set) var isClosed = false
    private var turns = 0
    private var hasFailed = false

    init(path: String, logger: Logger) {
        self.path = path
        self.logger = logger
    }

    /// - Returns: Whether it is written.
    mutating func write(livesUntil moment: Int64, _ steps: [SessionStep]) -> Bool {
        guard !isClosed else { return false }
        if log == nil {
            defer { turns += 1 }
            guard turns % Self.turnsPerTry == 0 else { return false }
            log = SessionStepLog(path: path)
        }
        guard log?.write(livesUntil: moment, steps) == true else {
            log?.close()
            log = nil
            turns = 1
            note(hasFailed: true)
            return false
        }
        note(hasFailed: false)
        return true
    }

    /// Ends as a process does that is not killed: nothing is left to tell of it.
    mutating func close() {
        isClosed = true
        _ = log?.write(livesUntil: 0, [])
        log?.close()
        log = nil
    }

    private mutating func note(hasFailed: Bool) {
        guard hasFailed != self.hasFailed else { return }
        self.hasFailed = hasFailed
        logger.log(
            level: hasFailed ? .warning : .notice,
            hasFailed
                ? "the latest steps of viewers cannot be written; a kill would lose them"
                : "the latest steps of viewers are written again",
            metadata: ["file": "\(path)"]
        )
    }
}
