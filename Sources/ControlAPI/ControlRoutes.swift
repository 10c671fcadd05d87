public import Assets
public import HTTPTypes
public import Hummingbird
public import Logging
public import Media
public import NIOCore
public import Stage
public import Viewership
public import Webhooks

/// The HTTP control API over the stage: reads a request, asks the domain, writes the answer, and holds no state.
///
/// Every route needs a bearer token, and every refusal has the one error shape.
public struct ControlRoutes: Sendable {
    /// Fetches what a room, by its sid, names by a URL; what an operator named may be at a private address.
    public typealias AssetFetching =
        @Sendable (
            _ url: String, Asset.Kind, _ room: String, _ isOperators: Bool
        ) async throws(StageError) -> ByteBuffer

    let directory: RoomDirectory
    let tokens: AccessTokens
    let livestreams: any LivestreamControlling
    let hls: (any HLSControlling)?
    let recordings: (any RecordingControlling)?
    let snapshots = SnapshotBoard()
    let viewership: any ViewershipReporting
    let history: (any AudienceHistory)?
    let logs: (any RequestLogTaking)?
    let reporter: @Sendable (HTTPFields) -> PlayerRequest
    let client: @Sendable (HTTPFields) -> UInt64?
    /// Streams of events of one client.
    let clientStreams: ClientLimiter
    /// Pictures that one client waits for.
    let clientSnapshots: ClientLimiter
    let assets: AssetStore
    let fetch: AssetFetching
    let webhooks: WebhookDispatcher?
    let addresses: @Sendable () -> PlaybackAddresses
    let readiness: @Sendable () -> Readiness
    let metrics: @Sendable () -> String
    let openMetrics: (@Sendable () -> String)?
    let allowedOrigins: Set<String>
    let admission: @Sendable () -> StageError?
    let mixerReported: @Sendable (String) -> Void
    let persist: @Sendable (_ roomSID: String) async throws -> Void
    let audit: AuditLog
    let frames = EventFrames()
    let streams = OpenStreams()
    let totalsStream = TotalsStream()
    let levels = LevelStream()
    let autoStarts: AutoStarts

    /// Takes what the routes speak to.
    ///
    /// - Parameters:
    ///   - directory: Who is on air.
    ///   - tokens: Who may ask.
    ///   - livestreams: Who pushes the program.
    ///   - hls: Who offers the program as a playlist; nil where nobody does.
    ///   - recordings: Who records the program; nil where nobody does.
    ///   - viewership: Who counts the audience.
    ///   - history: Where the settled counts are read; nil where none are kept.
    ///   - logs: Who counts by the logs of servers in front; nil where nobody does.
    ///   - reporter: Who sends a player's report, by the fields of its request; anybody, unless given otherwise.
    ///   - client: Whose limits hold for a request, a `PeerAddress.account`; nobody's, unless given otherwise.
    ///   - clientStreams: Counts the streams of events of each client.
    ///   - clientSnapshots: Counts the pictures that each client waits for.
    ///   - assets: Who keeps the rooms' pictures and sounds.
    ///   - fetch: Who fetches pictures and sounds that rooms name by an address on the web; nobody, unless given.
    ///   - webhooks: Who tells others what happens; nil where nobody does.
    ///   - addresses: Where we listen; asked at each request, so it may be known only after binding.
    ///   - readiness: Whether new work is welcome, and why not; asked at each request to `/readyz`.
    ///   - metrics: The whole answer of `/metrics`, Prometheus text format 0.0.4.
    ///   - openMetrics: The same for those who ask for OpenMetrics 1.0; nil where there is only the older format.
    ///   - allowedOrigins: Origins whose pages may ask from a browser, such as `https://app.example`; none by default.
    ///   - admission: Why no more work can be taken at this moment; nil while it can.
    ///   - mixerReported: Told the name of the room at each report of its mixer; must return at once.
    ///   - persist: Keeps a room, by sid, where a restart finds it; awaited before a change is answered.
    ///   - auditLogger: Where each command is written down.
    public init(
        directory: RoomDirectory,
        tokens: AccessTokens,
        livestreams: any LivestreamControlling,
        hls: (any HLSControlling)? = nil,
        recordings: (any RecordingControlling)? = nil,
        viewership: any ViewershipReporting,
        history: (any AudienceHistory)? = nil,
        logs: (any RequestLogTaking)? = nil,
        reporter: @escaping @Sendable (_ fields: HTTPFields) -> PlayerRequest = { _ in PlayerRequest() },
        client: @escaping @Sendable (_ fields: HTTPFields) -> UInt64? = { _ in nil },
        clientStreams: ClientLimiter = ClientLimiter(limit: nil),
        clientSnapshots: ClientLimiter = ClientLimiter(limit: nil),
        assets: AssetStore,
        fetch: @escaping AssetFetching = { _, _, _, _ throws(StageError) in throw .assetNotFound },
        webhooks: WebhookDispatcher? = nil,
        addresses: @escaping @Sendable () -> PlaybackAddresses,
        readiness: @escaping @Sendable () -> Readiness,
        metrics: @escaping @Sendable () -> String,
        openMetrics: (@Sendable () -> String)? = nil,
        allowedOrigins: Set<String> = [],
        admission: @escaping @Sendable () -> StageError? = { nil },
        mixerReported: @escaping @Sendable (_ room: String) -> Void = { _ in },
        persist: @escaping @Sendable (_ roomSID: String) async throws -> Void = { _ in },
        auditLogger: Logger = Logger(label: "footlight.audit")
    ) {
        self.directory = directory
        self.tokens = tokens
        self.livestreams = livestreams
        self.hls = hls
        self.recordings = recordings
        self.viewership = viewership
        self.history = history
        self.logs = logs
        self.reporter = reporter
        self.client = client
        self.clientStreams = clientStreams
        self.clientSnapshots = clientSnapshots
        self.assets = assets
        self.fetch = fetch
        self.webhooks = webhooks
        self.addresses = addresses
        self.readiness = readiness
        self.metrics = metrics
        self.openMetrics = openMetrics
        self.allowedOrigins = allowedOrigins
        self.admission = admission
        self.mixerReported = mixerReported
        self.persist = persist
        audit = AuditLog(logger: auditLogger)
        autoStarts = AutoStarts(directory: directory, livestreams: livestreams)
    }

