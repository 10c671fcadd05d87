import HTTPTypes
import Hummingbird
import NIOCore
import Stage

/// Server-sent events (WHATWG HTML, "Server-sent events") from a reader's events.
enum EventStream {
    /// Milliseconds after which a client whose stream broke comes back.
    private static let retry = 2000

    /// An answer that goes on until the events end or the client is gone.
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
        Response(
            status: .ok,
            headers: [
                .contentType: "text/event-stream",
                .cacheControl: "no-store",
                .accelBuffering: "no",
            ],
            body: ResponseBody { writer in
                // However the stream ends, the session that it carried ends with it.
                defer { stream.cancel() }
                // A quiet room writes nothing, so that the client left shows only in what comes from it.
                try await request.body.consumeWithInboundCloseHandler { _ in
                    try await writer.write(ByteBuffer(string: "retry: \(retry)\n\n"))
                    var latest: StageEvent?
                    for await event in stream.events {
                        latest = event
                        if let bytes = try frame(event) { try await writer.write(bytes) }
                    }
                    if let last = stream.lastWord(after: latest), let bytes = try frame(last) {
                        try await writer.write(bytes)
                    }
                } onInboundClosed: {
                    stream.cancel()
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
