public import Foundation
import Glibc
public import Media
public import NIOCore
public import Stage
import Synchronization

/// Counts the viewers behind a CDN by its access log: one JSON line for each request that the CDN answered.
///
/// Each line is treated like the player's own request, with the same admission rules and the line's own time, but is
/// counted later, when `LogReplay` releases it.
public final class CDNLogReader: Sendable {
    /// The reason why a log is rejected as a whole.
    public enum Fault: Error, Equatable {
        /// The log exceeds the maximum size.
        case tooLarge
        /// The log starts with the gzip magic number but is no valid gzip file.
        case notGzip
        /// The maximum number of logs is being parsed already.
        case busy
        /// The log exceeds the maximum number of lines.
        case tooManyLines
        /// Most lines, or all lines of a short log, are no JSON or lack the request or its status.
        case malformed
        /// Parsing exceeded the CPU time limit.
        case tooMuchWork
    }

    private struct State {
        var replay: LogReplay<LoggedRequest>
        /// Media sent to clients, which proves who watches; apart, so that media never fills the room for requests.
        var media: LogReplay<LoggedMedia>
        /// The names of logs that report media.
        var mediaLogs: Set<String> = []
        var total = LogReceipt()
        var reading = 0
        /// The senders whose logs are being received or parsed.
        var senders: Set<String> = []
        /// Whether logs of an earlier run are still being replayed; they come first.
        var isResuming = false
    }

    /// The maximum size of a log as sent, in bytes.
    public static let bodyLimit = 8 << 20
    /// The maximum size of an expanded log, in bytes.
    public static let textLimit = 32 << 20
    /// The maximum number of lines of a log.
    public static let lineLimit = 200_000
    /// The default limit for the CPU time of a log, in nanoseconds.
    public static let workLimit: Int64 = 1_000_000_000
    /// The maximum number of logs parsed concurrently.
    private static let readers = 4
    /// The maximum number of senders whose logs are received concurrently.
    private static let senderLimit = 64
    /// The number of lines after which the task yields.
    private static let linesPerTurn = 64
    /// The CPU time after which the task sleeps, in nanoseconds.
    private static let longestTurn: Int64 = 5_000_000

    private let audience: any AudienceObserving
    private let usesDeviceIDs: Bool
    private let clock: any MonotonicClock
    private let wall: @Sendable () -> Date
    private let isOn: @Sendable (String) -> Bool
    private let workLimit: Int64
    private let spool: LogSpool?
    private let state: Mutex<State>

    /// - Parameters:
    ///   - usesDeviceIDs: Whether persistent device ids are used.
    ///   - clock: The clock of the audience.
    ///   - wall: The wall clock to which the lines' times are compared.
    ///   - lateness: The maximum age of a line, in seconds.
    ///   - capacity: The maximum number of lines that wait, of playlist requests and of media each.
    ///   - workLimit: The maximum CPU time of a log, in nanoseconds.
    ///   - spool: Stores uncounted logs for a later run; nil if a crash may lose them.
    ///   - isOn: Whether a room has a program; viewers of other rooms are not counted.
    public init(
        audience: any AudienceObserving,
        usesDeviceIDs: Bool = false,
        clock: any MonotonicClock = SystemClock(),
        wall: @escaping @Sendable () -> Date = { Date() },
        lateness: Int = 90,
        capacity: Int = 500_000,
        workLimit: Int64 = CDNLogReader.workLimit,
        spool: LogSpool? = nil,
        isOn: @escaping @Sendable (_ room: String) -> Bool
    ) {
        self.audience = audience
        self.usesDeviceIDs = usesDeviceIDs
        self.clock = clock
        self.wall = wall
        self.isOn = isOn
        self.workLimit = workLimit
        self.spool = spool
        let longestLag = Int64(lateness) * 1000
        state = Mutex(
            State(
                replay: LogReplay(longestLag: longestLag, capacity: capacity),
                media: LogReplay(longestLag: longestLag, capacity: capacity)
            )
        )
    }

    /// The lag of the slowest log, in milliseconds.
    public var lag: Int64 { state.withLock { $0.replay.lag } }

    /// The outcome of all lines so far.
    public var total: LogReceipt { state.withLock { $0.total } }

    /// The number of logs that could not be spooled, whose uncounted lines a crash would have lost.
    public var unspooled: Int { spool?.failures ?? 0 }

