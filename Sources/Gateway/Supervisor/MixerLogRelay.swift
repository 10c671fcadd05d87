import Foundation
import Glibc
import Logging
import Media
import MixerProcess

/// Passes what a mixer process writes to its standard error on to the log of this process.
///
/// The mixer's log messages are logged again by a logger of this process, in its format and from its level on, so that
/// they are among the recent events. Other text, such as the trace of a crash, is written as it is. Whoever sends media
/// to a mixer may have taken it over: the names of room and logger are not taken from it, and its lines are limited.
final class MixerLogRelay: Sendable {
    /// The most bytes of a line; the rest of a longer one is a line of its own.
    static let longestLine = 16 * 1024
    /// The most lines of a minute; more are dropped and counted.
    static let linesPerMinute = 600

    /// The mixer's standard error; closed by `started`.
    let mixerEnd: Int32
    private let end: Int32
    private let room: String
    private let logger: Logger
    private let writeText: @Sendable (_ line: String) -> Void

    /// - Parameter writeText: Receives each line that is no log message; by default it is written to the standard error
    ///   stream.
    init(
        room: String,
        logger: Logger = Logger(label: "footlight.mixer"),
        writeText: @escaping @Sendable (_ line: String) -> Void = { JSONLogHandler.writeToStandardError($0 + "\n") }
    ) throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (end, mixerEnd) = (ends[0], ends[1])
        self.room = room
        self.logger = logger
        self.writeText = writeText
    }

    /// Relays until the mixer, which has inherited its end, exits.
    func started() {
        close(mixerEnd)
        let thread = WorkerThread(name: "mixer-log", stackSize: WorkerThread.smallStack) { self.relay() }
        if !thread.hasStarted { close(end) }
    }

    /// Closes both ends after a failed start.
    func abandon() {
        close(mixerEnd)
        close(end)
    }

    private func relay() {
        var budget = Budget()
        var line: [UInt8] = []
        var bytes = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(end, &bytes, bytes.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            for byte in bytes[..<count] {
                let isEnd = byte == UInt8(ascii: "\n")
                if !isEnd { line.append(byte) }
                guard isEnd || line.count == Self.longestLine else { continue }
                pass(line, &budget)
                line.removeAll(keepingCapacity: true)
            }
        }
        pass(line, &budget)
        reportDropped(&budget)
        close(end)
    }

    private func pass(_ line: [UInt8], _ budget: inout Budget) {
        guard !line.isEmpty else { return }
        if budget.isOver(at: .now()) { reportDropped(&budget) }
        guard budget.takes() else { return }
        guard let message = try? JSONDecoder().decode(JSONLogLine.self, from: Data(line)),
            let level = Logger.Level(rawValue: message.level)
        else { return writeText(String(decoding: line, as: UTF8.self)) }
        var metadata = message.metadata
        metadata["room"] = "\(room)"
        // A line of the log is one message.
        let text = message.message.split(whereSeparator: \.isNewline).joined(separator: " ")
        logger.log(level: level, "\(text)", metadata: metadata)
    }

    private func reportDropped(_ budget: inout Budget) {
        let dropped = budget.restart(at: .now())
        guard dropped > 0 else { return }
        logger.warning(
            "mixer wrote more than the log takes",
            metadata: ["room": "\(room)", "dropped_lines": "\(dropped)"]
        )
    }

    /// The lines of the present minute.
    private struct Budget {
        private var start = MonotonicTime.now()
        private var lines = 0
        private var dropped = 0

        func isOver(at now: MonotonicTime) -> Bool { now.seconds(since: start) >= 60 }

        /// Counts a line; returns whether it is passed on.
        mutating func takes() -> Bool {
            lines += 1
            if lines > MixerLogRelay.linesPerMinute { dropped += 1 }
            return lines <= MixerLogRelay.linesPerMinute
        }

        /// Begins another minute; returns how many lines of the last one were dropped.
        mutating func restart(at now: MonotonicTime) -> Int {
            let former = dropped
            (start, lines, dropped) = (now, 0, 0)
            return former
        }
    }
}
