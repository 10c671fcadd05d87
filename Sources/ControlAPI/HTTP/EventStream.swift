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
    /// How long a client may read nothing at all is bounded by the listener's socket; how much waits for it, by the stage.
    static func response(
        to request: Request,
        subscription: EventSubscription,
        frame: @escaping @Sendable (StageEvent) throws -> ByteBuffer
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
                defer { subscription.cancel() }
                // A quiet room writes nothing, so that the client left shows only in what comes from it.
                try await request.body.consumeWithInboundCloseHandler { _ in
                    try await writer.write(ByteBuffer(string: "retry: \(retry)\n\n"))
                    for await event in subscription.events {
                        try await writer.write(frame(event))
                    }
                } onInboundClosed: {
                    subscription.cancel()
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
