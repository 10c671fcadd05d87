public import Foundation
import Glibc
public import Media
public import NIOCore
public import Stage
import Synchronization

/// Counts the viewers behind a content network by its log: a line of JSON for each request that it answered for us.
///
/// Each is taken like the request of that player itself, with what it says and with what is never counted, as of when it
/// was, only later: `LogReplay` says when.
public final class AudienceLogs: Sendable {
    /// Why a log is not read at all.
    public enum Fault: Error, Equatable {
        /// More than is read at a time.
        case tooLarge
        /// It begins as a gzip file does, and is none.
        case notGzip
        /// As many logs are being read as may be.
        case busy
        /// More lines than are read at a time.
        case tooManyLines
        /// Most lines, or all of a short log, are no JSON, or do not say what was asked for and how that was answered.
        case malformed
        /// Reading it took longer than it may.
        case tooMuchWork
    }

    private struct State {
        var replay: LogReplay<LoggedRequest>
        /// What clients were sent, which proves who watches; apart, so that media never fills the room for requests.
        var media: LogReplay<LoggedMedia>
        /// Logs that report media.
        var mediaLogs: Set<String> = []
        var total = LogReceipt()
        var reading = 0
        /// Whose logs are being received or read.
        var senders: Set<String> = []
        /// What an earlier run had taken and not counted comes first.
        var isResuming = false
    }

    /// Most bytes of a log as it is sent.
    public static let bodyLimit = 8 << 20
    /// Most bytes of a log when it is expanded.
    public static let textLimit = 32 << 20
    /// Most lines of a log.
    public static let lineLimit = 200_000
    /// Longest time for which a log may take a processor, in nanoseconds.
    public static let workLimit: Int64 = 1_000_000_000
    /// Logs that are read at a time.
    private static let readers = 4
    /// Senders whose logs are received at a time.
    private static let senderLimit = 64
    /// Lines after which others get a turn.
    private static let linesPerTurn = 64
    /// Nanoseconds of work after which it rests.
    private static let longestTurn: Int64 = 5_000_000

    private let audience: any AudienceObserving
    private let takesDevices: Bool
    private let clock: any MonotonicClock
    private let wall: @Sendable () -> Date
    private let isOn: @Sendable (String) -> Bool
    private let workLimit: Int64
    private let spool: LogSpool?
    private let state: Mutex<State>

    /// - Parameters:
    ///   - takesDevices: Whether ids that devices keep for themselves are used.
    ///   - clock: The audience's.
    ///   - wall: What lines' times are compared with.
    ///   - lateness: The greatest age in which a line is taken, in seconds.
    ///   - workLimit: Longest time for which a log may take a processor, in nanoseconds.
    ///   - spool: Keeps what is not counted yet for a later run; nil where a kill may lose it.
    ///   - isOn: Whether there is a program of a room; nobody is counted in one that is over.
    public init(
        audience: any AudienceObserving,
        takesDevices: Bool = false,
        clock: any MonotonicClock = SystemClock(),
        wall: @escaping @Sendable () -> Date = { Date() },
        lateness: Int = 90,
        workLimit: Int64 = AudienceLogs.workLimit,
        spool: LogSpool? = nil,
        isOn: @escaping @Sendable (_ room: String) -> Bool
    ) {
        self.audience = audience
        self.takesDevices = takesDevices
        self.clock = clock
        self.wall = wall
        self.isOn = isOn
        self.workLimit = workLimit
        self.spool = spool
        let longestLag = Int64(lateness) * 1000
        state = Mutex(State(replay: LogReplay(longestLag: longestLag), media: LogReplay(longestLag: longestLag)))
    }

    /// By how much the slowest log lags behind, in milliseconds: what is counted by logs is of that long ago.
    public var lag: Int64 { state.withLock { $0.replay.lag } }

    /// What became of all lines until now.
    public var total: LogReceipt { state.withLock { $0.total } }

    /// Logs that could not be spooled: a kill would have lost their lines that were not counted yet.
    public var unspooled: Int { spool?.failures ?? 0 }

