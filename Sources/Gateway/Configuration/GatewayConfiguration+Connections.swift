import RTMP

extension GatewayConfiguration {
    /// What RTMP peers are granted: besides the most viewers there is room for everybody who makes the show.
    var rtmpLimits: RTMPLimits {
        var limits = RTMPLimits()
        limits.connections = maximumViewers + makers
        return limits
    }

    /// The most connections to the HTTP port.
    ///
    /// A browser's player keeps up to three, a page beside it some more; commands must get through at any time.
    var httpConnections: Int {
        4 * maximumViewers + makers
    }

    /// Descriptors that a gateway needs when all who may come are there; the usual viewer has one connection.
    var wantedDescriptors: Int {
        maximumViewers + 2 * makers
    }

    /// Hosts, the mixers that play each of them, what mixers and people send and look at for each room, and newcomers.
    private var makers: Int {
        3 * maximumHosts + 16 * maximumRooms + 2 * RTMPLimits().preAuthConnections
    }
}
