import Foundation
import GatewayModel
import HTTPTypes
import Hummingbird
import Media
import NIOCore
import Stage
import Synchronization

/// The figures of all rooms as server-sent events: one a second at most, written once for all who read them.
///
/// Every event is whole, and comes when a figure has changed; where none does, one comes all the same now and then, as a
/// sign of life that scripts can see, for a browser keeps comments to itself. A reader that comes back with the last one that it knows gets those of the last five minutes that
/// it missed, for what it draws over time; and they are made for so long, even if nobody reads.
final class TotalsStream: Sendable {
    private struct State {
        var readers = 0
        /// The oldest first.
        var frames: [EventStream.Frame] = []
        var bytes = 0
        /// What the newest says, but for its moment.
        var latest: ViewershipTotalsResource?
        var madeAt: MonotonicTime?
        /// When it was last looked whether there is news.
        var askedAt: MonotonicTime?
        /// When the last reader went; nil before the first.
        var leftAt: MonotonicTime?
    }

    /// Streams that are open at once.
    private static let limit = 200
    private static let interval = 1.0
    /// Seconds after which an event comes without news.
    private static let silence = 15.0
    /// How many events are kept, and how much of them in bytes.
    private static let kept = (frames: 300, bytes: 4 << 20)

    private let clock: any MonotonicClock
    private let state = Mutex(State())

    init(clock: any MonotonicClock = SystemClock()) {
        self.clock = clock
    }

    /// An answer that goes on until the client is gone.
    ///
    /// - Parameters:
    ///   - client: Its client's place, held until it ends.
    ///   - isRefused: Whether the reader may read no more.
    /// - Throws: 53006 while too many are open.
    func response(
        to request: Request,
        client: ClientPlace? = nil,
        isRefused: @escaping @Sendable () -> Bool,
        totals: @escaping @Sendable () -> ViewershipTotalsResource
    ) throws(StageError) -> Response {
        let hasPlace = state.withLock { state in
            guard state.readers < Self.limit else { return false }
            state.readers += 1
            return true
        }
        guard hasPlace else { throw .serverBusy(retryAfter: 5) }
        let place = ReaderPlace { [weak self] in
            client?.leave()
            guard let self else { return }
            let now = clock.now
            state.withLock { state in
                state.readers -= 1
                state.leftAt = now
            }
        }
        let known = request.headers[.lastEventID] ?? request.uri.queryParameters.get("last_event_id")
        let missed = known.flatMap { UInt64($0) }.map { frames(after: $0) } ?? []
        return EventStream.response(
            to: request,
            place: place,
            missed: missed,
            every: .seconds(Self.interval),
            isRefused: isRefused,
            newest: { [self] in try frame(totals) }
        )
    }

    /// Makes the event of this second while nobody reads but somebody who did may come back; to be called once a second.
    func keep(totals: () -> ViewershipTotalsResource) {
        let now = clock.now
        let isWanted = state.withLock { state in
            guard state.readers == 0, let left = state.leftAt else { return false }
            return now.seconds(since: left) < Double(Self.kept.frames) * Self.interval
        }
        // What cannot be written now is not missed by anybody: the next one is whole too.
        if isWanted { _ = try? frame(totals) }
    }

    /// What came after an event; nothing when that is not one of those that are kept.
    private func frames(after number: UInt64) -> [EventStream.Frame] {
        state.withLock { state in
            guard let place = state.frames.firstIndex(where: { $0.number == number }) else { return [] }
            return Array(state.frames[(place + 1)...])
        }
    }

    /// The newest event, written by the first who wants it once there is something to tell.
    func frame(_ totals: () -> ViewershipTotalsResource) throws -> EventStream.Frame {
        let now = clock.now
        let known = state.withLock { state -> EventStream.Frame? in
            guard let at = state.askedAt, now.seconds(since: at) < Self.interval * 0.9 else { return nil }
            return state.frames.last
        }
        if let known { return known }
        let totals = totals()
        let timeless = totals.timeless
        let unchanged = state.withLock { state -> EventStream.Frame? in
            guard timeless == state.latest, let at = state.madeAt, now.seconds(since: at) < Self.silence else {
                return nil
            }
            state.askedAt = now
            return state.frames.last
        }
        if let unchanged { return unchanged }
        let data = try WireJSON.encode(totals)
        // Milliseconds since 1970: a number of an earlier run is never one of this.
        let moment = UInt64(max(0, Date().timeIntervalSince1970 * 1000))
        return state.withLock { state in
            let number = max(moment, (state.frames.last?.number ?? 0) + 1)
            var bytes = ByteBuffer(string: "id: \(number)\nevent: viewership\ndata: ")
            bytes.writeBytes(data)
            bytes.writeString("\n\n")
            let frame = EventStream.Frame(number: number, bytes: bytes)
            state.frames.append(frame)
            state.bytes += bytes.readableBytes
            while state.frames.count > 1, state.frames.count > Self.kept.frames || state.bytes > Self.kept.bytes {
                state.bytes -= state.frames.removeFirst().bytes.readableBytes
            }
            (state.latest, state.madeAt, state.askedAt) = (timeless, now, now)
            return frame
        }
    }
}
