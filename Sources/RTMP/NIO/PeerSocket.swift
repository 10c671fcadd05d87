public import NIOCore

/// What every connection to a player or publisher asks of the system.
public enum PeerSocket {
    #if os(Linux)
    /// TCP_USER_TIMEOUT of tcp(7), and how long sent bytes may stay unacknowledged, in milliseconds.
    ///
    /// A peer that vanished without a word is gone after that, as far as something is sent to it.
    private static let userTimeout = (option: NIOBSDSocket.Option(rawValue: 18), value: 15_000)
    /// TCP_NOTSENT_LOWAT of tcp(7): bytes that the system takes for a peer beyond those under way to it.
    ///
    /// It has a copy for each peer of what the peers' queues here share. So a crowd that does not read costs little of
    /// the machine's memory, and its readers never notice.
    private static let unsentLimit = (option: NIOBSDSocket.Option(rawValue: 25), value: 256 << 10)
    /// TCP_KEEPIDLE, TCP_KEEPINTVL and TCP_KEEPCNT of tcp(7): seconds of silence before the system asks the peer's, and
    /// between two questions, and how many of them are asked.
    ///
    /// So a peer that vanished while there was nothing to send to it is gone after as long as any other.
    private static let questions: [(option: NIOBSDSocket.Option, value: Int)] = [
        (.init(rawValue: 4), 5), (.init(rawValue: 5), 5), (.init(rawValue: 6), 3),
    ]
    #endif

    /// Sets a connection up; on its event loop.
    ///
    /// Sockets that refuse work as before.
    public static func setUp(_ channel: any Channel) {
        #if os(Linux)
        for (option, value) in [userTimeout, unsentLimit] + questions {
            try? channel.syncOptions?.setOption(.tcpOption(option), value: value)
        }
        try? channel.syncOptions?.setOption(.socketOption(.so_keepalive), value: 1)
        #endif
    }
}
