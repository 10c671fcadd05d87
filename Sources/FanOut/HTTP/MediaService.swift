import HLS
public import HTTPTypes
public import Media
public import NIOCore
public import Stage

/// Answers playback requests from memory: at once, or when the requested media arrives.
///
/// All connections share one service.
public struct MediaService: Sendable {
    let feeds: FeedDirectory
    let hls: HLSDirectory
    let audience: any AudienceObserving
    /// The limits for a client.
    public let limits: HTTPLimits
    let budget: RequestRateLimiter
    /// Limits the open connections of each client.
    let connections: ClientLimiter
    let waits: WaitingRequestLimiter
    let trust: ClientTrustPolicy
    let dates: HTTPDateCache
    /// Returns the HTTPS URL to which a request in clear is redirected; nil to answer the request, or all requests.
    public var secureLocation: (@Sendable (_ request: HTTPRequest) -> String?)?
    /// The other gateways of the cluster; nil for a gateway that runs alone.
    public var routing: NodeRouting?

    /// Creates a service for feeds and HLS programs.
    ///
    /// - Parameter trust: Which statements of players and proxies are trusted.
    public init(
        feeds: FeedDirectory,
        hls: HLSDirectory,
        audience: any AudienceObserving,
        limits: HTTPLimits = HTTPLimits(),
        trust: ClientTrustPolicy = ClientTrustPolicy()
    ) {
        self.init(feeds: feeds, hls: hls, audience: audience, limits: limits, trust: trust, dates: HTTPDateCache())
    }

    init(
        feeds: FeedDirectory,
        hls: HLSDirectory,
        audience: any AudienceObserving,
        limits: HTTPLimits = HTTPLimits(),
        trust: ClientTrustPolicy = ClientTrustPolicy(),
        dates: HTTPDateCache
    ) {
        self.feeds = feeds
        self.hls = hls
        self.audience = audience
        self.limits = limits
        self.trust = trust
        self.dates = dates
        budget = RequestRateLimiter(limits, audience: audience, proxies: trust.proxies)
        connections = ClientLimiter(limit: limits.connections)
        waits = WaitingRequestLimiter(limits.waits)
    }

    /// Changes the limits for a client: its requests and its connections; nil for none.
    ///
    /// All copies of the service share them.
    public func setClientLimits(requests: (perSecond: Double, burst: Double)?, connections limit: Int?) {
        budget.setLimit(requests)
        connections.setLimit(limit)
    }

    /// The current load and the refusals since the start.
    public var load: MediaServiceLoad {
        MediaServiceLoad(
            waiting: waits.count,
            waitingLimit: waits.limit.total,
            refusedWaits: waits.refused,
            refusedRequests: budget.refused,
            refusedConnections: connections.refused
        )
    }

    /// Admits a new connection, counted among those of its client.
    ///
    /// - Returns: The slot to release when the connection closes; nil if the client has too many connections.
    public func admitConnection(from address: SocketAddress?) -> ClientSlot? {
        guard let host = address?.ipAddress, !trust.proxies.include(host) else { return connections.enter(nil) }
        let client = PeerAddress(host)?.account
        return connections.enter(client) {
            // An HLS player keeps up to three connections, and the page around it one more.
            guard let client else { return 0 }
            let sessions = audience.sessions(of: client)
            return 4 * sessions.watching + sessions.unproven
        }
    }

    /// Responds to a request for a playlist or a file; FLV streams are not handled here.
    func respond(
        to request: MediaRequest,
        query: QueryItems,
        player: PlayerRequest,
        mayWait: Bool = true
    ) -> MediaRequestResult {
        guard let programs = hls.programs(request.room) else {
            return .now(.refusal(.notFound, "there is no such room"))
        }
        // Before anything is done for the player, such as starting a program.
        if request.target == .multivariantPlaylist, let refusal = audience.refusal(of: player, to: request.room) {
            return .now(.denied(refusal))
        }
        if let wait = waitForResumption(of: programs, request, query, player) {
            return mayWait && !player.isHead ? .wait(wait) : .now(Self.returning)
        }
        switch request.target {
        case .flv:
            return .now(.refusal(.notFound, "not a file"))
        case .multivariantPlaylist:
            return .now(multivariantPlaylist(of: programs, room: request.room, player: player))
        case .mediaPlaylist(let rendition):
            guard let program = programs.offered(rendition) else {
                return .now(.refusal(.notFound, "there is no such rendition, or not at present"))
            }
            return mediaPlaylist(
                of: program,
                room: request.room,
                rendition: rendition,
                query: query,
                player: player
            )
        case .file(let run, let name):
            return file(name, of: programs.program(run: run), mayWait: !player.isHead)
        }
    }

