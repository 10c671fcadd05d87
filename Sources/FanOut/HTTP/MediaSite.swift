import HLS
import HTTPTypes
public import Media
public import NIOCore
public import Stage

/// Answers what players ask of the HTTP port, from memory: at once, or when the media that they ask for is there.
///
/// Shared by all connections.
public struct MediaSite: Sendable {
    let feeds: FeedDirectory
    let hls: HLSDirectory
    let audience: any AudienceObserving
    /// What a client may use up.
    public let limits: HTTPLimits
    let budget: RequestBudget
    /// What each client has open.
    let connections: ClientLimiter
    /// The answer to a request that is one too many for its budget.
    let tooManyRequests: MediaResponse
    let waits: WaitBudget
    let reading: PlayerReading
    let dates: AnswerDates

    /// Takes what is answered from, and whoever counts the viewers.
    ///
    /// - Parameter reading: What is believed of what players say of themselves.
    public init(
        feeds: FeedDirectory,
        hls: HLSDirectory,
        audience: any AudienceObserving,
        limits: HTTPLimits = HTTPLimits(),
        reading: PlayerReading = PlayerReading()
    ) {
        self.init(feeds: feeds, hls: hls, audience: audience, limits: limits, reading: reading, dates: AnswerDates())
    }

    init(
        feeds: FeedDirectory,
        hls: HLSDirectory,
        audience: any AudienceObserving,
        limits: HTTPLimits = HTTPLimits(),
        reading: PlayerReading = PlayerReading(),
        dates: AnswerDates
    ) {
        self.feeds = feeds
        self.hls = hls
        self.audience = audience
        self.limits = limits
        self.reading = reading
        self.dates = dates
        budget = RequestBudget(limits, audience: audience, proxies: reading.proxies)
        connections = ClientLimiter(limit: limits.connections)
        tooManyRequests = .tooManyRequests(rate: limits.requests?.perSecond ?? 1)
        waits = WaitBudget(limits.waits)
    }

    /// What is taken of what there is for requests.
    public var load: MediaSiteLoad {
        MediaSiteLoad(
            waiting: waits.count,
            waitingLimit: waits.limit.total,
            refusedWaits: waits.refused,
            refusedRequests: budget.refused,
            refusedConnections: connections.refused
        )
    }

    /// Counts a connection that was just accepted among its client's.
    ///
    /// - Returns: Its place, which the caller gives back when it closes; nil when its client has too many open.
    public func admitConnection(from address: SocketAddress?) -> ClientPlace? {
        guard let host = address?.ipAddress, !reading.proxies.include(host) else { return connections.enter(nil) }
        let client = PeerAddress(host)?.account
        return connections.enter(client) {
            // A player by HTTP keeps up to three connections, and a page beside it one more.
            guard let client else { return 0 }
            let sessions = audience.sessions(of: client)
            return 4 * sessions.watching + sessions.unproven
        }
    }

