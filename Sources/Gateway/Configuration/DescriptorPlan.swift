import RTMP

/// Divides the descriptors that the process may have at a time, so that viewers cannot take those that a show needs.
///
/// The system's library ends a process that cannot open one file more, so that the parts together always stay below the
/// limit by `spare`.
struct DescriptorPlan: Equatable {
    /// Descriptors that nothing is given: what the system's libraries open for a moment.
    static let spare = 16

    /// What the process may have.
    let limit: Int
    /// Connections by HTTP, and RTMP players.
    let viewers: Int
    /// RTMP connections that have neither published nor played yet.
    let waiting: Int
    /// Connections of hosts that publish.
    let hosts: Int
    /// Connections of mixers, to the listeners of their own.
    let mixers: Int
    /// Connections to the admin port.
    let admin: Int

    /// Makes the plan.
    ///
    /// - Parameters:
    ///   - limit: What the system allows (`RLIMIT_NOFILE`); 0 where it does not say.
    ///   - threads: Event loops; each has descriptors of its own.
    init(limit: Int, threads: Int, configuration: GatewayConfiguration) {
        let limit = limit > 0 ? limit : 1 << 20
        self.limit = limit
        // Listeners, databases, keys, logs, and what each loop has.
        let own = 56 + 4 * threads
        // Hosts, mixers, pushes, recordings, pipes to children: all a quarter at most, for few rooms use them up.
        let show = min(3 * configuration.maximumHosts + 16 * configuration.maximumRooms, limit / 4)
        hosts = min(configuration.maximumHosts, max(1, show / 4))
        mixers = show / 2
        waiting = min(RTMPLimits().preAuthConnections, max(16, limit / 10))
        admin = min(256, max(8, limit / 64))
        viewers = min(configuration.wantedViewerConnections, max(1, limit - own - Self.spare - show - waiting - admin))
    }

    /// The gate of all listeners that strangers reach.
    var gate: ConnectionGate { ConnectionGate(limit: viewers + waiting + hosts, viewers: viewers) }

    /// The gate of the listeners for mixers.
    var mixerGate: ConnectionGate { ConnectionGate(limit: mixers, viewers: mixers) }
}
