import FanOut
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOPosix
import RTMP
import ServiceLifecycle
import Synchronization

/// An HTTP server on one port.
///
/// Unlike Hummingbird's own server it can use a listening socket that outlives the process, so that no connection is
/// refused during a restart.
struct HTTPServer<Child: ServerChildChannel, Responder: HTTPResponder>: Service
where Responder.Context: InitializableFromSource<ApplicationRequestContextSource> {
    /// The name for log and error messages.
    let name: String
    let host: String
    /// The port; 0 picks a free one.
    let port: Int
    /// A listening socket for `port`; nil opens one.
    var socket: CInt?
    /// The limit on connections.
    let gate: ConnectionGate
    let responder: Responder
    /// Header fields of every response.
    var headers: HTTPFields = [:]
    /// Makes the channel of a connection from the responder.
    let child: @Sendable (@escaping HTTPChannelHandler.Responder) -> Child
    let group: any EventLoopGroup
    let logger: Logger
    let whenListening: @Sendable (_ port: Int) -> Void

    func run() async throws {
        let child = child(Self.answer(by: responder, headers, logger))
        let logger = logger
        let open = OpenConnections()
        // Bounded by the gate; each connection is pending for a moment only.
        let (connections, continuation) = AsyncStream.makeStream(of: Child.Value.self)
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 4096)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelInitializer { [gate] channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandlers([ConnectionGateHandler(gate, for: .viewers), AcceptBackoffHandler()])
                }
            }
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { channel in
                open.insert(channel)
                return child.setup(channel: channel, logger: logger).map { connection in
                    guard case .terminated = continuation.yield(connection) else { return }
                    channel.close(promise: nil)
                    Task { await child.handle(value: connection, logger: logger) }
                }
            }
        let listener: any Channel
        do {
            let opening = socket.map { bootstrap.withBoundSocket($0) } ?? bootstrap.bind(host: host, port: port)
            listener = try await opening.get()
        } catch {
            throw ListenError(name, host: host, port: port, error: error)
        }
        whenListening(listener.localAddress?.port ?? port)
        let serving = Task {
            await withDiscardingTaskGroup { tasks in
                for await connection in connections {
                    tasks.addTask { await child.handle(value: connection, logger: logger) }
                }
            }
        }
        // The task is not cancelled: it ends when every connection is closed.
        await withTaskCancellationHandler {
            try? await gracefulShutdown()
            try? await listener.close()
            await open.end()
            continuation.finish()
            await serving.value
        } onCancel: {
            listener.close(promise: nil)
            for channel in open.all { channel.close(promise: nil) }
        }
    }

    /// Makes the handler that answers a request with the responder's response.
    private static func answer(
        by responder: Responder,
        _ headers: HTTPFields,
        _ logger: Logger
    ) -> HTTPChannelHandler.Responder {
        let dates = HTTPDateCache()
        return { request, writer, channel in
            var logger = logger
            logger[metadataKey: "hb.request.id"] = "\(RequestID())"
            let context = Responder.Context(source: ApplicationRequestContextSource(channel: channel, logger: logger))
            var response: Response
            do {
                response = try await responder.respond(to: request, context: context)
            } catch let error as HTTPParserError {
                // The connection handler sends an error response and closes.
                throw error
            } catch {
                logger.debug("request failed without a response", metadata: ["error": "\(error)"])
                response = Response(status: .internalServerError)
            }
            response.headers[.date] = dates.text
            response.headers[.server] = "Footlight"
            for field in headers { response.headers[field.name] = field.value }
            do {
                try await writer.write(response: response.head, body: response.body)
            } catch is HTTPParserError {
                // The HTTPParserError itself would cause a second response within this one.
                throw BrokenRequest()
            }
        }
    }
}

/// The request could not be parsed further while its response was being written.
private struct BrokenRequest: Error {}

/// The open connections of a listener.
private final class OpenConnections: Sendable {
    private struct State {
        var channels: [ObjectIdentifier: any Channel] = [:]
        /// Resumed when the last connection is closed.
        var whenEmpty: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    func insert(_ channel: any Channel) {
        let id = ObjectIdentifier(channel)
        state.withLock { $0.channels[id] = channel }
        channel.closeFuture.whenComplete { [self] _ in
            state.withLock { state in
                state.channels[id] = nil
                return state.channels.isEmpty ? state.whenEmpty.take() : nil
            }?.resume()
        }
    }

    var all: [any Channel] { state.withLock { Array($0.channels.values) } }

    /// Asks each connection to close after its current response, and returns when all are closed; call it once.
    func end() async {
        for channel in all {
            channel.eventLoop.execute { channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent()) }
        }
        await withCheckedContinuation { continuation in
            let isEmpty = state.withLock { state in
                if !state.channels.isEmpty { state.whenEmpty = continuation }
                return state.channels.isEmpty
            }
            if isEmpty { continuation.resume() }
        }
    }
}

/// A connection of the admin port, with a server from the start.
struct AdminHTTPChannel: ServerChildChannel, HTTPChannelHandler {
    typealias Connection = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>

    /// The idle timeout of a connection.
    private static let idleTime = Duration.seconds(30)

    let responder: Responder
    /// The most bytes of a request's header.
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

extension ChannelPipeline.SynchronousOperations {
    /// Adds the HTTP/1.1 decoder and encoder of a connection, with limits.
    ///
    /// The decoder's buffer holds:
    /// - One header field, or the request target, while it is parsed; all of a header or trailer is within
    ///   `headerLimit`.
    /// - Spaces in a header, which the parser does not count, and all data after a request with `Connection: Upgrade`
    ///   or the method CONNECT, which it does not parse; the limit is `bufferLimit`.
    /// - Nothing of a body, which is passed on as it arrives; its reader limits it.
    ///
    /// Beyond its limits the decoder fails and discards data, and `RequestLimitHandler` closes the connection.
    ///
    /// - Parameters:
    ///   - headerLimit: The most bytes of a request's header, and of its trailer.
    ///   - limits: The limits of one client.
    ///   - isSecure: Whether the connection uses TLS.
    func addHTTPServer(headerLimit: Int, limits: HTTPLimits, isSecure: Bool = false) throws {
        var decoderLimits = NIOHTTPDecoderLimitConfiguration()
        decoderLimits.maxHeaderFieldSize = headerLimit
        decoderLimits.maxHeaderListSize = headerLimit
        let decoder = HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes, limitConfiguration: decoderLimits)
        // A decoder that has consumed its input buffers at most one field.
        let bufferLimit = 2 * headerLimit
        try addHandlers([HTTPResponseEncoder(), ByteToMessageHandler(decoder, maximumBufferSize: bufferLimit)])
        try addHandlers([HTTPServerCodec(isSecure: isSecure), RequestLimitHandler(limits: limits)])
    }
}
