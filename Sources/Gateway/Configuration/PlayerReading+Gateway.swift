import FanOut

extension PlayerReading {
    /// What the gateway's settings say of whom to believe.
    init(_ configuration: GatewayConfiguration, tokens: ViewerTokens) {
        // Networks that make no sense were refused when the settings were read; nobody is believed without any.
        var proxies =
            TrustedProxies(configuration.trustedProxies, regionHeader: configuration.regionHeader) ?? TrustedProxies()
        proxies.cacheMedia = configuration.proxiesCache
        self.init(
            proxies: proxies,
            takesDevices: configuration.takesDeviceIDs,
            bearer: { token, room in try await tokens.bearer(of: token, watching: room) }
        )
        namesSessionsInPaths = configuration.namesSessionsInPaths
    }
}
