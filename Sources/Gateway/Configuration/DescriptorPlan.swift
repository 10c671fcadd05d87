import RTMP

/// Divides the process's file descriptors so that viewers cannot exhaust those that running rooms need.
///
/// The sum of all parts stays `spare` below the limit, because some system libraries abort the process when a file
/// cannot be opened.
struct DescriptorPlan: Equatable {
    /// Unassigned descriptors, for files that system libraries open briefly.
    static let spare = 16
    /// The most requests that are forwarded at a time; each viewer of low-latency HLS nearly always has one.
    static let maximumForwards = 8192

    /// The most descriptors that the process may have open.
    let limit: Int
    /// HTTP connections and RTMP players.
    let viewers: Int
    /// RTMP connections that have neither published nor played yet.
    let waiting: Int
    /// Connections of hosts that publish.
    let hosts: Int
    /// Mixers' connections to the mixer listeners.
    let mixers: Int
    /// Connections to the admin port.
    let admin: Int
    /// Connections to other gateways of a cluster, for requests that are forwarded to them; 0 without a cluster.
    let forwards: Int

    /// Divides the descriptors.
    ///
    /// - Parameters:
    ///   - limit: The system's limit (`RLIMIT_NOFILE`); 0 if unknown.
    ///   - threads: The number of event loops, each of which has descriptors of its own.
    init(limit: Int, threads: Int, configuration: GatewayConfiguration) {
        let limit = limit > 0 ? limit : 1 << 20
        self.limit = limit
        // Listeners, databases, keys, logs, and the descriptors of each event loop.
        let own = 56 + 4 * threads
        // Hosts, mixers, pushes, recordings and pipes to child processes: at most a quarter in total.
        let show = min(3 * configuration.maximumHosts + 16 * configuration.maximumRooms, limit / 4)
        hosts = min(configuration.maximumHosts, max(1, show / 4))
        mixers = show / 2
        waiting = min(RTMPLimits().preAuthConnections, max(16, limit / 10))
        admin = min(256, max(8, limit / 64))
        forwards = configuration.clusterDSN == nil ? 0 : min(Self.maximumForwards, max(16, limit / 8))
        let rest = limit - own - Self.spare - show - waiting - admin - forwards
        viewers = min(configuration.desiredViewerConnections, max(1, rest))
    }

    /// Whether the configured viewers and hosts can connect.
    func isEnough(for configuration: GatewayConfiguration) -> Bool {
        viewers >= configuration.maximumViewers && hosts >= configuration.maximumHosts
    }

    /// The connection gate that all public listeners share.
    var gate: ConnectionGate { ConnectionGate(limit: viewers + waiting + hosts, viewers: viewers) }

    /// The connection gate of the mixer listeners.
    var mixerGate: ConnectionGate { ConnectionGate(limit: mixers, viewers: mixers) }
}

extension GatewayConfiguration {
    /// The address of the mixer listeners, whose ports only the gateway's own mixers are given.
    static let mixerHost = "127.0.0.1"

    /// Returns the limits for RTMP peers of the public listeners.
    func rtmpLimits(_ plan: DescriptorPlan) -> RTMPLimits {
        var limits = RTMPLimits()
        limits.connections = plan.viewers + plan.waiting + plan.hosts
        limits.preAuthConnections = plan.waiting
        limits.preAuthConnectionsPerClient = clientWaiting == 0 ? nil : min(clientWaiting, max(1, plan.waiting / 2))
        limits.playersPerClient = perClientLimit(clientPlayers, plan)
        return limits
    }

    /// Returns the per-client limit for a setting; nil is unlimited.
    ///
    /// The limit is at most half of the viewers' connections, so that one client cannot take all of them.
    func perClientLimit(_ setting: Int, _ plan: DescriptorPlan?) -> Int? {
        guard setting > 0 else { return nil }
        return min(setting, max(1, (plan?.viewers ?? .max) / 2))
    }

    /// The number of viewer connections to provide for.
    ///
    /// A browser's player uses up to three connections and its page a few more; API requests need some at any time.
    var desiredViewerConnections: Int {
        4 * maximumViewers + 1_000
    }
}