    /// Returns the wait of a playlist request whose program has not resumed after a restart; nil for other requests.
    ///
    /// Session and capacity are checked when the wait ends.
    private func waitForResumption(
        of programs: HLSRenditions,
        _ request: MediaRequest,
        _ query: QueryItems,
        _ player: PlayerRequest
    ) -> PendingMediaRequest? {
        let pendingProgram: HLSProgram
        switch request.target {
        case .flv, .file: return nil
        case .multivariantPlaylist:
            guard !programs.isOffered else { return nil }
            pendingProgram = programs.program
        case .mediaPlaylist(let rendition):
            guard let program = programs.rendition(rendition), program.segmentCount == 0 else { return nil }
            guard let sid = player.sid, audience.accepts(sid: sid, room: request.room) else { return nil }
            pendingProgram = program
        }
        guard programs.isResuming else { return nil }
        hls.asked(for: request.room)
        // The address of a multivariant playlist may contain any session id.
        let sid = request.beginsSession ? nil : player.sid
        var wait = PendingMediaRequest(
            program: pendingProgram,
            target: .beginning,
            sid: sid,
            session: nil,
            acceptsGzip: false
        )
        wait.request = .init(request: request, query: query, player: player)
        return wait
    }

    /// Responds to a request whose wait has ended.
    func respond(after wait: PendingMediaRequest, _ end: BlockingReload.End) -> MediaResponse {
        guard end == .arrived else { return wait.request == nil ? Self.tooLate : Self.returning }
        if let asked = wait.request {
            let answer = respond(to: asked.request, query: asked.query, player: asked.player, mayWait: false)
            guard case .now(let response) = answer else { return Self.returning }
            return response
        }
        let answer =
            switch wait.target {
            case .beginning: MediaRequestResult.now(Self.returning)
            case .playlist(let directives): mediaPlaylist(wait, directives, mayWait: false)
            case .part(let position):
                MediaRequestResult.now(wait.program.part(at: position).map { .segment($0) } ?? Self.gone)
            }
        guard case .now(let response) = answer else { return Self.tooLate }
        return response
    }

    private func multivariantPlaylist(
        of program: HLSRenditions,
        room: String,
        player: PlayerRequest
    ) -> MediaResponse {
        guard feeds.hasCapacity(for: player, by: .hls, in: room, among: audience) else { return .busy }
        // A player that comes too early retries; each retry would create a session that never watches.
        guard program.isOffered else {
            hls.asked(for: room)
            return Self.notYet
        }
        guard audience.hasFreeSlot(in: room, for: player) else { return feeds.refuseRoomFull(for: .hls) }
        let admission = audience.admit(player, to: room)
        guard let sid = admission.sid else { return admission.refusal }
        let isInPath = trust.namesSessionsInPaths && player.isDirect && player.role != .relay
        guard let playlist = program.multivariantPlaylist(sid: sid, isInPath: isInPath) else { return Self.notYet }
        let compressed = player.acceptsGzip ? Gzip.compress(playlist) : nil
        return .playlist(compressed ?? playlist, cacheControl: "no-store", isCompressed: compressed != nil)
    }

    private func mediaPlaylist(
        of program: HLSProgram,
        room: String,
        rendition: String?,
        query: QueryItems,
        player: PlayerRequest
    ) -> MediaRequestResult {
        guard let offered = player.sid else {
            // Without a session id the viewer cannot be counted; the multivariant playlist assigns one.
            var response = MediaResponse.refusal(.found, "begin with index.m3u8")
            response.location = "index.m3u8"
            return .now(response)
        }
        // A session id alone reserves no slot; the viewer gets one when it is proven to watch.
        if player.role != .relay, !feeds.hasCapacity(for: player, by: .hls, in: room, among: audience) {
            return .now(.busy)
        }
        // A CDN that reports viewers by its log requests on behalf of a viewer who is counted there.
        let admission: ViewerAdmission =
            if player.role == .relay {
                audience.accepts(sid: offered, room: room) ? .uncounted(sid: offered) : .refused
            } else {
                audience.admit(player, to: room)
            }
        guard let sid = admission.sid else { return .now(admission.refusal) }
        hls.played(room)
        if case .viewer = admission, !audience.hasFreeSlot(in: room, for: player) {
            return .now(feeds.refuseRoomFull(for: .hls))
        }
        let requested = DeliveryDirectives(
            sequence: query["_HLS_msn"],
            part: query["_HLS_part"],
            skip: query["_HLS_skip"]
        )
        guard let requested else { return .now(.refusal(.badRequest, "these delivery directives cannot be followed")) }
        let session = PlaybackSession(
            sid: sid,
            room: room,
            playback: requested.isLowLatencyRequest ? .llhls : .hls,
            rendition: rendition,
            audience: audience,
            isMediaSeen: player.isMediaSeen
        )
        // A HEAD request does not block.
        let directives = player.isHead ? requested.withoutBlocking : requested
        let wait = PendingMediaRequest(
            program: program,
            target: .playlist(directives),
            sid: sid,
            session: admission.recordedSID(of: player) == nil ? nil : session,
            acceptsGzip: player.acceptsGzip,
            room: room
        )
        return mediaPlaylist(wait, directives, mayWait: true)
    }

