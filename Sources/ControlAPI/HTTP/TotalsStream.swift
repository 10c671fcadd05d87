import Foundation
import FootlightModel
import HTTPTypes
import Hummingbird
import Media
import NIOCore
import Stage
import Synchronization

/// Sends the viewership of all rooms as server-sent events: at most one per second, encoded once for all readers.
///
/// Every event is complete, and is sent when a figure has changed, or every 15 s as a keep-alive that scripts can
/// observe. The events of the last five minutes are retained: a client that reconnects with its last event id receives
/// those it missed. After the last reader left, events are rendered for that time.
final class TotalsStream: Sendable {
    private struct State {
        var readers = 0
        /// The retained events, the oldest first.
        var frames: [EventStream.Frame] = []
        var bytes = 0
        /// The latest event's content without its time.
        var latest: ViewershipTotalsResource?
        var renderedAt: MonotonicTime?
        /// The time of the last check for changes.
        var checkedAt: MonotonicTime?
        /// The time when the last reader left; nil before the first.
        var lastReaderLeftAt: MonotonicTime?
    }

    /// Maximum number of open streams.
    private static let limit = 200
    private static let interval = 1.0
    /// The interval in seconds after which an unchanged event is sent.
    private static let keepAliveInterval = 15.0
    /// Maximum number of retained events, and their maximum size in bytes.
    private static let retention = (frames: 300, bytes: 4 << 20)

    private let clock: any MonotonicClock
    private let state = Mutex(State())

    init(clock: any MonotonicClock = SystemClock()) {
        self.clock = clock
    }

    /// Returns a response that runs until the client disconnects.
    ///
    /// - Parameters:
    ///   - client: The client's slot, retained until the response ends.
    ///   - isRefused: Whether the reader's token is no longer valid.
    /// - Throws: 53006 if too many streams are open.
    func response(
        to request: Request,
        client: ClientSlot? = nil,
        isRefused: @escaping @Sendable () -> Bool,
        totals: @escaping @Sendable () -> ViewershipTotalsResource
    ) throws(StageError) -> Response {
        let isAdmitted = state.withLock { state in
            guard state.readers < Self.limit else { return false }
            state.readers += 1
            return true
        }
        guard isAdmitted else { throw .serverBusy(retryAfter: 5) }
        let slot = ReaderSlot { [weak self] in
            client?.leave()
            guard let self else { return }
            let now = clock.now
            state.withLock { state in
                state.readers -= 1
                state.lastReaderLeftAt = now
            }
        }
        let cached = request.headers[.lastEventID] ?? request.uri.queryParameters.get("last_event_id")
        let missedFrames = cached.flatMap { UInt64($0) }.map { frames(after: $0) } ?? []
        return EventStream.response(
            to: request,
            slot: slot,
            missed: missedFrames,
            every: .seconds(Self.interval),
            isRefused: isRefused,
            newest: { [self] in try frame(totals) }
        )
    }

    /// Renders the event of this second while no reader is connected but one may reconnect; to be called once a second.
    func record(totals: () -> ViewershipTotalsResource) {
        let now = clock.now
        let isNeeded = state.withLock { state in
            guard state.readers == 0, let left = state.lastReaderLeftAt else { return false }
            return now.seconds(since: left) < Double(Self.retention.frames) * Self.interval
        }
        // An event that cannot be encoded is skipped: the next one is complete too.
        if isNeeded { _ = try? frame(totals) }
    }

    /// Returns the events after a number; empty if that event is not retained.
    private func frames(after number: UInt64) -> [EventStream.Frame] {
        state.withLock { state in
            guard let slot = state.frames.firstIndex(where: { $0.number == number }) else { return [] }
            return Array(state.frames[(slot + 1)...])
        }
    }

    /// Returns the latest event; the first caller of an interval renders it if a figure has changed.
    func frame(_ totals: () -> ViewershipTotalsResource) throws -> EventStream.Frame {
        let now = clock.now
        let cached = state.withLock { state -> EventStream.Frame? in
            guard let at = state.checkedAt, now.seconds(since: at) < Self.interval * 0.9 else { return nil }
            return state.frames.last
        }
        if let cached { return cached }
        let totals = totals()
        let withoutTimestamp = totals.withoutTimestamp
        let unchanged = state.withLock { state -> EventStream.Frame? in
            guard withoutTimestamp == state.latest, let at = state.renderedAt,
                now.seconds(since: at) < Self.keepAliveInterval
            else {
                return nil
            }
            state.checkedAt = now
            return state.frames.last
        }
        if let unchanged { return unchanged }
        let data = try WireJSON.encode(totals)
        // Milliseconds since 1970, so that numbers of an earlier run are always lower.
        let moment = UInt64(max(0, Date().timeIntervalSince1970 * 1000))
        return state.withLock { state in
            let number = max(moment, (state.frames.last?.number ?? 0) + 1)
            var bytes = ByteBuffer(string: "id: \(number)\nevent: viewership\ndata: ")
            bytes.writeBytes(data)
            bytes.writeString("\n\n")
            let frame = EventStream.Frame(number: number, bytes: bytes)
            state.frames.append(frame)
            state.bytes += bytes.readableBytes
            while state.frames.count > 1,
                state.frames.count > Self.retention.frames || state.bytes > Self.retention.bytes
            {
                state.bytes -= state.frames.removeFirst().bytes.readableBytes
            }
            (state.latest, state.renderedAt, state.checkedAt) = (withoutTimestamp, now, now)
            return frame
        }
    }
}
