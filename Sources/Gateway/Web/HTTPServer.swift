import FanOut
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import RTMP
import ServiceLifecycle
import Synchronization

/// Serves HTTP on one port.
///
/// Hummingbird's own server opens its socket itself; this one also takes one that is open already and outlives the
/// process, so that nobody is refused while the gateway is started anew.
struct HTTPServer<Child: ServerChildChannel, Responder: HTTPResponder>: Service
where Responder.Context: InitializableFromSource<ApplicationRequestContextSource> {
    /// What it is for, for people.
    let name: String
    let host: String
    /// 0 picks a free one.
    let port: Int
    /// Listens on `port` already; nil to open one.
    var socket: CInt?
    /// Which connections there are descriptors for.
    let gate: ConnectionGate
    let responder: Responder
    /// Makes what serves one connection, of what answers its requests.
    let child: @Sendable (@escaping HTTPChannelHandler.Responder) -> Child
    let group: any EventLoopGroup
    let logger: Logger
    let whenListening: @Sendable (_ port: Int) -> Void

    func run() async throws {
        let child = child(Self.answer(by: responder, logger))
        let logger = logger
        let open = OpenConnections()
        // As many wait here as the gate lets in, and each for a moment only.
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
        // Not cancelled itself: each connection has its end, and is closed.
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

    /// What answers one request with a responder's response.
    private static func answer(
        by responder: Responder,
        _ logger: Logger
    ) -> HTTPChannelHandler.Responder {
        let dates = AnswerDates()
        return { request, writer, channel in
            var logger = logger
            logger[metadataKey: "hb.request.id"] = "\(RequestID())"
            let context = Responder.Context(source: ApplicationRequestContextSource(channel: channel, logger: logger))
            var response: Response
            do {
                response = try await responder.respond(to: request, context: context)
            } catch let error as HTTPParserError {
                // The connection is answered for as a whole, and closed.
                throw error
            } catch {
                logger.debug("an error without an answer", metadata: ["error": "\(error)"])
                response = Response(status: .internalServerError)
            }
            response.headers[.date] = dates.text
            response.headers[.server] = "Footlight"
            do {
                try await writer.write(response: response.head, body: response.body)
            } catch is HTTPParserError {
                // It would be answered once more, in the middle of this answer.
                throw BrokenRequest()
            }
        }
    }
}

/// What came of a request while its answer was being written cannot be parsed.
private struct BrokenRequest: Error {}

/// The connections of a listener, each until it is closed.
private final class OpenConnections: Sendable {
    private struct State {
        var channels: [ObjectIdentifier: any Channel] = [:]
        /// Told of the end of the last one.
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

    /// Asks each to end when it has given the answer it is about, and returns when all are closed; once.
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
