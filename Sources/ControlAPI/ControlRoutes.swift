public import Admission
public import Assets
public import HTTPTypes
public import Hummingbird
public import Logging
public import Media
public import NIOCore
public import Shows
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

    /// Returns a check of whether the login has ended that a request with these header fields was sent by; nil for a
    /// request with a token of its own.
    public typealias LogoutCheck = @Sendable (_ fields: HTTPFields) -> (@Sendable () -> Bool)?

    /// Builds the events that webhooks deliver.
    public let webhookEvents: WebhookEventBuilder
    private let tokens: AccessTokens
    private let addresses: @Sendable () -> PlaybackAddresses
    private let audit: AuditLog
    private let allowedOrigins: Set<String>
    private let ignoresUnknownFields: Bool
    private let health: HealthRoutes
    private let viewership: ViewershipRoutes
    /// The routes of all features below `/v1`.
    private let features: [any FeatureRoutes]

    /// Creates the routes with their dependencies.
    ///
    /// - Parameters:
    ///   - directory: The rooms and their participants.
    ///   - tokens: Verifies access tokens.
    ///   - livestreams: Pushes programs to RTMP outputs.
    ///   - hls: Controls HLS; nil if the gateway offers none.
    ///   - recordings: Records programs; nil if the gateway records none.
    ///   - viewership: Counts viewers.
    ///   - gate: Decides who may watch.
    ///   - shows: The shows and their episodes.
    ///   - history: The stored viewership; nil if none is stored.
    ///   - logs: Counts viewers from the access logs of CDNs; nil if the gateway accepts none.
    ///   - reporter: Identifies the sender of a player report from the header fields; anonymous by default.
    ///   - client: The client account (`PeerAddress.account`) whose limits apply to a request; no limits by default.
    ///   - logout: Returns a check of whether the login has ended that a request was sent by; nil for a request with a
    ///     token of its own.
    ///   - clientStreams: Limits the event streams of each client.
    ///   - clientSnapshots: Limits the pending snapshot requests of each client.
    ///   - assets: Stores the rooms' images and audio files.
    ///   - fetch: Fetches assets that rooms name by URL; refuses all by default.
    ///   - webhooks: Delivers webhooks; nil if the gateway has none.
    ///   - issuedTokens: Lists the tokens that operators make; nil to list none.
    ///   - system: Reports how the gateway and its machine are doing; nil if nothing does.
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
        gate: AudienceGate,
        shows: ShowDirectory,
        history: (any AudienceHistory)? = nil,
        logs: (any CDNLogReceiving)? = nil,
        reporter: @escaping @Sendable (_ fields: HTTPFields) -> PlayerRequest = { _ in PlayerRequest() },
        client: @escaping @Sendable (_ fields: HTTPFields) -> UInt64? = { _ in nil },
        logout: @escaping LogoutCheck = { _ in nil },
        clientStreams: ClientLimiter = ClientLimiter(limit: nil),
        clientSnapshots: ClientLimiter = ClientLimiter(limit: nil),
        assets: AssetStore,
        fetch: @escaping AssetFetching = { _, _, _, _ throws(StageError) in throw .assetNotFound },
        webhooks: WebhookDispatcher? = nil,
        issuedTokens: (any IssuedTokenStoring)? = nil,
        system: (any SystemReporting)? = nil,
        addresses: @escaping @Sendable () -> PlaybackAddresses,
        readiness: @escaping @Sendable () -> Readiness,
        metrics: @escaping @Sendable () -> String,
        openMetrics: (@Sendable () -> String)? = nil,
        allowedOrigins: Set<String> = [],
        ignoresUnknownFields: Bool = false,
        admission: @escaping @Sendable () -> StageError? = { nil },
        mixerReported: @escaping @Sendable (_ room: String) -> Void = { _ in },
        persist: @escaping @Sendable (_ roomSID: String) async throws -> Void = { _ in },
        auditLogger: Logger = Logger(label: "footlight.audit")
    ) {
        self.tokens = tokens
        self.addresses = addresses
        self.allowedOrigins = allowedOrigins
        self.ignoresUnknownFields = ignoresUnknownFields
        audit = AuditLog(logger: auditLogger)
        health = HealthRoutes(readiness: readiness, metrics: metrics, openMetrics: openMetrics)
        let rooms = RoomAccess(directory: directory, admission: admission, persist: persist, audit: audit)
        let answers = RoomAnswers(
            viewership: viewership,
            livestreams: livestreams,
            hls: hls,
            gate: gate,
            gatewayAddresses: addresses
        )
        let access = EventStreamAccess(
            limiter: clientStreams,
            client: client,
            logout: logout,
            revocations: tokens.revocations
        )
        let snapshots = SnapshotStore()
        let autoStarts = AutoStartScheduler(directory: directory, livestreams: livestreams)
        webhookEvents = WebhookEventBuilder(directory: directory, answers: answers)
        self.viewership = ViewershipRoutes(rooms: rooms, viewership: viewership, history: history, access: access)
        let files = AssetRoutes(rooms: rooms, assets: assets, shows: shows)
        features = [
            RoomRoutes(rooms: rooms, answers: answers, autoStarts: autoStarts, gate: gate),
            AudienceAccessRoutes(rooms: rooms, answers: answers, gate: gate, viewer: reporter),
            LayoutRoutes(rooms: rooms, files: files),
            AudioRoutes(rooms: rooms),
            files,
            ShowRoutes(
                shows: shows,
                rooms: rooms,
                answers: answers,
                gate: gate,
                assets: assets,
                recordings: recordings,
                webhooks: webhooks
            ),
            ParticipantRoutes(rooms: rooms, answers: answers, viewership: viewership),
            SessionRoutes(rooms: rooms, answers: answers),
            ModeRoutes(rooms: rooms, answers: answers),
            TrackRoutes(rooms: rooms),
            DiagnosisRoutes(rooms: rooms),
            PinRoutes(rooms: rooms),
            LivestreamRoutes(rooms: rooms, answers: answers, livestreams: livestreams, hls: hls),
            InvitationRoutes(rooms: rooms),
            HandRoutes(rooms: rooms),
            self.viewership,
            PlayerReportRoutes(viewership: viewership, reporter: reporter),
            CDNLogRoutes(rooms: rooms, logs: logs),
            MixerRoutes(
                rooms: rooms,
                snapshots: snapshots,
                mixerReported: mixerReported,
                fetch: fetch,
                access: access
            ),
            RecordingRoutes(rooms: rooms, answers: answers, recordings: recordings),
            SnapshotRoutes(
                rooms: rooms,
                tokens: tokens,
                snapshots: snapshots,
                gate: gate,
                viewer: reporter,
                client: client,
                clientSnapshots: clientSnapshots
            ),
            EventRoutes(rooms: rooms, answers: answers, access: access),
            WebhookRoutes(webhooks: webhooks, shows: shows),
            TokenRoutes(tokens: tokens, issued: issuedTokens, audit: audit),
            SystemRoutes(system: system),
        ]
    }

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
        router.add(middleware: CrossOriginMiddleware(allowedOrigins: allowedOrigins))
        router.add(middleware: ErrorResponseMiddleware(addresses: addresses))
        if isForMixers { router.add(middleware: MixersOnlyMiddleware(tokens: tokens)) }
        health.add(to: router)
        DescriptionRoutes.add(to: router)
        let api = APIRoutes(
            group: router.group("v1"),
            tokens: tokens,
            audit: audit,
            ignoresUnknownFields: ignoresUnknownFields
        )
        for feature in features { feature.add(to: api) }
        return router
    }

    /// The routes of the admin port: metrics and health, without tokens.
    public func adminRouter() -> Router<BasicRequestContext> {
        let router = Router(options: .autoGenerateHeadEndpoints)
        router.add(middleware: ErrorResponseMiddleware(addresses: addresses))
        health.add(to: router)
        health.addMetrics(to: router)
        router.addMethodRoutes()
        return router
    }

    /// Renders the viewership event that reconnecting readers missed; to be called once a second.
    public func recordTotals() {
        viewership.recordTotals()
    }
}

/// The routes of one feature.
protocol FeatureRoutes: Sendable {
    func add(to api: APIRoutes)
}
