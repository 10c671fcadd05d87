import FanOut
import HummingbirdCore
import Logging
import Media
import NIOCore
import NIOHTTPTypes

/// Connections of the public HTTP port: media is answered on the event loop, and the server for all else comes with the first
/// request that needs it.
///
/// That server's part of a connection is a channel of its own kind and a task with all its frames, which together are more
/// than all that a viewer needs.
struct MediaFirstChannel: ServerChildChannel, HTTPChannelHandler {
    /// A connection, and what becomes of its second half.
    struct Connection: ServerChildChannelValue {
        let channel: any Channel
        /// Its second half; nil when it ends, or is a stream for good, without having needed one.
        let server: EventLoopFuture<LateServer.Server?>
    }

    let responder: Responder
    let site: MediaSite
    /// Most of a request's header, in bytes.
    let headerLimit: Int
    /// Whether only mixers connect, who play nothing here and whose requests have no limit.
    var isForMixers = false

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Connection> {
        channel.eventLoop.makeCompletedFuture {
            var place: ClientPlace?
            if !isForMixers {
                guard let admitted = site.admitConnection(from: channel.remoteAddress) else {
                    channel.close(promise: nil)
                    return Connection(channel: channel, server: channel.eventLoop.makeSucceededFuture(nil))
                }
                channel.closeFuture.whenComplete { _ in admitted.leave() }
                place = admitted
            }
            // Each connection keeps what it once read into: of most, requests are all that is ever read.
            try channel.syncOptions?.setOption(
                .recvAllocator,
                value: AdaptiveRecvByteBufferAllocator(minimum: 512, initial: 1024, maximum: 65_536)
            )
            let pipeline = channel.pipeline.syncOperations
            let media = MediaHTTPHandler(site: site, place: place, isForMixers: isForMixers)
            try pipeline.addHTTPServer(headerLimit: headerLimit, limits: site.limits)
            let server = channel.eventLoop.makePromise(of: LateServer.Server?.self)
            try pipeline.addHandlers([media, HTTPConnectionStateHandler(logger: logger), LateServer(server)])
            return Connection(channel: channel, server: server.futureResult)
        }
    }

    func handle(value connection: Connection, logger: Logger) async {
        await withTaskCancellationHandler {
            guard let server = try? await connection.server.get() else { return }
            await handleHTTP(asyncChannel: server, logger: logger)
        } onCancel: {
            connection.channel.close(promise: nil)
        }
    }
}
