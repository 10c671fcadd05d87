@testable import FanOut
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOPosix
import Synchronization

/// The media service behind a real port.
struct HTTPFixture {
    let feeds: FeedDirectory
    let hls: HLSDirectory
    let audience = RecordingAudience()
    let port: Int
    private let listener: any Channel
    private let group: MultiThreadedEventLoopGroup

    init(
        _ group: MultiThreadedEventLoopGroup,
        configuration: FanOutConfiguration = FanOutConfiguration(tick: .zero),
        limits: HTTPLimits = HTTPLimits(),
        trust: ClientTrustPolicy = ClientTrustPolicy()
    ) async throws {
        self.group = group
        feeds = FeedDirectory(group: group, configuration: configuration)
        hls = HLSDirectory(configuration: configuration.hls)
        let service = MediaService(feeds: feeds, hls: hls, audience: audience, limits: limits, trust: trust)
        listener = try await ServerBootstrap(group: group)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    let media = MediaHTTPHandler(service: service)
                    try pipeline.configureHTTPServerPipeline(withPipeliningAssistance: false, withErrorHandling: false)
                    let limit = RequestLimitHandler(limits: limits)
                    try pipeline.addHandlers([
                        HTTPServerCodec(), limit, media, BackendHandler(),
                    ])
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        port = listener.localAddress?.port ?? 0
    }

    func connect() async throws -> RawClient { try await RawClient(port: port, group: group) }
}

/// A raw TCP client that records what it receives.
final class RawClient: Sendable {
    private struct State {
        var bytes = ByteBuffer()
        var isClosed = false
    }

    private final class ReceiveHandler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        let client: RawClient

        init(_ client: RawClient) { self.client = client }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let buffer = unwrapInboundIn(data)
            client.state.withLock { _ = $0.bytes.writeImmutableBuffer(buffer) }
        }

        func channelInactive(context: ChannelHandlerContext) { client.state.withLock { $0.isClosed = true } }
    }

    private let state = Mutex(State())
    private let channel: Mutex<(any Channel)?> = Mutex(nil)

    init(port: Int, group: MultiThreadedEventLoopGroup) async throws {
        let made = try await ClientBootstrap(group: group)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ReceiveHandler(self))
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
        channel.withLock { $0 = made }
    }

    func send(_ text: String) async throws {
        try await channel.withLock { $0 }?.writeAndFlush(ByteBuffer(string: text)).get()
    }

    /// Sends a GET for the path.
    func ask(_ path: String) async throws { try await send("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n") }

    func close() async throws { try await channel.withLock { $0 }?.close().get() }

    /// Everything received so far.
    var received: ByteBuffer { state.withLock { $0.bytes } }

    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Removes the first response, if it is complete by its `Content-Length`.
    func nextAnswer() -> (header: String, body: ByteBuffer)? {
        state.withLock { state in
            let bytes = Array(state.bytes.readableBytesView.prefix(2_048))
            guard let end = bytes.indices.first(where: { bytes[$0...].starts(with: [13, 10, 13, 10]) }),
                let header = state.bytes.getString(at: state.bytes.readerIndex, length: end + 4),
                let length = header.firstMatch(of: /\r\nContent-Length: (\d+)\r\n/).flatMap({ Int($0.output.1) }),
                state.bytes.readableBytes >= end + 4 + length
            else { return nil }
            state.bytes.moveReaderIndex(forwardBy: end + 4)
            return state.bytes.readSlice(length: length).map { (header, $0) }
        }
    }

    /// The header of the first response and the bytes after it; nil if the header is incomplete.
    var answer: (header: String, body: ByteBuffer)? {
        var bytes = received
        let view = Array(bytes.readableBytesView)
        guard let end = view.indices.first(where: { view[$0...].starts(with: [13, 10, 13, 10]) }) else { return nil }
        let header = bytes.readString(length: end + 4) ?? ""
        return (header, bytes)
    }
}
