import FanOut
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Viewership

/// Hears by syslog over UDP which playlists a server in front of us has answered (RFC 3164 framing; nginx `access_log`).
///
/// Lines may get lost: each viewer is heard of again with its next playlist. Only servers in front of us are believed, for
/// anybody can send a datagram.
struct BeatListener: Service {
    /// Bytes that the kernel keeps for us: a burst of a few thousand lines.
    private static let receiveBuffer: ChannelOptions.Types.SocketOption.Value = 4 * 1024 * 1024

    let host: String
    /// Nil for a listener that is off; 0 picks a free one.
    let port: Int?
    let group: any EventLoopGroup
    /// Whose lines are read, beside those of servers on this machine.
    let proxies: TrustedProxies
    let viewership: ViewershipLedger
    let logger: Logger

    func run() async throws {
        guard let port else {
            try? await gracefulShutdown()
            return
        }
        let proxies = proxies
        let viewership = viewership
        let channel: any Channel
        do {
            channel = try await DatagramBootstrap(group: group)
                .channelOption(.socketOption(.so_rcvbuf), value: Self.receiveBuffer)
                .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: BeatLine.limit))
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let handler = BeatHandler(proxies: proxies, viewership: viewership)
                        try channel.pipeline.syncOperations.addHandler(handler)
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
