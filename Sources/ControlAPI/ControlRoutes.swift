public import Hummingbird

/// The routes of the HTTP control API: they parse requests, call the domain and write responses, and hold no room
/// state.
///
/// Every route needs a bearer token, and every error response has the same shape.
public struct ControlRoutes: Sendable {
    private let services: ControlServices
    private let features: ControlFeatures
    private let audit: AuditLog
    private let health: HealthRoutes

    /// Creates the routes.
    public init(_ services: ControlServices) {
        self.services = services
        audit = AuditLog(logger: services.auditLogger)
        health = HealthRoutes(
            readiness: services.readiness,
            metrics: services.metrics,
            openMetrics: services.openMetrics
        )
        features = ControlFeatures(services, audit: audit)
    }

    /// Builds the events that webhooks deliver.
    public var webhookEvents: WebhookEventBuilder { features.webhookEvents }

    /// The routes of the public port.
    public func router() -> Router<BasicRequestContext> {
        let router = openRouter()
        router.addMethodRoutes()
        return router
    }

    /// The routes of the mixer port: those of the public port, for mixer tokens only.
    public func mixerRouter() -> Router<BasicRequestContext> {
        let router = openRouter(isForMixers: true)
        router.addMethodRoutes()
        return router
    }

    /// The routes of a port without the responses to OPTIONS and the 405 responses for other methods.
    func openRouter(isForMixers: Bool = false) -> Router<BasicRequestContext> {
        let router = Router(options: .autoGenerateHeadEndpoints)
        router.add(middleware: CrossOriginMiddleware(allowedOrigins: services.allowedOrigins))
        router.add(middleware: ErrorResponseMiddleware(addresses: services.addresses))
        if isForMixers {
            router.add(middleware: MixersOnlyMiddleware(tokens: services.tokens))
        } else if let cluster = services.cluster {
            router.add(middleware: RoomForwardingMiddleware(cluster: cluster))
        }
        health.add(to: router)
        DescriptionRoutes.add(to: router)
        let api = APIRoutes(
            group: router.group("v1"),
            tokens: services.tokens,
            audit: audit,
            ignoresUnknownFields: services.ignoresUnknownFields
        )
        for feature in features.all { feature.add(to: api) }
        return router
    }

    /// The routes of the admin port: metrics and health, without tokens.
    public func adminRouter() -> Router<BasicRequestContext> {
        let router = Router(options: .autoGenerateHeadEndpoints)
        router.add(middleware: ErrorResponseMiddleware(addresses: services.addresses))
        health.add(to: router)
        health.addMetrics(to: router)
        router.addMethodRoutes()
        return router
    }

    /// Renders the viewership event that reconnecting readers missed; to be called once a second.
    public func recordTotals() {
        features.viewership.recordTotals()
    }
}