    /// Takes a log, lines of JSON, as it is or as a gzip file.
    ///
    /// - Parameters:
    ///   - name: Whose log it is.
    ///   - room: The one room that it may tell of; nil for all.
    /// - Throws: A fault, and then no line of the log counts.
    public func take(
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

    /// Takes once more what an earlier run had taken and may not have counted; until that is done nothing is counted.
    ///
    /// - Parameter moment: Lines of before it were counted, milliseconds since 1970; nil where there was no earlier run.
    /// - Returns: The work; nil where there is none.
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
                // One that was damaged is lost, and so is a log that would have been refused.
                guard let entry = await spool.entry(file), let reading = try? await read(entry.body, room: entry.room)
                else { continue }
                let resumed = (from: Double(moment) / 1000, lag: entry.lag)
                _ = add(reading, of: entry.name, at: wall().timeIntervalSince1970, resumed)
            }
            state.withLock { $0.isResuming = false }
        }
    }

    private func read(_ body: ByteBuffer, room: String?) async throws(Fault) -> LogReading {
        var spent: Int64 = 0
        var start = Self.processorTime
        let body = Gzip.isGzip(body) ? try Self.expanded(body) : body
        guard body.readableBytes <= Self.textLimit else { throw .tooLarge }
        guard LogReading.lineCount(of: body, limit: Self.lineLimit) <= Self.lineLimit else { throw .tooManyLines }
        var reading = LogReading(body, room: room, takesDevices: takesDevices)
        var owed: Int64 = 0
        while !reading.isAtEnd {
            reading.read(lines: Self.linesPerTurn)
            guard !reading.isMalformed else { throw .malformed }
            let turn = Self.processorTime - start
            spent += turn
            owed += turn
            guard spent <= workLimit else { throw .tooMuchWork }
            if owed >= Self.longestTurn {
                // As long as it worked others work, so that no log takes more than half a processor.
                try? await Task.sleep(nanoseconds: UInt64(owed))
                owed = 0
            } else {
                await Task.yield()
            }
            // It may go on on another thread.
            start = Self.processorTime
        }
        guard !reading.isWhollyMalformed else { throw .malformed }
        return reading
    }

    /// Lets the lines of a log wait for their turn.
    ///
    /// - Parameters:
    ///   - date: The present moment, in seconds since 1970.
    ///   - resumed: Of a log that was taken by an earlier run, from when on its lines count, in seconds since 1970, and by how
    ///     much it was known to lag then; lines of before, and those without a time, were counted.
    private func add(
        _ reading: LogReading,
        of name: String,
        at date: Double,
        _ resumed: (from: Double, lag: Int64)? = nil
    ) -> LogReceipt {
        func line<Entry>(_ entry: Entry, _ moment: Double?, mark: UInt64? = nil) -> LogReplay<Entry>.Line {
            // Within a century of now, so that whole milliseconds can hold it.
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
            state.replay.remember(counted, at: now)
            let outcome = state.replay.add(bundle, of: name, at: now, lag: resumed?.lag)
            // Media counts behind the playlist that it belongs to: both wait equally long.
            let longer = max(state.media.lag(of: name), state.replay.lag(of: name))
            state.media.raiseLag(of: name, to: longer)
            state.replay.raiseLag(of: name, to: longer)
            receipt.taken = outcome.taken
            receipt.late = outcome.late
            receipt.dropped = outcome.dropped
            receipt.repeated = outcome.repeated
            // The run that took it first has added it.
            if resumed == nil { state.total += receipt }
            return (receipt, state.replay.lag)
        }
        // At once: until the lines come that wait for it, nobody is to be missed.
        audience.logsLag(milliseconds: lag)
        return receipt
    }

    /// Begins to receive a log; nobody sends two at a time.
    ///
    /// - Returns: Whether it may be sent; then `endReceiving` is to be called.
    public func beginReceiving(of name: String) -> Bool {
        state.withLock { state in
            guard state.senders.count < Self.senderLimit else { return false }
            return state.senders.insert(name).inserted
        }
    }

    /// The log was received and read, or was not.
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

    /// The time for which this thread has used a processor, in nanoseconds.
    private static var processorTime: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    // MARK: Counting

    /// For how long a log is kept behind the moment at which its lines are counted, in milliseconds: until what was counted
    /// is written, and who was counted by it is proven to watch.
    public static let spoolMargin: Int64 = 15_000

    /// Counts what is due; to be called about once a second.
    public func advance() {
        let now = clock.now.milliseconds
        let due = state.withLock { state in
            state.isResuming ? nil : (state.media.takeDue(at: now), state.replay.takeDue(at: now))
        }
        guard let (media, requests) = due else { return }
        spool?.remove(before: Int64(wall().timeIntervalSince1970 * 1000) - lag - Self.spoolMargin)
        for (file, time) in media where file.sid == nil {
            let moment = MonotonicTime(nanoseconds: time * 1_000_000)
            audience.mediaServed(in: file.room, to: file.client, over: nil, at: moment)
        }
        for (request, time) in requests { count(request, at: MonotonicTime(nanoseconds: time * 1_000_000)) }
        // A session is known from its first playlist on.
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
                isElsewhere: true,
                isLogged: true,
                isMediaSeen: request.isMediaSeen
            )
        )
    }
}
