import RTMP

extension GatewayConfiguration {
    /// Where the listeners for mixers are: connections of strangers cannot fill them, for nobody else is told their ports.
    static let mixerHost = "127.0.0.1"

    /// What RTMP peers of the public listeners are granted.
    func rtmpLimits(_ plan: DescriptorPlan) -> RTMPLimits {
        var limits = RTMPLimits()
        limits.connections = plan.viewers + plan.waiting + plan.hosts
        limits.preAuthConnections = plan.waiting
        limits.preAuthConnectionsPerClient = clientWaiting == 0 ? nil : min(clientWaiting, max(1, plan.waiting / 2))
        limits.playersPerClient = mostOfOneClient(clientPlayers, plan)
        return limits
    }

    /// What one client may have open, by a setting; nil for any number.
    ///
    /// Never more than half of what there is for viewers: where that is little, one client alone does not take all of it.
    func mostOfOneClient(_ setting: Int, _ plan: DescriptorPlan?) -> Int? {
        guard setting > 0 else { return nil }
        return min(setting, max(1, (plan?.viewers ?? .max) / 2))
    }

    /// The most connections of viewers that are of any use.
    ///
    /// A browser's player keeps up to three, a page beside it some more; commands must get through at any time.
    var wantedViewerConnections: Int {
        4 * maximumViewers + 1_000
    }
}
