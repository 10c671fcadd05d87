import FanOut
import HummingbirdCore
import Logging
import Media
import NIOCore
import NIOHTTP2
import NIOHTTPTypesHTTP2
import RTMP

/// The settings of HTTP/2 connections (RFC 9113).
enum HTTP2 {
    /// The most requests of a connection at a time; a browser that loads the dashboard makes about forty.
    static let maximumStreams = 64
    /// The most PING, SETTINGS and PRIORITY frames within half a minute; browsers send a PRIORITY frame for many requests.
    static let maximumControlFrames = 2_000
    /// The time in which the requests of a connection may end when the gateway stops.
    static let graceTime = TimeAmount.seconds(2)
}

extension PublicHTTPChannel {
    /// Adds the handlers of an HTTP/2 connection, whose streams get handlers of their own unless they are answered by the
    /// connection's `HTTP2MediaHandler`.
    ///
    /// - Returns: The servers of the requests that are not answered on the event loop, at most
    ///   `HTTP2.maximumStreams` at a time.
    func addHTTP2(
        to channel: any Channel,
        slot: ClientSlot?,
        logger: Logger
    ) throws -> AsyncStream<LazyServerHandler.Server> {
        let (streams, servers) = AsyncStream.makeStream(of: LazyServerHandler.Server.self)
        channel.closeFuture.whenComplete { _ in servers.finish() }
        // The connection's handlers of media share it; all are on its event loop.
        let connection = NIOLoopBound(MediaConnection(slot: slot), eventLoop: channel.eventLoop)
        let service = service
        let pipeline = channel.pipeline.syncOperations
        PeerSocketOptions.configure(channel)
        let multiplexer = HTTP2StreamMultiplexer(
            mode: .server,
            channel: channel,
            outboundBufferSizeHighWatermark: Self.writeBufferWaterMark.high,
            outboundBufferSizeLowWatermark: Self.writeBufferWaterMark.low
        ) { stream in
            stream.eventLoop.makeCompletedFuture {
                let media = MediaHTTPHandler(service: service, connection: connection.value, transport: .http2)
                let last = LazyServerHandler { server in
                    guard let server, case .terminated = servers.yield(server) else { return }
                    stream.close(promise: nil)
                    Task { await handleHTTP(asyncChannel: server, logger: logger) }
                }
                try stream.pipeline.syncOperations.addHandlers([
                    HTTP2FramePayloadToHTTPServerCodec(), RequestLimitHandler(limits: service.limits), media, last,
                ])
            }
        }
        let management = NIOHTTP2ServerConnectionManagementHandler(
            eventLoop: channel.eventLoop,
            // The media handler ends idle connections: a timer for each request would cost more than its repeated check.
            configuration: .init(maxIdleTime: nil, maxAge: nil, maxGraceTime: HTTP2.graceTime, keepalive: nil)
        )
        // The multiplexer is a handler of its own, rather than a part of the HTTP/2 handler, so that the media handler is
        // ahead of it.
        try pipeline.addHandlers([
            NIOHTTP2Handler(mode: .server, connectionConfiguration: connectionConfiguration),
            HTTP2MediaHandler(service: service, connection: connection.value), management, multiplexer,
        ])
        return streams
    }

    private var connectionConfiguration: NIOHTTP2Handler.ConnectionConfiguration {
        var configuration = NIOHTTP2Handler.ConnectionConfiguration()
        configuration.initialSettings = [
            HTTP2Setting(parameter: .maxConcurrentStreams, value: HTTP2.maximumStreams),
            HTTP2Setting(parameter: .maxHeaderListSize, value: headerLimit),
        ]
        configuration.controlFrameRateLimit.maximumCount = HTTP2.maximumControlFrames
        return configuration
    }
}