    private func mediaPlaylist(
        _ wait: PendingMediaRequest,
        _ directives: DeliveryDirectives,
        mayWait: Bool
    ) -> MediaRequestResult {
        switch wait.program.mediaPlaylist(directives, isCompressed: wait.acceptsGzip) {
        case .playlist(let playlist, let isCompressed):
            // An ended program can be played to its end, but viewers of an ended room are not counted.
            let viewer = wait.session.flatMap { feeds.feed($0.room) == nil ? nil : $0 }
            viewer?.record(.playlistServed, at: .now(), bytes: playlist.readableBytes)
            // A blocking reload has the same URL for all viewers and is never requested again.
            let seconds = directives.sequence == nil ? 1 : wait.program.targetDuration
            // A cache in front must not answer for a room that not everyone may watch.
            let isPrivate = wait.room.map { audience.isPrivate($0) } ?? false
            var response = MediaResponse.playlist(
                playlist,
                cacheControl: isPrivate ? "private, no-store" : "max-age=\(seconds)",
                isCompressed: isCompressed
            )
            response.viewer = viewer
            return .now(response)
        case .notYet:
            return .now(Self.notYet)
        case .tooFar:
            return .now(.refusal(.badRequest, "the program is not that far yet"))
        case .later:
            return mayWait ? .wait(wait) : .now(Self.tooLate)
        }
    }

    private func file(_ name: String, of program: HLSProgram?, mayWait: Bool) -> MediaRequestResult {
        switch program?.file(named: name) {
        case .file(let body):
            return .now(.segment(body))
        case .announced(let position):
            guard mayWait, let program else { return .now(Self.gone) }
            let target = BlockingReloadTarget.part(position)
            return .wait(
                PendingMediaRequest(program: program, target: target, sid: nil, session: nil, acceptsGzip: false)
            )
        case nil:
            return .now(Self.gone)
        }
    }

    private static let gone = MediaResponse.refusal(.notFound, "this segment is gone")
    private static let notYet = MediaResponse.refusal(
        .notFound,
        "the program is about to begin, try again in a moment"
    )

    /// The response to a blocking reload that timed out.
    private static let tooLate = tryAgain("the program stands still, try again in a moment")
    private static let returning = tryAgain("the program is on its way, try again in a moment")

    private static func tryAgain(_ message: String) -> MediaResponse {
        var response = MediaResponse.refusal(.serviceUnavailable, message)
        response.retryAfter = 1
        return response
    }
}

/// The result of a request for a playlist or a file.
enum MediaRequestResult {
    /// The response is available at once.
    case now(MediaResponse)
    /// The response is available when the requested media arrives.
    case wait(PendingMediaRequest)
}

/// A request that waits for media, with the state needed for its response.
struct PendingMediaRequest {
    /// The original request, for a response that is computed anew after the wait.
    struct Request {
        let request: MediaRequest
        let query: QueryItems
        let player: PlayerRequest
    }

    let program: HLSProgram
    let target: BlockingReloadTarget
    /// The session of the request; nil for a part, whose URI is the same for every viewer.
    let sid: String?
    /// The session under which the response is recorded; nil if it is not recorded.
    let session: PlaybackSession?
    /// Whether the player accepts gzip.
    let acceptsGzip: Bool
    /// The room of a media playlist; nil for other requests.
    var room: String?
    /// The original request, if it waits for the program to resume; the viewer is admitted only afterwards.
    var request: Request?
}

/// A snapshot of the waiting requests and of the refusals since the start.
public struct MediaServiceLoad: Sendable, Equatable {
    /// Requests that wait for media.
    public var waiting = 0
    /// The maximum number of waiting requests.
    public var waitingLimit = 0
    /// Requests refused because too many waited, in total or of their session.
    public var refusedWaits: UInt64 = 0
    /// Requests refused because their client exceeded its rate limit.
    public var refusedRequests: UInt64 = 0
    /// Connections refused because their client had too many.
    public var refusedConnections: UInt64 = 0
}
