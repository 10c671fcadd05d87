public import Assets
public import FootlightModel
public import HTTPTypes
public import Hummingbird
public import Logging
public import Media
public import NIOCore
public import Stage
public import Viewership
public import Webhooks

/// The routes of the HTTP control API: they parse requests, call the domain and write responses, and hold no room
/// state.
///
/// Every route needs a bearer token, and every error response has the same shape.
public struct ControlRoutes: Sendable {
    /// Fetches an asset from a URL that a room, by sid, names; a URL set by an operator may be at a private address.
    public typealias AssetFetching =
        @Sendable (
            _ url: String, Asset.Kind, _ room: String, _ isOperators: Bool
        ) async throws(StageError) -> ByteBuffer

    let directory: RoomDirectory
    let tokens: AccessTokens
    let livestreams: any LivestreamControlling
    let hls: (any HLSControlling)?
    let recordings: (any RecordingControlling)?
    let snapshots = SnapshotStore()
    let viewership: any ViewershipReporting
    let history: (any AudienceHistory)?
    let logs: (any CDNLogReceiving)?
    let reporter: @Sendable (HTTPFields) -> PlayerRequest
    let client: @Sendable (HTTPFields) -> UInt64?
    /// Limits the event streams of each client.
    let clientStreams: ClientLimiter
    /// Limits the pending snapshot requests of each client.
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
    let frames = EventFrameCache()
    let streams = ClientEventStreams()
    let totalsStream = TotalsStream()
    let levels = LevelStream()
    let autoStarts: AutoStartScheduler

    /// Creates the routes with their dependencies.
    ///
    /// - Parameters:
    ///   - directory: The rooms and their participants.
    ///   - tokens: Verifies access tokens.
    ///   - livestreams: Pushes programs to RTMP outputs.
    ///   - hls: Controls HLS; nil if the gateway offers none.
    ///   - recordings: Records programs; nil if the gateway records none.
    ///   - viewership: Counts viewers.
    ///   - history: The stored viewership; nil if none is stored.
    ///   - logs: Counts viewers from the access logs of CDNs; nil if the gateway accepts none.
    ///   - reporter: Identifies the sender of a player report from the header fields; anonymous by default.
    ///   - client: The client account (`PeerAddress.account`) whose limits apply to a request; no limits by default.
    ///   - clientStreams: Limits the event streams of each client.
    ///   - clientSnapshots: Limits the pending snapshot requests of each client.
    ///   - assets: Stores the rooms' images and audio files.
    ///   - fetch: Fetches assets that rooms name by URL; refuses all by default.
    ///   - webhooks: Delivers webhooks; nil if the gateway has none.
    ///   - addresses: The gateway's addresses; evaluated at each request, because they are known only after binding.
    ///   - readiness: Whether the gateway accepts new work, and why not; evaluated at each request to `/readyz`.
    ///   - metrics: Returns the body of `/metrics`, Prometheus text format 0.0.4.
    ///   - openMetrics: Returns the metrics as OpenMetrics 1.0; nil if only the older format is offered.
    ///   - allowedOrigins: The origins allowed by CORS, such as `https://app.example`; none by default.
    ///   - admission: The error that refuses new work at this moment; nil if new work is accepted.
    ///   - mixerReported: Called with the room's name at each report of its mixer; must return immediately.
    ///   - persist: Persists a room, by sid; awaited before a change is confirmed.
    ///   - auditLogger: Logs each command.
    public init(
        directory: RoomDirectory,
        tokens: AccessTokens,
        livestreams: any LivestreamControlling,
        hls: (any HLSControlling)? = nil,
        recordings: (any RecordingControlling)? = nil,
        viewership: any ViewershipReporting,
        history: (any AudienceHistory)? = nil,
        logs: (any CDNLogReceiving)? = nil,
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
        autoStarts = AutoStartScheduler(directory: directory, livestreams: livestreams)
    }

    /// The routes of the public port.
    public func router() -> Router<BasicRequestContext> {
        let router = openRouter()
        router.addMethodNotAllowedRoutes()
        return router
    }

    /// The routes of the mixer port: those of the public port, for mixer tokens only.
    public func mixerRouter() -> Router<BasicRequestContext> {
        let router = openRouter(isForMixers: true)
        router.addMethodNotAllowedRoutes()
        return router
    }

