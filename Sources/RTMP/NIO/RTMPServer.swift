public import NIOCore
import NIOPosix
public import NIOSSL

/// Listens for RTMP, or RTMPS when it is given TLS.
public struct RTMPServer: Sendable {
    private let channel: any Channel
    private let admission: Admission

    /// The port it listens on.
    public var port: Int { channel.localAddress?.port ?? 0 }

    /// Connections at this moment, whatever they do.
    public var connectionCount: Int { admission.counts.all }

    /// Connections that were closed because too many had neither published nor played, and players of clients that had
    /// too many already.
    public var refused: (waiting: UInt64, players: UInt64) { admission.refused }

    /// Begins to listen.
    ///
    /// - Parameters:
    ///   - host: A local address.
    ///   - port: 0 picks a free one.
    ///   - group: The event loops of its connections.
    ///   - delegate: Decides who may publish and play.
    ///   - limits: What peers are granted.
    ///   - tls: For RTMPS.
    ///   - gate: Which connections there are descriptors for; all, unless given otherwise.
    ///   - socket: A descriptor that listens there already; nil to open one.
    /// - Throws: The system's error when the address cannot be used.
    public static func start(
        host: String,
        port: Int,
        group: any EventLoopGroup,
        delegate: any RTMPServerDelegate,
        limits: RTMPLimits = RTMPLimits(),
        tls: NIOSSLContext? = nil,
        gate: ConnectionGate = ConnectionGate(limit: .max, viewers: .max),
        socket: NIOBSDSocket.Handle? = nil
    ) async throws -> RTMPServer {
        let admission = Admission(limits: limits, gate: gate)
        let granted = GrantedLimits(limits)
        let mark = limits.highWaterMark
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 4096)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelOption(.maxMessagesPerRead, value: 16)
            .serverChannelInitializer { channel in
                // Without descriptors left nobody can be taken in; to try again at once would take a core.
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandlers([ConnectionGateHandler(gate, for: .undecided), AcceptBackoffHandler()])
                }
            }
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.writeBufferWaterMark, value: .init(low: mark / 4, high: mark))
            .childChannelOption(.allowRemoteHalfClosure, value: false)
            // Each connection keeps what it once read into: little, until it turns out to be a publisher's.
            .childChannelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 256))
            .childChannelInitializer { channel in
                guard let ticket = admission.admit(address: channel.remoteAddress?.ipAddress) else {
                    return channel.close()
                }
                PeerSocket.setUp(channel)
                return channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
                    try pipeline.addHandler(
                        RTMPServerHandler(delegate: delegate, granted: granted, admission: ticket, isPlain: tls == nil)
                    )
                }
            }
        let opening = socket.map { bootstrap.withBoundSocket($0) } ?? bootstrap.bind(host: host, port: port)
        let channel = try await opening.get()
        return RTMPServer(channel: channel, admission: admission)
    }

    /// Stops listening, tells every peer, and returns when all are gone; no peer is given longer than the linger time.
    public func shutdown() async {
        let connections = admission.close()
        try? await channel.close()
        for connection in connections {
            connection.eventLoop.execute { connection.shutDown() }
        }
        for connection in connections {
            try? await connection.channel.closeFuture.get()
        }
    }
}
