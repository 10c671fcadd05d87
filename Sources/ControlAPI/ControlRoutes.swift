public import Hummingbird
public import Stage

/// The HTTP control API over the stage: reads a request, asks the domain, writes the answer, and holds no state.
///
/// Every route needs a bearer token, and every refusal has the one error shape.
public struct ControlRoutes: Sendable {
    let directory: RoomDirectory
    let tokens: AccessTokens
    let livestreams: any LivestreamControlling
    let viewership: any ViewershipReporting
    let addresses: @Sendable () -> PlaybackAddresses
    let readiness: @Sendable () -> Bool
    let metrics: @Sendable () -> String

    /// Takes what the routes speak to.
    ///
    /// - Parameters:
    ///   - directory: Who is on air.
    ///   - tokens: Who may ask.
    ///   - livestreams: Who pushes the program.
    ///   - viewership: Who counts the audience.
    ///   - addresses: Where we listen; asked at each request, so it may be known only after binding.
    ///   - readiness: Whether new work is welcome; false while draining.
    ///   - metrics: The whole answer of `/metrics`, Prometheus text format 0.0.4.
    public init(
        directory: RoomDirectory,
        tokens: AccessTokens,
        livestreams: any LivestreamControlling,
        viewership: any ViewershipReporting,
        addresses: @escaping @Sendable () -> PlaybackAddresses,
        readiness: @escaping @Sendable () -> Bool,
        metrics: @escaping @Sendable () -> String
    ) {
        self.directory = directory
        self.tokens = tokens
        self.livestreams = livestreams
        self.viewership = viewership
        self.addresses = addresses
        self.readiness = readiness
        self.metrics = metrics
    }

    /// The routes of the public port.
    public func router() -> Router<BasicRequestContext> {
        let router = Router()
        router.add(middleware: RefusalMiddleware())
        addHealth(to: router)
        let api = router.group("v1")
        addRooms(to: api)
        addParticipants(to: api)
        addLivestream(to: api)
        addViewership(to: api)
        addEvents(to: api)
        return router
    }

    /// The routes of the port for operators' machines: metrics and health, without tokens.
    public func adminRouter() -> Router<BasicRequestContext> {
        let router = Router()
        router.add(middleware: RefusalMiddleware())
        addHealth(to: router)
        router.get("metrics") { _, _ in
            Reply.text(metrics(), type: "text/plain; version=0.0.4")
        }
        return router
    }

    private func addHealth(to router: Router<BasicRequestContext>) {
        // An answer at all means that the event loops turn.
        router.get("livez") { _, _ in Reply.text("ok\n") }
        router.get("readyz") { _, _ in
            readiness() ? Reply.text("ok\n") : Reply.text("not ready\n", status: .serviceUnavailable)
        }
    }
}
