public import NIOCore
import NIOPosix
public import NIOSSL

/// Listens for RTMP connections, or for RTMPS if TLS is configured.
public struct RTMPServer: Sendable {
    private let channel: any Channel
    private let admission: AdmissionController

    /// The port of the listener.
    public var port: Int { channel.localAddress?.port ?? 0 }

    /// The number of open connections in any state.
    public var connectionCount: Int { admission.counts.all }

    /// The number of connections closed because of the limit on waiting ones, and of players rejected by the client
    /// limit.
    public var refused: (waiting: UInt64, players: UInt64) { admission.refused }

    /// Changes the limits of a client: its players and its waiting connections; nil for none.
    ///
    /// Open ones stay.
    public func setClientLimits(players: Int?, waiting: Int?) {
        admission.setClientLimits(players: players, waiting: waiting)
    }

    /// Starts listening.
    ///
    /// - Parameters:
    ///   - host: A local address.
    ///   - port: The port; 0 for any free one.
    ///   - group: The event loops of the connections.
    ///   - delegate: Authorizes publishers and players.
    ///   - limits: The limits of each peer.
    ///   - tls: Returns the TLS context of a new connection, for RTMPS; nil for RTMP.
    ///   - gate: Limits the accepted connections; unlimited by default.
    ///   - socket: The descriptor of an already listening socket; nil to open one.
    /// - Throws: The system error if the address cannot be bound.
    public static func start(
        host: String,
        port: Int,
        group: any EventLoopGroup,
        delegate: any RTMPServerDelegate,
        limits: RTMPLimits = RTMPLimits(),
        tls: (@Sendable () -> NIOSSLContext)? = nil,
        gate: ConnectionGate = ConnectionGate(limit: .max, viewers: .max),
        socket: NIOBSDSocket.Handle? = nil
    ) async throws -> RTMPServer {
        let admission = AdmissionController(limits: limits, gate: gate)
        let granted = GrantedLimits(limits)
        let mark = limits.highWaterMark
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 4096)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelOption(.maxMessagesPerRead, value: 16)
            .serverChannelInitializer { channel in
                // Without free descriptors, accept fails; retrying immediately would occupy a core.
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandlers([ConnectionGateHandler(gate, for: .undecided), AcceptBackoffHandler()])
                }
            }
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.writeBufferWaterMark, value: .init(low: mark / 4, high: mark))
            .childChannelOption(.allowRemoteHalfClosure, value: false)
            // Each connection retains its read buffer, so it is small until the peer publishes.
            .childChannelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 256))
            .childChannelInitializer { channel in
                guard let ticket = admission.admit(address: channel.remoteAddress?.ipAddress) else {
                    return channel.close()
                }
                PeerSocketOptions.configure(channel)
                return channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let tls { try pipeline.addHandlers([NIOSSLServerHandler(context: tls()), TLSWriteHandler()]) }
                    try pipeline.addHandler(
                        RTMPServerHandler(delegate: delegate, granted: granted, admission: ticket, isPlain: tls == nil)
                    )
                }
            }
        let opening = socket.map { bootstrap.withBoundSocket($0) } ?? bootstrap.bind(host: host, port: port)
        let channel = try await opening.get()
        return RTMPServer(channel: channel, admission: admission)
    }

    /// Stops listening, ends every connection, and returns when all are closed, at most after the linger timeout.
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

/// The TCP options of connections to players and publishers.
public enum PeerSocketOptions {
    #if os(Linux)
    /// TCP_USER_TIMEOUT of tcp(7): how long sent bytes may stay unacknowledged, in milliseconds.
    ///
    /// Detects a vanished peer while data is being sent to it.
    private static let userTimeout = (option: NIOBSDSocket.Option(rawValue: 18), value: 15_000)
    /// TCP_NOTSENT_LOWAT of tcp(7): the number of unsent bytes the kernel buffers per peer.
    ///
    /// The kernel buffers are copies per peer, while the queues in this process share their bytes, so a low limit saves
    /// memory with many slow readers.
    private static let unsentLimit = (option: NIOBSDSocket.Option(rawValue: 25), value: 256 << 10)
    /// TCP_KEEPIDLE, TCP_KEEPINTVL and TCP_KEEPCNT of tcp(7): idle seconds before the first probe, seconds between
    /// probes, and the number of probes.
    ///
    /// Detects a vanished peer while nothing is sent to it.
    private static let questions: [(option: NIOBSDSocket.Option, value: Int)] = [
        (.init(rawValue: 4), 5), (.init(rawValue: 5), 5), (.init(rawValue: 6), 3),
    ]
    #endif

    /// Sets the options of a connection; called on its event loop.
    ///
    /// Sockets that reject an option work as before.
    public static func configure(_ channel: any Channel) {
        channel.eventLoop.assertInEventLoop()
        #if os(Linux)
        for (option, value) in [userTimeout, unsentLimit] + questions {
            try? channel.syncOptions?.setOption(.tcpOption(option), value: value)
        }
        try? channel.syncOptions?.setOption(.socketOption(.so_keepalive), value: 1)
        #endif
    }
}
