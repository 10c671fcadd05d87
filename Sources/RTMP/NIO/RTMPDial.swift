import NIOCore
import NIOPosix
import NIOSSL

/// Makes the connection of an RTMP client, by TLS where the address asks for it.
struct RTMPDial {
    let address: RTMPAddress
    let eventLoop: any EventLoop
    var trust = RTMPTrust.system
    /// The most bytes that may wait in the kernel before they are sent for the first time; nil leaves it to the kernel.
    var unsentBytes: Int32?

    private static let connectTimeout = TimeAmount.seconds(5)

    /// Connects, with what `makeHandler` gives at the end of the pipeline.
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

    /// TCP_NOTSENT_LOWAT, which only the kernel's headers name.
    private static var unsentOption: NIOBSDSocket.Option? {
        #if os(Linux)
        NIOBSDSocket.Option(rawValue: 25)
        #else
        nil
        #endif
    }

    /// The name goes along in the greeting, unless it is an address: the standard forbids those there.
    private static func tlsHandler(_ context: NIOSSLContext, host: String) throws -> NIOSSLClientHandler {
        let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
        return try NIOSSLClientHandler(context: context, serverHostname: isAddress ? nil : host)
    }
}
