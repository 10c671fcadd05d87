import NIOCore
import NIOPosix
import NIOSSL

/// Opens the connection of an RTMP client, with TLS for `rtmps` addresses.
struct RTMPConnector {
    let address: RTMPAddress
    let eventLoop: any EventLoop
    var trust = RTMPTrustRoots.system
    /// The maximum number of unsent bytes in the kernel; nil for the kernel's default.
    var unsentBytes: Int32?

    private static let connectTimeout = TimeAmount.seconds(5)

    /// Connects, with the handler from `makeHandler` at the end of the pipeline.
    func connect<Handler: ChannelHandler>(
        _ makeHandler: @escaping @Sendable () -> Handler
    ) -> EventLoopFuture<any Channel> {
        var tls: NIOSSLContext?
        if address.isSecure {
            do {
                tls = try trust.context()
            } catch {
                return eventLoop.makeFailedFuture(error)
            }
        }
        var bootstrap = ClientBootstrap(group: eventLoop)
            .connectTimeout(Self.connectTimeout)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
        if let unsentBytes, let option = Self.unsentOption {
            bootstrap = bootstrap.channelOption(.tcpOption(option), value: .init(unsentBytes))
        }
        let host = address.host
        return
            bootstrap
            .channelInitializer { [tls] channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls { try channel.pipeline.syncOperations.addHandler(Self.tlsHandler(tls, host: host)) }
                    try channel.pipeline.syncOperations.addHandler(makeHandler())
                }
            }
            .connect(host: host, port: address.port)
    }

    /// TCP_NOTSENT_LOWAT, which only the kernel headers define.
    private static var unsentOption: NIOBSDSocket.Option? {
        #if os(Linux)
        NIOBSDSocket.Option(rawValue: 25)
        #else
        nil
        #endif
    }

    // Server Name Indication must not contain an IP address (RFC 6066, section 3).
    private static func tlsHandler(_ context: NIOSSLContext, host: String) throws -> NIOSSLClientHandler {
        let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
        return try NIOSSLClientHandler(context: context, serverHostname: isAddress ? nil : host)
    }
}

/// The certificates that an RTMPS client trusts.
public enum RTMPTrustRoots: Sendable, Hashable {
    /// The system's trust store.
    case system
    /// The certificates in this PEM file, for servers with self-signed certificates.
    case certificates(path: String)

    /// Makes the TLS context; reads files.
    func context() throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        if case .certificates(let path) = self { configuration.trustRoots = .file(path) }
        return try NIOSSLContext(configuration: configuration)
    }
}