    /// The routes of the public port.
    public func router() -> Router<BasicRequestContext> {
        let router = openRouter()
        router.refuseOtherMethods()
        return router
    }

    /// The routes of the port for mixers: those of the public one, for tokens of mixers only.
    public func mixerRouter() -> Router<BasicRequestContext> {
        let router = openRouter(isForMixers: true)
        router.refuseOtherMethods()
        return router
    }

    /// The routes of the public port by themselves, without the refusals of other methods.
    func openRouter(isForMixers: Bool = false) -> Router<BasicRequestContext> {
        let router = Router()
        router.add(middleware: CrossOriginMiddleware(allowedOrigins: allowedOrigins))
        router.add(middleware: RefusalMiddleware())
        if isForMixers { router.add(middleware: MixersOnlyMiddleware(tokens: tokens)) }
        addHealth(to: router)
        addDescription(to: router)
        let api = APIRoutes(group: router.group("v1"), tokens: tokens, audit: audit)
        addRooms(to: api)
        addLayout(to: api)
        addSound(to: api)
        addAssets(to: api)
        addMembers(to: api)
        addSessions(to: api)
        addModes(to: api)
        addTracks(to: api)
        addPins(to: api)
        addLivestream(to: api)
        addHLS(to: api)
        addInvitations(to: api)
        addHands(to: api)
        addViewership(to: api)
        addBeacons(to: router.group("v1"))
        addLogs(to: api)
        addMixer(to: api)
        addRecordings(to: api)
        addSnapshotPosts(to: api)
        addSnapshots(to: router.group("v1"))
        addEvents(to: api)
        addWebhooks(to: api)
        addTokens(to: api)
        return router
    }

    /// The routes of the port for operators' machines: metrics and health, without tokens.
    public func adminRouter() -> Router<BasicRequestContext> {
        let router = Router()
        router.add(middleware: RefusalMiddleware())
        addHealth(to: router)
        router.get("metrics") { request, _ in
            if let openMetrics, request.headers[.accept]?.contains("application/openmetrics-text") ?? false {
                return Reply.text(openMetrics(), type: "application/openmetrics-text; version=1.0.0")
            }
            return Reply.text(metrics(), type: "text/plain; version=0.0.4")
        }
        router.refuseOtherMethods()
        return router
    }

    private func addHealth(to router: Router<BasicRequestContext>) {
        // An answer at all means that the event loops turn.
        router.get("livez") { _, _ in Reply.text("ok\n") }
        router.get("readyz") { _, _ in
            let readiness = readiness()
            return try Reply.json(readiness, status: readiness.ready ? .ok : .serviceUnavailable)
        }
    }
}
