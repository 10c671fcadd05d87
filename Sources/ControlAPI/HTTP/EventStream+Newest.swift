import Hummingbird
import Media
import NIOCore
import ServiceLifecycle

extension EventStream {
    /// An event as bytes, written once for all its readers.
    struct Frame: Sendable {
        /// Not 0, and no other event's of the stream.
        let number: UInt64
        let bytes: ByteBuffer
    }

    /// Seconds after which a stream on which nothing comes says so.
    private static let ping = 15.0

    /// An answer of whatever is the newest event at each look, until the client is gone, there will be no more, or the
    /// gateway is to stop: the client comes back to the next one.
    ///
    /// - Parameters:
    ///   - place: The reader's, held until then.
    ///   - missed: The events that it is given first.
    ///   - pause: Between two looks. Who is slow takes longer, and never gets what came between.
    ///   - isRefused: Whether the reader may read no more; asked at each look.
    ///   - newest: Nil while there is none.
    ///   - isOver: Whether there will be no more; asked only where nothing comes.
    static func response(
        to request: Request,
        place: ReaderPlace,
        missed: [Frame] = [],
        every pause: Duration,
        isRefused: @escaping @Sendable () -> Bool,
        newest: @escaping @Sendable () throws -> Frame?,
        isOver: @escaping @Sendable () -> Bool = { false }
    ) -> Response {
        response(to: request, onEnd: place.leave) { writer in
            var last = (number: UInt64(0), at: MonotonicTime.now())
            for frame in missed {
                try await writer.write(frame.bytes)
                last = (frame.number, .now())
            }
            while !Task.isCancelled, !Task.isShuttingDownGracefully, !place.isGone, !isRefused() {
                if let frame = try newest(), frame.number != last.number {
                    try await writer.write(frame.bytes)
                    last = (frame.number, .now())
                } else if MonotonicTime.now().seconds(since: last.at) >= ping {
                    guard !isOver() else { break }
                    try await writer.write(ByteBuffer(string: ": ping\n\n"))
                    last.at = .now()
                }
                // Cancellation ends the sleep and, with it, the loop.
                try? await Task.sleep(for: pause)
            }
        }
    }
}
