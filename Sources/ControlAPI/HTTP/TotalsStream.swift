import GatewayModel
import HTTPTypes
import Hummingbird
import Media
import NIOCore
import Stage
import Synchronization

/// The figures of all rooms as server-sent events: one a second at most, written once for all who read them.
///
/// Every event is whole, so a reader that comes back needs none of those that it missed.
final class TotalsStream: Sendable {
    private struct State {
        var readers = 0
        var number: UInt64 = 0
        var frame = ByteBuffer()
        var madeAt: MonotonicTime?
    }

    /// Streams that are open at once.
    private static let limit = 200
    private static let interval = 1.0
    /// Seconds after which a stream on which nothing changes says so.
    private static let ping = 15.0

    private let state = Mutex(State())

    /// An answer that goes on until the client is gone.
    ///
    /// - Throws: 53006 while too many are open.
    func response(
        to request: Request,
        totals: @escaping @Sendable () -> ViewershipTotalsResource
    ) throws(StageError) -> Response {
        let hasPlace = state.withLock { state in
            guard state.readers < Self.limit else { return false }
            state.readers += 1
            return true
        }
        guard hasPlace else { throw .serverBusy(retryAfter: 5) }
        let place = ReaderPlace { [weak self] in self?.state.withLock { $0.readers -= 1 } }
        return Response(
            status: .ok,
            headers: [.contentType: "text/event-stream", .cacheControl: "no-store", .accelBuffering: "no"],
            body: ResponseBody { [self] writer in
                defer { withExtendedLifetime(place) {} }
                try await request.body.consumeWithInboundCloseHandler { _ in
                    try await writer.write(ByteBuffer(string: "retry: 2000\n\n"))
                    var last: (number: UInt64, at: MonotonicTime)?
                    while !Task.isCancelled, !place.isGone {
                        let (number, frame) = try self.frame(totals)
                        if number != last?.number {
                            try await writer.write(frame)
                            last = (number, .now())
                        } else if let at = last?.at, MonotonicTime.now().seconds(since: at) >= Self.ping {
                            try await writer.write(ByteBuffer(string: ": ping\n\n"))
                            last?.at = .now()
                        }
                        // Cancellation ends the sleep and, with it, the loop.
                        try? await Task.sleep(for: .seconds(Self.interval))
                    }
                } onInboundClosed: {
                    place.leave()
                }
                try await writer.finish(nil)
            }
        )
    }

    /// The event of this second, written by the first who wants it.
    private func frame(_ totals: () -> ViewershipTotalsResource) throws -> (number: UInt64, frame: ByteBuffer) {
        let now = MonotonicTime.now()
        let known = state.withLock { state -> (UInt64, ByteBuffer)? in
            guard let at = state.madeAt, now.seconds(since: at) < Self.interval * 0.9 else { return nil }
            return (state.number, state.frame)
        }
        if let known { return known }
        let data = try WireJSON.encode(totals())
        return state.withLock { state in
            state.number += 1
            state.madeAt = now
            state.frame = ByteBuffer(string: "id: \(state.number)\nevent: viewership\ndata: ")
            state.frame.writeBytes(data)
            state.frame.writeString("\n\n")
            return (state.number, state.frame)
        }
    }
}

/// A reader's place in the stream, free again when nobody holds it.
private final class ReaderPlace: Sendable {
    private let isLeft = Atomic<Bool>(false)
    private let onEnd: @Sendable () -> Void

    init(onEnd: @escaping @Sendable () -> Void) {
        self.onEnd = onEnd
    }

    deinit {
        onEnd()
    }

    var isGone: Bool { isLeft.load(ordering: .relaxed) }

    func leave() {
        isLeft.store(true, ordering: .relaxed)
    }
}