    /// The answer to a request for a playlist or a file; `.flv` is not answered here but streamed.
    func respond(
        to request: MediaRequest,
        query: QueryItems,
        player: PlayerRequest,
        mayWait: Bool = true
    ) -> MediaAnswer {
        guard let programs = hls.programs(request.room) else {
            return .now(.refusal(.notFound, "there is no such room"))
        }
        if let wait = waitForReturn(of: programs, request, query, player) {
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

    /// What a request for a playlist waits for whose program is not back yet after a restart; nil for all others.
    ///
    /// Whose playlist it is, and whether there is room for another viewer, is asked when it is answered.
    private func waitForReturn(
        of programs: HLSRenditions,
        _ request: MediaRequest,
        _ query: QueryItems,
        _ player: PlayerRequest
    ) -> MediaWait? {
        let awaited: HLSProgram
        switch request.target {
        case .flv, .file: return nil
        case .multivariantPlaylist:
            guard !programs.isOffered else { return nil }
            awaited = programs.program
        case .mediaPlaylist(let rendition):
            guard let program = programs.rendition(rendition), program.segmentCount == 0 else { return nil }
            guard let sid = player.sid, audience.accepts(sid: sid, room: request.room) else { return nil }
            awaited = program
        }
        guard programs.isReturning else { return nil }
        hls.asked(for: request.room)
        // In the address of a multivariant playlist anything may stand.
        let sid = request.beginsSession ? nil : player.sid
        var wait = MediaWait(program: awaited, target: .beginning, sid: sid, session: nil, readsGzip: false)
        wait.request = .init(request: request, query: query, player: player)
        return wait
    }

    /// The answer to a request whose wait is over.
    func respond(after wait: MediaWait, _ end: HLSWait.End) -> MediaResponse {
        guard end == .arrived else { return wait.request == nil ? Self.tooLate : Self.returning }
        if let asked = wait.request {
            let answer = respond(to: asked.request, query: asked.query, player: asked.player, mayWait: false)
            guard case .now(let response) = answer else { return Self.returning }
            return response
        }
        let answer =
            switch wait.target {
            case .beginning: MediaAnswer.now(Self.returning)
            case .playlist(let directives): mediaPlaylist(wait, directives, mayWait: false)
            case .part(let position): file(position.name, of: wait.program, mayWait: false)
            }
        guard case .now(let response) = answer else { return Self.tooLate }
        return response
    }

    private func multivariantPlaylist(
        of program: HLSRenditions,
        room: String,
        player: PlayerRequest
    ) -> MediaResponse {
        guard feeds.hasRoom(for: player, by: .hls, in: room, among: audience) else { return .busy }
        // Who comes too early asks again; each time would be another viewer who never watched.
        guard program.isOffered else {
            hls.asked(for: room)
            return Self.notYet
        }
        guard audience.hasPlace(in: room, for: player) else { return feeds.roomIsFull(for: .hls) }
        let admission = audience.admit(player, to: room)
        guard let sid = admission.sid else { return admission.refusal }
        let isInPath = reading.namesSessionsInPaths && player.isDirect && player.role != .relay
        guard let playlist = program.multivariantPlaylist(sid: sid, isInPath: isInPath) else { return Self.notYet }
        let compressed = player.readsGzip ? Gzip.compress(playlist) : nil
        return .playlist(compressed ?? playlist, cacheControl: "no-store", isCompressed: compressed != nil)
    }

    private func mediaPlaylist(
        of program: HLSProgram,
        room: String,
        rendition: String?,
        query: QueryItems,
        player: PlayerRequest
    ) -> MediaAnswer {
        guard let offered = player.sid else {
            // Without a session id nobody could be counted; the multivariant playlist hands one out.
            var response = MediaResponse.refusal(.found, "begin with index.m3u8")
            response.location = "index.m3u8"
            return .now(response)
        }
        // Whoever was given an id has no place by that alone: it takes one when it is proven to watch.
        if player.role != .relay, !feeds.hasRoom(for: player, by: .hls, in: room, among: audience) {
            return .now(.busy)
        }
        // A network that tells by its log who watches asks for somebody who is counted by that.
        let admission: ViewerAdmission =
            if player.role == .relay {
                audience.accepts(sid: offered, room: room) ? .uncounted(sid: offered) : .refused
            } else {
                audience.admit(player, to: room)
            }
        guard let sid = admission.sid else { return .now(admission.refusal) }
        if case .viewer = admission, !audience.hasPlace(in: room, for: player) {
            return .now(feeds.roomIsFull(for: .hls))
        }
        let given = DeliveryDirectives(
            sequence: query["_HLS_msn"],
            part: query["_HLS_part"],
            skip: query["_HLS_skip"]
        )
        guard let given else { return .now(.refusal(.badRequest, "these delivery directives cannot be followed")) }
        let session = ViewerSession(
            sid: sid,
            room: room,
            playback: given.areGiven ? .llhls : .hls,
            rendition: rendition,
            audience: audience,
            isMediaSeen: player.isMediaSeen
        )
        // Whoever wants the head only is told of what there is.
        let directives = player.isHead ? given.atOnce : given
        let wait = MediaWait(
            program: program,
            target: .playlist(directives),
            sid: sid,
            session: admission.recordedSID(of: player) == nil ? nil : session,
            readsGzip: player.readsGzip
        )
        return mediaPlaylist(wait, directives, mayWait: true)
    }

    private func mediaPlaylist(_ wait: MediaWait, _ directives: DeliveryDirectives, mayWait: Bool) -> MediaAnswer {
        switch wait.program.mediaPlaylist(directives, isCompressed: wait.readsGzip) {
        case .playlist(let playlist, let isCompressed):
            // A program that ended is played to its end, but nobody is counted in a room that is over.
            let viewer = wait.session.flatMap { feeds.feed($0.room) == nil ? nil : $0 }
            viewer?.record(.playlistServed, at: .now(), bytes: playlist.readableBytes)
            // What is asked for by a segment's number is the same for the crowd, and never asked for again.
            let seconds = directives.sequence == nil ? 1 : wait.program.targetDuration
            var response = MediaResponse.playlist(
                playlist,
                cacheControl: "max-age=\(seconds)",
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

    private func file(_ name: String, of program: HLSProgram?, mayWait: Bool) -> MediaAnswer {
        switch program?.file(named: name) {
        case .file(let body):
            return .now(.segment(body))
        case .announced(let position):
            guard mayWait, let program else { return .now(Self.gone) }
            let target = HLSWaitTarget.part(position)
            return .wait(MediaWait(program: program, target: target, sid: nil, session: nil, readsGzip: false))
        case nil:
            return .now(Self.gone)
        }
    }

    private static let gone = MediaResponse.refusal(.notFound, "this segment is gone")
    private static let notYet = MediaResponse.refusal(
        .notFound,
        "the program is about to begin, try again in a moment"
    )

    /// The media did not come in time.
    private static let tooLate = tryAgain("the program stands still, try again in a moment")
    private static let returning = tryAgain("the program is on its way, try again in a moment")

    private static func tryAgain(_ message: String) -> MediaResponse {
        var response = MediaResponse.refusal(.serviceUnavailable, message)
        response.retryAfter = 1
        return response
    }
}
