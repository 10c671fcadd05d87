import FanOut

extension HTTPLimits {
    /// What the gateway's settings grant a client.
    init(_ configuration: GatewayConfiguration, plan: DescriptorPlan?) {
        let rate = Double(configuration.requestRate)
        self.init(
            requests: rate > 0 ? (perSecond: rate, burst: 2 * rate) : nil,
            connections: configuration.mostOfOneClient(configuration.clientConnections, plan)
        )
    }
}
