public import Admission
public import Assets
public import HTTPTypes
public import Logging
public import Media
public import NIOCore
public import Shows
public import Stage
public import Viewership
public import Webhooks

/// What the routes of the control API work with; what is optional is missing by default.
public struct ControlServices: Sendable {
    /// Fetches an asset from a URL that a room, by sid, names; a URL set by an operator may be at a private address.
    public typealias AssetFetching =
        @Sendable (
            _ url: String, Asset.Kind, _ room: String, _ isOperators: Bool
        ) async throws(StageError) -> ByteBuffer

    /// Returns a check of whether the login has ended that a request with these header fields was sent by; nil for a
    /// request with a token of its own.
    public typealias LogoutCheck = @Sendable (_ fields: HTTPFields) -> (@Sendable () -> Bool)?

    /// The rooms and their participants.
    public var directory: RoomDirectory
    /// Verifies access tokens.
    public var tokens: AccessTokens
    /// Pushes programs to RTMP outputs.
    public var livestreams: any LivestreamControlling
    /// Controls HLS; nil if the gateway offers none.
    public var hls: (any HLSControlling)?
    /// Records programs; nil if the gateway records none.
    public var recordings: (any RecordingControlling)?
    /// Counts viewers.
    public var viewership: any ViewershipReporting
    /// Decides who may watch.
    public var gate: AudienceGate
    /// The shows and their episodes.
    public var shows: ShowDirectory
    /// The stored viewership; nil if none is stored.
    public var history: (any AudienceHistory)?
    /// Counts viewers from the access logs of CDNs; nil if the gateway accepts none.
    public var logs: (any CDNLogReceiving)?
    /// Identifies the sender of a player report from the header fields; anonymous by default.
    public var reporter: @Sendable (_ fields: HTTPFields) -> PlayerRequest = { _ in PlayerRequest() }
    /// The client account (`PeerAddress.account`) whose limits apply to a request; no limits by default.
    public var client: @Sendable (_ fields: HTTPFields) -> UInt64? = { _ in nil }
    /// Tells whether the login of a request has ended; no request has a login by default.
    public var logout: LogoutCheck = { _ in nil }
    /// Limits the event streams of each client.
    public var clientStreams = ClientLimiter(limit: nil)
    /// Limits the pending snapshot requests of each client.
    public var clientSnapshots = ClientLimiter(limit: nil)
    /// Stores the rooms' images and audio files.
    public var assets: AssetStore
    /// Fetches assets that rooms name by URL; refuses all by default.
    public var fetch: AssetFetching = { _, _, _, _ throws(StageError) in throw .assetNotFound }
    /// Delivers webhooks; nil if the gateway has none.
    public var webhooks: WebhookDispatcher?
    /// Lists the tokens that operators make; nil to list none.
    public var issuedTokens: (any IssuedTokenStoring)?
    /// Reports how the gateway and its machine are doing; nil if nothing does.
    public var system: (any SystemReporting)?
    /// The other gateways of the cluster; nil for a gateway that runs alone.
    public var cluster: (any ClusterControlling)?
    /// The gateway's addresses; evaluated at each request, because they are known only after binding.
    public var addresses: @Sendable () -> PlaybackAddresses
    /// Whether the gateway accepts new work, and why not; evaluated at each request to `/readyz`.
    public var readiness: @Sendable () -> Readiness
    /// Returns the body of `/metrics`, Prometheus text format 0.0.4.
    public var metrics: @Sendable () -> String
    /// Returns the metrics as OpenMetrics 1.0; nil if only the older format is offered.
    public var openMetrics: (@Sendable () -> String)?
    /// The origins allowed by CORS, such as `https://app.example`; none by default.
    public var allowedOrigins: Set<String> = []
    /// Whether bodies may have fields that the gateway does not know.
    public var ignoresUnknownFields = false
    /// The error that refuses new work at this moment; nil if new work is accepted.
    public var admission: @Sendable () -> StageError? = { nil }
    /// Called with the room's name at each report of its mixer; must return immediately.
    public var mixerReported: @Sendable (_ room: String) -> Void = { _ in }
    /// Whether the preview of a room, by name, is played; must return immediately.
    public var isPreviewWatched: @Sendable (_ room: String) -> Bool = { _ in false }
    /// Persists a room, by sid; awaited before a change is confirmed.
    public var persist: @Sendable (_ roomSID: String) async throws -> Void = { _ in }
    /// Logs each command.
    public var auditLogger = Logger(label: "footlight.audit")

    /// Creates services without those that are optional.
    public init(
        directory: RoomDirectory,
        tokens: AccessTokens,
        livestreams: any LivestreamControlling,
        viewership: any ViewershipReporting,
        gate: AudienceGate,
        shows: ShowDirectory,
        assets: AssetStore,
        addresses: @escaping @Sendable () -> PlaybackAddresses,
        readiness: @escaping @Sendable () -> Readiness,
        metrics: @escaping @Sendable () -> String
    ) {
        self.directory = directory
        self.tokens = tokens
        self.livestreams = livestreams
        self.viewership = viewership
        self.gate = gate
        self.shows = shows
        self.assets = assets
        self.addresses = addresses
        self.readiness = readiness
        self.metrics = metrics
    }
}
