import FanOut
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTPTypes

/// Connections of the admin port: each has its server from the beginning.
struct AdminChannel: ServerChildChannel, HTTPChannelHandler {
    typealias Connection = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>

    /// A connection on which nothing is asked for this long is closed.
    private static let idleTime = Duration.seconds(30)

    let responder: Responder
    /// Most of a request's header, in bytes.
    let headerLimit: Int

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Connection> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHTTPServer(headerLimit: headerLimit, limits: HTTPLimits())
            try pipeline.addHandler(HTTPConnectionStateHandler(idleTimeout: Self.idleTime, logger: logger))
            return try Connection(
                wrappingChannelSynchronously: channel,
                configuration: .init(isOutboundHalfClosureEnabled: true)
            )
        }
    }

    func handle(value connection: Connection, logger: Logger) async {
        await handleHTTP(asyncChannel: connection, logger: logger)
    }
}