    /// Accepts a log of JSON lines, plain or gzip-compressed.
    ///
    /// - Parameters:
    ///   - name: The name of the log.
    ///   - room: The only room that the log may report; nil for all rooms.
    /// - Throws: A fault, in which case no line of the log counts.
    public func read(
        _ body: ByteBuffer,
        of name: String,
        room: String? = nil
    ) async throws(Fault) -> LogReceipt {
        guard beginReading() else { throw .busy }
        defer { state.withLock { $0.reading -= 1 } }
        let reading = try await read(body, room: room)
        let date = wall().timeIntervalSince1970
        let receipt = add(reading, of: name, at: date)
        if receipt.taken > 0 || !reading.media.isEmpty, let spool {
            let lag = state.withLock { $0.replay.lag(of: name) }
            await spool.add(LogSpool.Entry(name: name, room: room, lag: lag, received: Int64(date * 1000), body: body))
        }
        return receipt
    }

    /// Replays logs that an earlier run accepted and may not have counted; nothing is counted until it is done.
    ///
    /// - Parameter moment: Lines before this time were counted, in milliseconds since 1970; nil without an earlier run.
    /// - Returns: The replay task; nil if there is nothing to replay.
    @discardableResult
    public func resume(from moment: Int64?) -> Task<Void, Never>? {
        guard let spool else { return nil }
        guard let moment else {
            spool.remove(before: .max)
            return nil
        }
        state.withLock { $0.isResuming = true }
        return Task {
            for file in await spool.files() {
                // Damaged files, and logs that would be rejected, are skipped.
                guard let entry = await spool.entry(file), let reading = try? await read(entry.body, room: entry.room)
                else { continue }
                let resumed = (from: Double(moment) / 1000, lag: entry.lag)
                _ = add(reading, of: entry.name, at: wall().timeIntervalSince1970, resumed)
            }
            state.withLock { $0.isResuming = false }
        }
    }

    private func read(_ body: ByteBuffer, room: String?) async throws(Fault) -> CDNLogParser {
        var spent: Int64 = 0
        var start = Self.processorTime
        let body = Gzip.isGzip(body) ? try Self.expanded(body) : body
        guard body.readableBytes <= Self.textLimit else { throw .tooLarge }
        guard CDNLogParser.lineCount(of: body, limit: Self.lineLimit) <= Self.lineLimit else { throw .tooManyLines }
        var reading = CDNLogParser(body, room: room, usesDeviceIDs: usesDeviceIDs)
        var owed: Int64 = 0
        while !reading.isAtEnd {
            reading.read(lines: Self.linesPerTurn)
            guard !reading.isMalformed else { throw .malformed }
            let turn = Self.processorTime - start
            spent += turn
            owed += turn
            guard spent <= workLimit else { throw .tooMuchWork }
            if owed >= Self.longestTurn {
                // Sleeps as long as it worked, so that no log uses more than half a CPU.
                try? await Task.sleep(nanoseconds: UInt64(owed))
                owed = 0
            } else {
                await Task.yield()
            }
            // The task may resume on another thread.
            start = Self.processorTime
        }
        guard !reading.isWhollyMalformed else { throw .malformed }
        return reading
    }

    /// Schedules the lines of a log for counting.
    ///
    /// - Parameters:
    ///   - date: The current time, in seconds since 1970.
    ///   - resumed: For a log of an earlier run: the time from which its lines count, in seconds since 1970, and its
    ///     lag as known then; earlier lines and lines without a time were counted.
    private func add(
        _ reading: CDNLogParser,
        of name: String,
        at date: Double,
        _ resumed: (from: Double, lag: Int64)? = nil
    ) -> LogReceipt {
        func line<Entry>(_ entry: Entry, _ moment: Double?, mark: UInt64? = nil) -> LogReplay<Entry>.Line {
            // Clamped to about a century, so that it converts to whole milliseconds.
            let age = moment.map { Int64((min(max(date - $0, -4e9), 4e9) * 1000).rounded()) }
            return LogReplay<Entry>.Line(entry: entry, age: age, mark: mark)
        }
        func isCounted(_ moment: Double?) -> Bool { resumed.map { moment ?? 0 < $0.from } ?? false }
        let media = reading.media.filter { !isCounted($0.date) }.map { line($0, $0.date) }
        let (receipt, lag) = state.withLock { state in
            var receipt = reading.receipt
            let now = clock.now.milliseconds
            if !media.isEmpty, state.mediaLogs.count < Self.senderLimit { state.mediaLogs.insert(name) }
            let outcomeOfMedia = state.media.add(media, of: name, at: now, lag: resumed?.lag)
            let isMediaSeen = state.mediaLogs.contains(name) && reading.hasAllMedia && outcomeOfMedia.dropped == 0
            var (counted, bundle) = ([LogReplay<LoggedRequest>.Line](), [LogReplay<LoggedRequest>.Line]())
            for var request in reading.requests {
                request.isMediaSeen = isMediaSeen
                let line = line(request, request.date, mark: request.mark)
                if isCounted(request.date) { counted.append(line) } else { bundle.append(line) }
            }
            state.replay.markSeen(counted, at: now)
            let outcome = state.replay.add(bundle, of: name, at: now, lag: resumed?.lag)
            // Media counts behind the playlist that it belongs to: both wait equally long.
            let longer = max(state.media.lag(of: name), state.replay.lag(of: name))
            state.media.raiseLag(of: name, to: longer)
            state.replay.raiseLag(of: name, to: longer)
            receipt.taken = outcome.taken
            receipt.late = outcome.late
            receipt.dropped = outcome.dropped
            receipt.repeated = outcome.repeated
            // The run that accepted the log first has counted it.
            if resumed == nil { state.total += receipt }
            return (receipt, state.replay.lag)
        }
        // Reported at once, so that sessions do not expire while their lines wait.
        audience.logsLag(milliseconds: lag)
        return receipt
    }

