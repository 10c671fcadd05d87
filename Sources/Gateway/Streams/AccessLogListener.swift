import FanOut
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Viewership

/// Receives access log lines of a server in front by syslog over UDP (RFC 3164 framing; nginx `access_log`).
///
/// A lost line is made up for by the viewer's next playlist request. Only trusted servers are accepted, because anybody
/// can send a datagram.
struct AccessLogListener: Service {
    /// The size of the kernel's receive buffer in bytes: a burst of a few thousand lines.
    private static let receiveBuffer: ChannelOptions.Types.SocketOption.Value = 4 * 1024 * 1024

    let host: String
    /// The UDP port; nil turns the listener off, 0 picks a free port.
    let port: Int?
    let group: any EventLoopGroup
    /// The accepted senders, besides servers on this machine.
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
                .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: AccessLogLine.limit))
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let handler = AccessLogHandler(proxies: proxies, viewership: viewership)
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

/// Reads one access log line from each datagram of a server in front.
final class AccessLogHandler: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>

    private let proxies: TrustedProxies
    private let viewership: ViewershipLedger

    init(proxies: TrustedProxies, viewership: ViewershipLedger) {
        self.proxies = proxies
        self.viewership = viewership
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let datagram = unwrapInboundIn(data)
        guard let sender = datagram.remoteAddress.ipAddress, proxies.mayReport(from: sender) else {
            return viewership.countUntrustedLogLine()
        }
        let text = String(buffer: datagram.data)
        if let line = AccessLogLine(text) {
            viewership.receive(line)
        } else if let line = MediaAccessLogLine(text) {
            viewership.receive(line)
        } else {
            viewership.countMalformedLogLine()
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // ICMP port unreachable; the next datagram is read all the same.
        viewership.countMalformedLogLine()
    }
}
