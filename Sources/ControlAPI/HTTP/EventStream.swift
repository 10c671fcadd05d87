import HTTPTypes
import Hummingbird
import NIOCore
import Stage

/// Answers of server-sent events (WHATWG HTML, "Server-sent events").
enum EventStream {
    /// Milliseconds after which a client whose stream broke comes back.
    private static let retry = 2000

    /// An answer of a reader's events that goes on until they end or the client is gone.
    ///
    /// How long a client may read nothing at all is bounded by the listener, which closes a connection that takes nothing;
    /// how much waits for it, by the stage.
    ///
    /// - Parameter frame: The bytes of an event; nil for one that is not for this client.
    static func response(
        to request: Request,
        stream: OpenStream,
        frame: @escaping @Sendable (StageEvent) throws -> ByteBuffer?
    ) -> Response {
        // However the stream ends, the session that it carried ends with it.
        response(to: request, onEnd: stream.cancel) { writer in
            var latest: StageEvent?
            for await event in stream.events {
                latest = event
                if let bytes = try frame(event) { try await writer.write(bytes) }
            }
            if let last = stream.lastWord(after: latest), let bytes = try frame(last) {
                try await writer.write(bytes)
            }
        }
    }

    /// An answer that goes on until all its events are written or the client is gone.
    ///
    /// - Parameters:
    ///   - onEnd: Called when the client is gone, for `events` to come to their end, and when the answer has ended.
    ///   - events: Writes them.
    static func response(
        to request: Request,
        onEnd: @escaping @Sendable () -> Void,
        events: @escaping @Sendable (inout any ResponseBodyWriter) async throws -> Void
    ) -> Response {
        Response(
            status: .ok,
            headers: [
                .contentType: "text/event-stream",
                .cacheControl: "no-store",
                .accelBuffering: "no",
            ],
            body: ResponseBody { writer in
                defer { onEnd() }
                // Where nothing happens nothing is written, so that the client left shows only in what comes from it.
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
    /// Tells proxies to pass the stream on as it comes.
    static let accelBuffering = Self("X-Accel-Buffering") ?? .cacheControl
    /// The revision that a returning client knows.
    static let lastEventID = Self("Last-Event-ID") ?? .ifNoneMatch
}
