import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Viewership

/// Hears by syslog over UDP which playlists a server in front of us has answered (RFC 3164 framing; nginx `access_log`).
///
/// Lines may get lost: each viewer is heard of again with its next playlist.
struct BeatListener: Service {
    /// Bytes that the kernel keeps for us: a burst of a few thousand lines.
    private static let receiveBuffer: ChannelOptions.Types.SocketOption.Value = 4 * 1024 * 1024

    let host: String
    /// Nil for a listener that is off; 0 picks a free one.
    let port: Int?
    let group: any EventLoopGroup
    let viewership: ViewershipLedger
    let logger: Logger

    func run() async throws {
        guard let port else {
            try? await gracefulShutdown()
            return
        }
        let viewership = viewership
        let channel: any Channel
        do {
            channel = try await DatagramBootstrap(group: group)
                .channelOption(.socketOption(.so_rcvbuf), value: Self.receiveBuffer)
                .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: BeatLine.limit))
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(BeatHandler(viewership: viewership))
                    }
                }
                .bind(host: host, port: port).get()
        } catch {
            throw ListenError("beats", host: host, port: port, error: error)
        }
        logger.info(
            "listening",
            metadata: ["listener": "beats", "port": "\(channel.localAddress?.port ?? port)"]
        )
        try? await gracefulShutdown()
        try? await channel.close()
    }
}

/// Reads one line of each datagram.
private final class BeatHandler: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>

    private let viewership: ViewershipLedger

    init(viewership: ViewershipLedger) {
        self.viewership = viewership
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let text = String(buffer: unwrapInboundIn(data).data)
        guard let line = BeatLine(text) else { return viewership.countMalformedBeat() }
        viewership.take(line)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // A port that nobody listens on answers one datagram with an error; the next one is read all the same.
        viewership.countMalformedBeat()
    }
}