    /// The routes of a port without the 405 responses for other methods.
    func openRouter(isForMixers: Bool = false) -> Router<BasicRequestContext> {
        let router = Router()
        router.add(middleware: CrossOriginMiddleware(allowedOrigins: allowedOrigins))
        router.add(middleware: ErrorResponseMiddleware())
        if isForMixers { router.add(middleware: MixersOnlyMiddleware(tokens: tokens)) }
        addHealth(to: router)
        addDescription(to: router)
        let api = APIRoutes(group: router.group("v1"), tokens: tokens, audit: audit)
        addRooms(to: api)
        addLayout(to: api)
        addAudio(to: api)
        addAssets(to: api)
        addParticipants(to: api)
        addSessions(to: api)
        addModes(to: api)
        addTracks(to: api)
        addPins(to: api)
        addLivestream(to: api)
        addHLS(to: api)
        addInvitations(to: api)
        addHands(to: api)
        addViewership(to: api)
        addCMCDReports(to: router.group("v1"))
        addCDNLogs(to: api)
        addMixer(to: api)
        addRecordings(to: api)
        addSnapshotUploads(to: api)
        addSnapshots(to: router.group("v1"))
        addEvents(to: api)
        addWebhooks(to: api)
        addTokens(to: api)
        return router
    }

    /// The routes of the admin port: metrics and health, without tokens.
    public func adminRouter() -> Router<BasicRequestContext> {
        let router = Router()
        router.add(middleware: ErrorResponseMiddleware())
        addHealth(to: router)
        router.get("metrics") { request, _ in
            if let openMetrics, request.headers[.accept]?.contains("application/openmetrics-text") ?? false {
                return APIResponse.text(openMetrics(), type: "application/openmetrics-text; version=1.0.0")
            }
            return APIResponse.text(metrics(), type: "text/plain; version=0.0.4")
        }
        router.addMethodNotAllowedRoutes()
        return router
    }

    private func addHealth(to router: Router<BasicRequestContext>) {
        // A response proves that the event loops run.
        router.get("livez") { _, _ in APIResponse.text("ok\n") }
        router.get("readyz") { _, _ in
            let readiness = readiness()
            return try APIResponse.json(readiness, status: readiness.ready ? .ok : .serviceUnavailable)
        }
    }
}

/// The body of `/readyz`: whether the gateway accepts new work, and every reason why not.
public struct Readiness: Sendable, Encodable, Equatable {
    /// A reason why the gateway is not ready.
    public struct Reason: Sendable, Encodable, Equatable {
        /// A stable identifier of lowercase letters, digits and underscores.
        public var name: String
        /// A description of the problem for people.
        public var problem: String

        /// Creates a reason.
        public init(name: String, problem: String) {
            self.name = name
            self.problem = problem
        }
    }

    /// Whether the gateway accepts new work.
    public let ready: Bool
    /// The reasons why not; empty if the gateway is ready.
    public let reasons: [Reason]

    /// Creates a response body; without reasons the gateway is ready.
    public init(reasons: [Reason] = []) {
        ready = reasons.isEmpty
        self.reasons = reasons
    }
}

/// Counts viewers, as the control API uses it.
public protocol ViewershipReporting: Sendable {
    /// Returns the figures of one room; zeros for a room without viewers.
    func report(room: String) -> RoomViewership
    /// Returns the figures of all rooms on air, and their sum, at one moment.
    func totals() -> ViewershipTotals
    /// Returns a session id for the players of a RECV_ONLY participant, so that both count as one viewer.
    func makeSession(room: String, identity: String) -> String
    /// Records a player's report on its own playback.
    ///
    /// - Parameters:
    ///   - room: The room that it plays, if the report does not name it.
    ///   - player: The sender, from the request.
    /// - Returns: Whether the report names a valid session or a room on air.
    func receive(_ report: PlayerReport, room: String?, from player: PlayerRequest) -> Bool
}

extension ViewershipLedger: ViewershipReporting {}

/// Counts viewers behind other servers from the access logs that those upload.
public protocol CDNLogReceiving: Sendable {
    /// Maximum size in bytes of an uploaded log.
    var bodyLimit: Int { get }
    /// Receives a log in JSON Lines, plain or as a gzip file.
    ///
    /// - Parameters:
    ///   - name: The sender of the log.
    ///   - room: The unique name of the only room whose requests are counted; nil for all rooms.
    ///   - body: Returns the log's bytes; called once the upload is admitted.
    /// - Throws: 53004 for an unreadable log, 53006 while too many logs are being read, 429 for a second log of the
    ///   same sender, and the errors of `body`.
    func read(
        of name: String,
        room: String?,
        body: @Sendable () async throws(StageError) -> ByteBuffer
    ) async throws(StageError) -> LogReceiptResource
}