    /// Starts receiving a log; each sender may send one at a time.
    ///
    /// - Returns: Whether the log may be sent; if so, call `endReceiving` afterwards.
    public func beginReceiving(of name: String) -> Bool {
        state.withLock { state in
            guard state.senders.count < Self.senderLimit else { return false }
            return state.senders.insert(name).inserted
        }
    }

    /// Ends receiving a log, whether it was accepted or not.
    public func endReceiving(of name: String) {
        state.withLock { _ = $0.senders.remove(name) }
    }

    private static func expanded(_ body: ByteBuffer) throws(Fault) -> ByteBuffer {
        switch Gzip.expand(body, limit: textLimit) {
        case .success(let text): return text
        case .failure(.tooLarge): throw .tooLarge
        case .failure(.damaged): throw .notGzip
        }
    }

    private func beginReading() -> Bool {
        state.withLock { state in
            guard state.reading < Self.readers else { return false }
            state.reading += 1
            return true
        }
    }

    /// The CPU time of the current thread, in nanoseconds.
    private static var processorTime: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    // MARK: Counting

    /// How long a log is stored after its lines are due, in milliseconds: until the counts are persisted and the
    /// viewers counted by it are proven to watch.
    public static let spoolMargin: Int64 = 15_000

    /// Counts the lines that are due; call about once a second.
    public func advance() {
        let now = clock.now.milliseconds
        let due = state.withLock { state in
            state.isResuming ? nil : (state.media.removeDue(at: now), state.replay.removeDue(at: now))
        }
        guard let (media, requests) = due else { return }
        spool?.remove(before: Int64(wall().timeIntervalSince1970 * 1000) - lag - Self.spoolMargin)
        for (file, time) in media where file.sid == nil {
            let moment = MonotonicTime(nanoseconds: time * 1_000_000)
            audience.mediaServed(in: file.room, to: file.client, over: nil, at: moment)
        }
        for (request, time) in requests { count(request, at: MonotonicTime(nanoseconds: time * 1_000_000)) }
        // A session is known from its first playlist on, so its files are counted after the playlists.
        for (file, time) in media {
            guard let sid = file.sid else { continue }
            audience.record(
                AudienceEvent(
                    sid: sid,
                    room: file.room,
                    playback: .hls,
                    kind: .delivered,
                    at: MonotonicTime(nanoseconds: time * 1_000_000),
                    isLogged: true,
                    isMediaSeen: true
                )
            )
        }
    }

    private func count(_ request: LoggedRequest, at moment: MonotonicTime) {
        guard isOn(request.room) else { return }
        let admission = audience.admit(request.player, to: request.room)
        guard let sid = admission.recordedSID(of: request.player) else { return }
        audience.record(
            AudienceEvent(
                sid: sid,
                room: request.room,
                playback: request.isLowLatency ? .llhls : .hls,
                rendition: request.rendition,
                kind: .playlistServed,
                at: moment,
                isServedElsewhere: true,
                isLogged: true,
                isMediaSeen: request.isMediaSeen
            )
        )
    }
}

/// The outcome of the lines of a log.
public struct LogReceipt: Sendable, Equatable {
    /// Player requests accepted for counting.
    public var taken = 0
    /// Lines about other paths, or about a room that the log may not report.
    public var ignored = 0
    /// Media playlist requests without any viewer id.
    public var nameless = 0
    /// Lines that are no JSON, or lack the request or its status.
    public var malformed = 0
    /// Lines that are too old or too far in the future.
    public var late = 0
    /// Lines dropped because the replay buffer was full.
    public var dropped = 0
    /// Lines received before, in this log or an earlier one.
    public var repeated = 0

    /// Creates a receipt for no lines.
    public init() {}

    static func += (left: inout LogReceipt, right: LogReceipt) {
        left.taken += right.taken
        left.ignored += right.ignored
        left.nameless += right.nameless
        left.malformed += right.malformed
        left.late += right.late
        left.dropped += right.dropped
        left.repeated += right.repeated
    }
}
