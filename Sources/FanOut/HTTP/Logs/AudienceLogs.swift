public import Foundation
public import Media
public import NIOCore
public import Stage
import Synchronization

/// Counts the viewers behind a content network by its log: a line of JSON for each request that it answered for us.
///
/// Each is taken like the request of that player itself, with what it says and with what is never counted, only later:
/// `LogReplay` says when.
public final class AudienceLogs: Sendable {
    /// Why a log is not read at all.
    public enum Fault: Error, Equatable {
        /// More than is read at a time.
        case tooLarge
        /// Said to be a gzip file, and is none.
        case notGzip
        /// As many logs are being read as may be.
        case busy
    }

    private struct State {
        var replay = LogReplay<LoggedRequest>()
        var total = LogReceipt()
        var reading = 0
    }

    /// Most bytes of a log as it is sent.
    public static let bodyLimit = 8 << 20
    /// Most bytes of a log when it is expanded.
    public static let textLimit = 32 << 20
    /// Logs that are read at a time.
    private static let readers = 4
    /// Lines after which others get a turn.
    private static let linesPerTurn = 256

    private let audience: any AudienceObserving
    private let takesDevices: Bool
    private let clock: any MonotonicClock
    private let wall: @Sendable () -> Date
    private let isOn: @Sendable (String) -> Bool
    private let state = Mutex(State())

    /// - Parameters:
    ///   - takesDevices: Whether ids that devices keep for themselves are used.
    ///   - clock: The audience's.
    ///   - wall: What lines' times are compared with.
    ///   - isOn: Whether there is a program of a room; nobody is counted in one that is over.
    public init(
        audience: any AudienceObserving,
        takesDevices: Bool = false,
        clock: any MonotonicClock = SystemClock(),
        wall: @escaping @Sendable () -> Date = { Date() },
        isOn: @escaping @Sendable (_ room: String) -> Bool
    ) {
        self.audience = audience
        self.takesDevices = takesDevices
        self.clock = clock
        self.wall = wall
        self.isOn = isOn
    }

    /// What became of all lines until now.
    public var total: LogReceipt { state.withLock { $0.total } }

    /// Takes a log, lines of JSON.
    ///
    /// - Parameters:
    ///   - isCompressed: Whether it is a gzip file.
    ///   - name: Whose log it is.
    ///   - room: The one room that it may tell of; nil for all.
    public func take(
        _ body: ByteBuffer,
        isCompressed: Bool,
        of name: String,
        room: String? = nil
    ) async throws(Fault) -> LogReceipt {
        guard beginReading() else { throw .busy }
        defer { state.withLock { $0.reading -= 1 } }
        var body = body
        if isCompressed {
            switch Gzip.expand(body, limit: Self.textLimit) {
            case .success(let text): body = text
            case .failure(.tooLarge): throw .tooLarge
            case .failure(.damaged): throw .notGzip
            }
        }
        guard body.readableBytes <= Self.textLimit else { throw .tooLarge }
        var receipt = LogReceipt()
        var requests: [LoggedRequest] = []
        var count = 0
        for line in body.readableBytesView.split(whereSeparator: { $0 == 10 || $0 == 13 }) {
            switch read(line) {
            case .success(let request) where room == nil || request.room == room: requests.append(request)
            case .success, .failure(.other): receipt.ignored += 1
            case .failure(.nameless): receipt.nameless += 1
            case .failure(.malformed): receipt.malformed += 1
            }
            count += 1
            if count.isMultiple(of: Self.linesPerTurn) { await Task.yield() }
        }
        let date = wall().timeIntervalSince1970
        let bundle = requests.map { request in
            // Within a century of now, so that whole milliseconds can hold it.
            (entry: request, age: request.date.map { Int64((min(max(date - $0, -4e9), 4e9) * 1000).rounded()) })
        }
        return state.withLock { state in
            let outcome = state.replay.add(bundle, of: name, at: clock.now.milliseconds)
            receipt.taken = outcome.taken
            receipt.late = outcome.late
            receipt.dropped = outcome.dropped
            state.total += receipt
            return receipt
        }
    }

    private func beginReading() -> Bool {
        state.withLock { state in
            guard state.reading < Self.readers else { return false }
            state.reading += 1
            return true
        }
    }

    private func read(_ line: ByteBufferView) -> Result<LoggedRequest, LoggedRequest.Fault> {
        // Most of a log is segments, which no names stand on: those are not taken apart.
        if line.first == UInt8(ascii: "{"), line.last == UInt8(ascii: "}"), line.firstRange(of: ".m3u8".utf8) == nil {
            return .failure(line.count <= LogLine.limit ? .other : .malformed)
        }
        do throws(LoggedRequest.Fault) {
            return .success(try LoggedRequest(Data(line), takesDevices: takesDevices))
        } catch {
            return .failure(error)
        }
    }

    // MARK: Counting

    /// Counts what is due; to be called about once a second.
    public func advance() {
        for (request, due) in state.withLock({ $0.replay.takeDue(at: clock.now.milliseconds) }) {
            count(request, at: MonotonicTime(nanoseconds: due * 1_000_000))
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
                isElsewhere: true
            )
        )
    }
}
