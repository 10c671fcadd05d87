import FootlightModel
import HTTPTypes
import Hummingbird
import Media
import NIOCore
import ServiceLifecycle
import Stage
import Synchronization

/// Responses of server-sent events (WHATWG HTML, "Server-sent events").
enum EventStream {
    /// The reconnection time in milliseconds that is sent to clients.
    private static let retry = 2000

    private static let headers: HTTPFields = [
        .contentType: "text/event-stream",
        .cacheControl: "no-store",
        .accelBuffering: "no",
    ]

    /// Returns an event with JSON data and without an id.
    static func event(_ name: String, _ value: some Encodable) throws -> ByteBuffer {
        var bytes = ByteBuffer(string: "event: \(name)\ndata: ")
        bytes.writeBytes(try WireJSON.encode(value))
        bytes.writeString("\n\n")
        return bytes
    }

    /// The response to HEAD, which opens no stream.
    static var head: Response { Response(status: .ok, headers: headers) }

    /// Returns a response that sends a reader's events until they end or the client disconnects.
    ///
    /// The listener closes the connection of a client that stops reading; the stage limits the events that wait for it.
    ///
    /// - Parameter frame: Encodes an event; returns nil for an event that this client does not receive.
    static func response(
        to request: Request,
        stream: ClientEventStream,
        frame: @escaping @Sendable (StageEvent) throws -> ByteBuffer?
    ) -> Response {
        // The session that the stream carried ends with the stream, for whatever reason.
        response(to: request, onEnd: stream.cancel) { writer in
            var latest: StageEvent?
            for await event in stream.events {
                latest = event
                if let bytes = try frame(event) { try await writer.write(bytes) }
            }
            if let last = stream.finalEvent(after: latest), let bytes = try frame(last) {
                try await writer.write(bytes)
            }
        }
    }

    /// Returns a response that runs until all events are written or the client disconnects.
    ///
    /// - Parameters:
    ///   - onEnd: Called when the client disconnects, so that `events` ends, and when the response has ended.
    ///   - events: Writes the events.
    static func response(
        to request: Request,
        onEnd: @escaping @Sendable () -> Void,
        events: @escaping @Sendable (inout any ResponseBodyWriter) async throws -> Void
    ) -> Response {
        Response(
            status: .ok,
            headers: headers,
            body: ResponseBody { writer in
                defer { onEnd() }
                // Nothing is written to an idle stream, so a disconnect is detected on the inbound side only.
                try await request.body.consumeWithInboundCloseHandler { _ in
                    try await writer.write(ByteBuffer(string: "retry: \(retry)\n\n"))
                    try await events(&writer)
                } onInboundClosed: {
                    onEnd()
                }
                try await writer.finish(nil)
            }
        )
    }
}

extension HTTPField.Name {
    /// Tells proxies not to buffer the stream.
    static let accelBuffering = Self("X-Accel-Buffering") ?? .cacheControl
    /// The last revision that a reconnecting client has received.
    static let lastEventID = Self("Last-Event-ID") ?? .ifNoneMatch
}

extension EventStream {
    /// An encoded event that is shared by all readers.
    struct Frame: Sendable {
        /// The event's number: not 0, and unique in its stream.
        let number: UInt64
        let bytes: ByteBuffer
    }

    /// The interval in seconds after which an idle stream sends a ping.
    private static let ping = 15.0

    /// Returns a response that sends the latest event at each poll, until the client disconnects, the source ends, or
    /// the gateway shuts down; the client then reconnects to the next one.
    ///
    /// - Parameters:
    ///   - slot: The reader's slot, retained until the response ends.
    ///   - missed: The events to send first.
    ///   - pause: The interval between polls. A slow client polls less often, and skips the events in between.
    ///   - isRefused: Whether the reader's token is no longer valid; evaluated at each poll.
    ///   - newest: Returns the latest event; nil if there is none.
    ///   - isOver: Whether the source has ended; evaluated only while the stream is idle.
    static func response(
        to request: Request,
        slot: ReaderSlot,
        missed: [Frame] = [],
        every pause: Duration,
        isRefused: @escaping @Sendable () -> Bool,
        newest: @escaping @Sendable () throws -> Frame?,
        isOver: @escaping @Sendable () -> Bool = { false }
    ) -> Response {
        response(to: request, onEnd: slot.release) { writer in
            var last = (number: UInt64(0), at: MonotonicTime.now())
            for frame in missed {
                try await writer.write(frame.bytes)
                last = (frame.number, .now())
            }
            while !Task.isCancelled, !Task.isShuttingDownGracefully, !slot.isReleased, !isRefused() {
                if let frame = try newest(), frame.number != last.number {
                    try await writer.write(frame.bytes)
                    last = (frame.number, .now())
                } else if MonotonicTime.now().seconds(since: last.at) >= ping {
                    guard !isOver() else { break }
                    try await writer.write(ByteBuffer(string: ": ping\n\n"))
                    last.at = .now()
                }
                // Cancellation ends the sleep and thereby the loop.
                try? await Task.sleep(for: pause)
            }
        }
    }
}

/// The slot of a reader in a stream; freed when it is released.
final class ReaderSlot: Sendable {
    private let isReleasedFlag = Atomic<Bool>(false)
    private let onEnd: @Sendable () -> Void

    init(onEnd: @escaping @Sendable () -> Void) {
        self.onEnd = onEnd
    }

    deinit {
        onEnd()
    }

    var isReleased: Bool { isReleasedFlag.load(ordering: .relaxed) }

    func release() {
        isReleasedFlag.store(true, ordering: .relaxed)
    }
}
