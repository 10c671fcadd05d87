public import FootlightModel
public import Foundation
public import Stage

/// A client of a gateway's control API, with one async method for each route.
///
/// ## Overview
///
/// A client is a value with an address and a token, without mutable state of its own. Copies may be used freely, and
/// calls may run concurrently.
///
///     let client = BroadcastClient(baseURL: gateway, token: token)
///     let room = try await client.room("show")
///     let answer = try await client.join("show", JoinBody(mode: .known(.sendAndReceive)))
///
/// - **Results** are the values of `FootlightModel`, field by field what is on the wire.
/// - **Errors** are always `StageError`s: compare `code`; `message`, `cause` and `solution` are for people,
///   `isRetryable` and `retryAfter` say whether and when to retry. The gateway's errors are passed through unchanged.
///   The client itself throws 53000 (``Stage/StageError/callNotConnected``: name resolution, route or certificate
///   failed, or no response within 15 s), 499 (the task was cancelled), and the HTTP status as the code for a response
///   that is not the gateway's.
/// - **Tokens** expire. A client that was created with ``init(baseURL:tokenProvider:limits:clock:)`` asks the app for
///   a new one in time.
/// - **Events** of a room are ``events(of:after:)``, which reconnects when the stream breaks and neither loses nor
///   repeats an event; those of an identity (invitations) are ``events(ofIdentity:)``.
/// - **A whole call**, from the lobby to the end, is ``BroadcastCall``: it joins, follows the room, sends heartbeats,
///   reconnects, and is observable.
///
/// | subject | methods |
/// |---|---|
/// | rooms | ``createRoom(_:)`` ``rooms(status:pageSize:pageToken:)`` ``room(_:)`` |
/// |  | ``endRoom(_:)`` ``goLive(_:)`` ``stopLive(_:)`` |
/// | shows | ``createShow(_:template:)`` ``shows()`` ``show(_:)`` ``update(show:_:)`` ``deleteShow(_:)`` ``showStatus(_:)`` |
/// | seats | ``addSeat(_:to:)`` ``seat(_:of:)`` ``renewKey(ofSeat:in:)`` ``removeSeat(_:from:)`` |
/// | episodes | ``planEpisode(of:_:)`` ``episodes(of:)`` ``episode(_:of:)`` ``nextEpisode(of:)`` ``moments(ofEpisode:in:)`` |
/// |  | ``update(episode:of:_:)`` ``deleteEpisode(_:of:)`` ``openEpisode(_:of:)`` |
/// |  | ``goLive(withEpisode:of:)`` ``endEpisode(_:of:)`` |
/// | diagnosis | ``diagnosis(of:)`` |
/// | participants | ``join(_:_:)`` ``participants(of:mode:status:pageSize:pageToken:)`` ``participant(_:in:)`` |
/// |  | ``update(_:in:_:)`` ``leave(_:in:)`` ``remove(_:from:)`` |
/// | sessions | ``heartbeat(_:in:sessionID:audioLevel:)`` ``reconnect(_:in:sessionID:lastEventID:)`` |
/// | modes | ``changeMode(of:in:to:)`` |
/// | tracks | ``publish(_:of:in:isEnabled:)`` ``setEnabled(_:_:of:in:)`` ``unpublish(_:of:in:)`` |
/// | pins | ``pin(_:in:_:)`` ``unpin(_:in:)`` |
/// | layout | ``layout(of:)`` ``setLayout(of:_:)`` ``previewLayout(of:_:)`` |
/// | livestream | ``startLivestream(of:_:)`` ``stopLivestream(of:)`` ``addOutputs(to:_:)`` ``removeOutput(_:from:)`` |
/// | HLS, egress | ``startHLS(of:_:)`` ``stopHLS(of:)`` ``egress(of:)`` |
/// | invitations | ``invite(to:_:)`` ``invitation(_:)`` ``acceptInvitation(_:)`` |
/// |  | ``rejectInvitation(_:)`` ``cancelInvitation(_:)`` |
/// | raised hands | ``raiseHand(in:timeout:)`` ``hands(in:pageSize:pageToken:)`` ``lowerHand(_:in:)`` |
/// |  | ``acceptHand(_:in:)`` ``rejectHand(_:in:)`` |
/// | custom events | ``sendEvent(_:_:to:)`` |
/// | audience | ``viewership(of:)`` ``viewership()`` |
/// | audio | ``sound(of:)`` ``setSound(of:_:)`` ``setSound(of:in:_:)`` ``talkback(of:)`` |
/// | images, music | ``assets(of:)`` ``asset(_:of:)`` ``storeAsset(_:as:in:)`` ``removeAsset(_:from:)`` |
///
/// Redirects are followed with the original method; the token is sent to the original host only.
///
/// A room is named by its unique name or its sid, a participant by its identity or its sid.
public struct BroadcastClient: Sendable {
    /// The gateway's URL, such as `https://live.example`; paths below `/v1` are appended.
    public let baseURL: URL
    /// Returns a new token, such as from the app's own server; asked again whenever one expires.
    public typealias TokenProvider = @Sendable () async throws -> String

    /// The bearer token; empty before a provider has returned the first.
    ///
    /// A fresh one may be set at any time, and is used from the next request on; it replaces the provider.
    public var token: String {
        get { tokens?.latest ?? fixedToken }
        set {
            fixedToken = newValue
            tokens = nil
        }
    }
    /// The timeouts and limits.
    public let limits: ClientLimits
    /// The clock of the timeouts.
    public let clock: ClientClock

    let connection: HTTPConnection
    private var fixedToken: String
    /// The token of a provider; nil for a fixed token.
    private(set) var tokens: TokenSource?

    /// Creates a client; no connection is opened before the first request.
    public init(baseURL: URL, token: String, limits: ClientLimits = .init(), clock: ClientClock = .system) {
        self.baseURL = baseURL
        fixedToken = token
        self.limits = limits
        self.clock = clock
        connection = HTTPConnection(clock: clock)
    }

    /// Creates a client that asks for its tokens.
    ///
    /// The provider is asked before the first request, a minute before a token expires, and when the gateway refuses one
    /// as expired (20104); after two refusals of a request in a row the error is thrown. The provider's `StageError`s
    /// are thrown unchanged, and its other errors as 53000, which may be retried.
    ///
    /// - Parameters:
    ///   - baseURL: The gateway's URL.
    ///   - tokenProvider: Returns a new token; called once at a time.
    ///   - limits: The timeouts and limits.
    ///   - clock: The clock of the timeouts.
    public init(
        baseURL: URL,
        tokenProvider: @escaping TokenProvider,
        limits: ClientLimits = .init(),
        clock: ClientClock = .system
    ) {
        self.init(baseURL: baseURL, token: "", limits: limits, clock: clock)
        tokens = TokenSource(tokenProvider, clock: clock)
    }
}

/// The participants of a room.
extension BroadcastClient {
    /// Joins a room; ``BroadcastCall`` does this and manages the session.
    ///
    /// A new participant must open its event stream or send a heartbeat within 15 s.
    ///
    /// - Throws: 53105 for a full room, 4010 for a full stage, 53106, 20106, 53006, 53200 to 53202.
    public func join(_ room: String, _ body: JoinBody) async throws(StageError) -> JoinAnswer {
        try await command(.post, ["rooms", room, "participants"], body)
    }

    /// Returns participants in join order.
    ///
    /// - Parameters:
    ///   - mode: Restricts the list to a mode.
    ///   - status: Restricts the list to a status.
    ///   - pageSize: The number of entries, 1 to 100; 50 when nil.
    ///   - pageToken: The `nextPageToken` of the previous page.
    public func participants(
        of room: String,
        mode: ParticipantMode? = nil,
        status: ParticipantStatus? = nil,
        pageSize: Int? = nil,
        pageToken: String? = nil
    ) async throws(StageError) -> ParticipantList {
        try await read(
            ["rooms", room, "participants"],
            query: [
                ("mode", mode?.rawValue), ("status", status?.rawValue),
                ("page_size", pageSize.map { String($0) }), ("page_token", pageToken),
            ]
        )
    }

    /// Returns one participant.
    ///
    /// - Throws: 53204, 53106.
    public func participant(_ participant: String, in room: String) async throws(StageError) -> ParticipantResource {
        try await read(["rooms", room, "participants", participant])
    }

    /// Changes the display name, metadata or avatar of a participant.
    @discardableResult
    public func update(
        _ participant: String,
        in room: String,
        _ body: UpdateParticipantBody
    ) async throws(StageError) -> ParticipantResource {
        try await command(.patch, ["rooms", room, "participants", participant], body)
    }

    /// Leaves a room.
    ///
    /// - Throws: 53204 or 3035 for a participant that is not in the room, 53106.
    public func leave(_ participant: String, in room: String) async throws(StageError) {
        try await perform(.delete, ["rooms", room, "participants", participant])
    }

    /// Removes another participant from a room.
    ///
    /// - Throws: 20106 without the right.
    public func remove(_ participant: String, from room: String) async throws(StageError) {
        try await perform(.delete, ["rooms", room, "participants", participant], query: [("reason", "removed")])
    }

    /// Changes a participant's mode: the bearer's own, or with the right over participants another host's to a lower
    /// one.
    ///
    /// - Returns: The participant, and the ingest of a new host.
    /// - Throws: 4065 without permission, 4010 for a full stage, 3065 while reconnecting.
    @discardableResult
    public func changeMode(
        of participant: String,
        in room: String,
        to mode: ParticipantMode
    ) async throws(StageError) -> ModeAnswer {
        try await command(.post, ["rooms", room, "participants", participant, "mode"], ModeBody(mode: .known(mode)))
    }

    /// Sends a heartbeat of a participant.
    ///
    /// - Parameter audioLevel: The microphone level in dBFS, -127 to 0; nil if it is not measured.
    /// - Throws: 53002 for an expired session, 53205 for a session whose identity joined again elsewhere, 1002 for a
    ///   removed participant, 53106.
    public func heartbeat(
        _ participant: String,
        in room: String,
        sessionID: String,
        audioLevel: Double? = nil
    ) async throws(StageError) {
        try await perform(
            .post,
            ["rooms", room, "participants", participant, "heartbeat"],
            HeartbeatBody(sessionID: sessionID, audioLevel: audioLevel)
        )
    }

    /// Resumes a session after a connection loss.
    ///
    /// - Returns: As for a join, without stream keys.
    /// - Throws: 53002 for an expired session, 53205 for a session whose identity joined again elsewhere, 1002 for a
    ///   removed participant, 53106.
    public func reconnect(
        _ participant: String,
        in room: String,
        sessionID: String,
        lastEventID: UInt64? = nil
    ) async throws(StageError) -> JoinAnswer {
        try await command(
            .post,
            ["rooms", room, "participants", participant, "reconnect"],
            ReconnectBody(sessionID: sessionID, lastEventID: lastEventID.map { EventID($0) })
        )
    }
}

/// Tracks and pins.
extension BroadcastClient {
    /// Publishes a track of a host.
    ///
    /// - Throws: 3066 for a participant that is not a host, 53304 for a track that is published already, 20106, 3065.
    @discardableResult
    public func publish(
        _ track: TrackName,
        of participant: String,
        in room: String,
        isEnabled: Bool = true
    ) async throws(StageError) -> TrackResource {
        try await command(
            .put,
            path(track, participant, room),
            PublishTrackBody(kind: .known(track.kind), enabled: isEnabled)
        )
    }

    /// Disables a published track, or enables it again; it stays published and keeps its position.
    ///
    /// - Throws: 3066, 20106, 3065, and 404 for a track that is not published.
    @discardableResult
    public func setEnabled(
        _ track: TrackName,
        _ isEnabled: Bool,
        of participant: String,
        in room: String
    ) async throws(StageError) -> TrackResource {
        try await command(.patch, path(track, participant, room), UpdateTrackBody(enabled: isEnabled))
    }

    /// Unpublishes a track.
    public func unpublish(_ track: TrackName, of participant: String, in room: String) async throws(StageError) {
        try await perform(.delete, path(track, participant, room))
    }

    /// Pins a host: for all viewers with the right over participants, otherwise for the bearer's own view.
    ///
    /// - Throws: 3066 for a participant that is not a host.
    @discardableResult
    public func pin(
        _ participant: String,
        in room: String,
        _ type: PinType = .screenAndCamera
    ) async throws(StageError) -> PinResource {
        try await command(
            .put,
            ["rooms", room, "participants", participant, "pin"],
            PinBody(pinType: .known(type))
        )
    }

    /// Removes the bearer's pin.
    public func unpin(_ participant: String, in room: String) async throws(StageError) {
        try await perform(.delete, ["rooms", room, "participants", participant, "pin"])
    }

    private func path(_ track: TrackName, _ participant: String, _ room: String) -> [String] {
        ["rooms", room, "participants", participant, "tracks", track.rawValue]
    }
}

/// Raised hands.
extension BroadcastClient {
    /// Raises the bearer's own hand; returns the existing one if it is raised already.
    ///
    /// - Parameter timeout: The time in seconds it stays raised, 10 to 3600; 300 when nil.
    /// - Throws: 3066 for a host, 3035 for a bearer that has not joined, 3065, 3073, 429, 53106.
    @discardableResult
    public func raiseHand(in room: String, timeout: Int? = nil) async throws(StageError) -> HandResource {
        try await command(.post, ["rooms", room, "hands"], RaiseHandBody(timeout: timeout))
    }

    /// Returns the raised hands in the order in which they were raised.
    ///
    /// - Parameters:
    ///   - pageSize: The number of entries, 1 to 100; 50 when nil.
    ///   - pageToken: The `nextPageToken` of the previous page.
    public func hands(
        in room: String,
        pageSize: Int? = nil,
        pageToken: String? = nil
    ) async throws(StageError) -> HandList {
        try await read(
            ["rooms", room, "hands"],
            query: [("page_size", pageSize.map { String($0) }), ("page_token", pageToken)]
        )
    }

    /// Lowers a hand; the bearer's own may be lowered already.
    ///
    /// - Parameter hand: The hand's sid, or its participant's sid or identity.
    /// - Throws: 20106 for another participant's hand without the right to, 404 if it is not raised, 53106.
    public func lowerHand(_ hand: String, in room: String) async throws(StageError) {
        try await perform(.delete, ["rooms", room, "hands", hand])
    }

    /// Accepts a raised hand: its participant may change its mode to host within two minutes.
    ///
    /// - Parameter hand: The hand's sid, or its participant's sid or identity.
    /// - Throws: 20106 for a bearer that is neither a host nor has the right `participants`, 404 if it is not raised,
    ///   4010 for a full stage, 53106.
    @discardableResult
    public func acceptHand(_ hand: String, in room: String) async throws(StageError) -> HandResource {
        try await command(.post, ["rooms", room, "hands", hand, "accept"])
    }

    /// Rejects a raised hand; its participant may raise it again.
    ///
    /// - Parameter hand: The hand's sid, or its participant's sid or identity.
    /// - Throws: As ``acceptHand(_:in:)``, except 4010.
    @discardableResult
    public func rejectHand(_ hand: String, in room: String) async throws(StageError) -> HandResource {
        try await command(.post, ["rooms", room, "hands", hand, "reject"])
    }
}

/// Invitations to a room or its stage.
extension BroadcastClient {
    /// Creates an invitation, which rings until it is answered, expires or is cancelled.
    public func invite(to room: String, _ body: CreateInvitationBody) async throws(StageError) -> InvitationResource {
        try await command(.post, ["rooms", room, "invitations"], body)
    }

    /// Returns an invitation, for its inviter and invitees.
    public func invitation(_ sid: String) async throws(StageError) -> InvitationResource {
        try await read(["invitations", sid])
    }

    /// Accepts an invitation; the next step is to join with it, or to change the mode.
    ///
    /// - Throws: 409 if it is closed, 410 if it has expired.
    @discardableResult
    public func acceptInvitation(_ sid: String) async throws(StageError) -> InvitationResource {
        try await command(.post, ["invitations", sid, "accept"])
    }

    /// Rejects an invitation.
    @discardableResult
    public func rejectInvitation(_ sid: String) async throws(StageError) -> InvitationResource {
        try await command(.post, ["invitations", sid, "reject"])
    }

    /// Cancels an invitation of the bearer.
    @discardableResult
    public func cancelInvitation(_ sid: String) async throws(StageError) -> InvitationResource {
        try await command(.post, ["invitations", sid, "cancel"])
    }
}

/// Rooms; only operators create and end them.
extension BroadcastClient {
    /// Creates a room.
    ///
    /// - Throws: 53113 for a name in use, 53100 to 53102 for an invalid one, 53107, 53006 at the gateway's limit.
    public func createRoom(_ body: CreateRoomBody) async throws(StageError) -> RoomResource {
        try await command(.post, ["rooms"], body)
    }

    /// Returns rooms, the oldest first.
    ///
    /// - Parameters:
    ///   - status: Restricts the list to a status.
    ///   - pageSize: The number of entries, 1 to 100; 50 when nil.
    ///   - pageToken: The `nextPageToken` of the previous page.
    public func rooms(
        status: RoomStatus? = nil,
        pageSize: Int? = nil,
        pageToken: String? = nil
    ) async throws(StageError) -> RoomList {
        try await read(
            ["rooms"],
            query: [
                ("status", status?.rawValue), ("page_size", pageSize.map { String($0) }), ("page_token", pageToken),
            ]
        )
    }

    /// Returns a room.
    ///
    /// - Throws: 53106.
    public func room(_ room: String) async throws(StageError) -> RoomResource {
        try await read(["rooms", room])
    }

    /// Ends a room; its participants receive 53118.
    @discardableResult
    public func endRoom(_ room: String) async throws(StageError) -> RoomResource {
        try await command(.post, ["rooms", room], UpdateRoomBody(status: .known(.completed)))
    }

    /// Lets the audience see the program of a room that is backstage.
    @discardableResult
    public func goLive(_ room: String) async throws(StageError) -> RoomResource {
        try await command(.post, ["rooms", room, "go_live"])
    }

    /// Returns a room to backstage.
    @discardableResult
    public func stopLive(_ room: String) async throws(StageError) -> RoomResource {
        try await command(.post, ["rooms", room, "stop_live"])
    }
}

/// The layout of the program.
extension BroadcastClient {
    /// Returns the layout of a room with its tiles.
    public func layout(of room: String) async throws(StageError) -> LayoutResource {
        try await read(["rooms", room, "layout"])
    }

    /// Changes the layout on air; missing fields stay unchanged.
    ///
    /// - Throws: 3073 naming the field, 20106 without the right.
    @discardableResult
    public func setLayout(of room: String, _ body: LayoutBody) async throws(StageError) -> LayoutResource {
        try await command(.put, ["rooms", room, "layout"], body)
    }

    /// Puts hosts first on stage, in the given order; the others follow in their present order.
    ///
    /// - Parameter identities: Hosts, also former ones that had a place; an empty list removes the order.
    /// - Returns: The whole order.
    /// - Throws: 3073 naming an identity that is unknown or repeated, 20106 without the right.
    @discardableResult
    public func setHostOrder(of room: String, _ identities: [String]) async throws(StageError) -> [String] {
        let answer: HostOrderResource = try await command(
            .put,
            ["rooms", room, "host_order"],
            HostOrderResource(identities: identities)
        )
        return answer.identities
    }

    /// Returns the tiles of a layout without changing the program.
    public func previewLayout(of room: String, _ body: LayoutPreviewBody) async throws(StageError) -> LayoutResource {
        try await command(.post, ["rooms", room, "layout", "preview"], body)
    }
}

/// The audio mix of a room; changes require the right `streaming`.
extension BroadcastClient {
    /// Returns the audio settings of a room.
    public func sound(of room: String) async throws(StageError) -> RoomSoundResource {
        try await read(["rooms", room, "sound"])
    }

    /// Changes the audio settings of a room on air; missing fields stay unchanged.
    ///
    /// - Throws: 3073 naming the field, 20106 without the right.
    @discardableResult
    public func setSound(of room: String, _ body: RoomSoundBody) async throws(StageError) -> RoomSoundResource {
        try await command(.put, ["rooms", room, "sound"], body)
    }

    /// Changes how one participant is mixed; missing fields stay unchanged.
    ///
    /// - Throws: 3073 naming the field, 20106 without the right, 53204.
    @discardableResult
    public func setSound(
        of participant: String,
        in room: String,
        _ body: ParticipantSoundBody
    ) async throws(StageError) -> ParticipantResource {
        try await command(.put, ["rooms", room, "participants", participant, "sound"], body)
    }

    /// Returns who speaks to the hosts of a room in their return feeds, and which of them receive it.
    public func talkback(of room: String) async throws(StageError) -> TalkbackResource {
        try await read(["rooms", room, "talkback"])
    }
}

/// The images and audio files of a room, which its layout, slates and music name as `asset:NAME`; for operators.
extension BroadcastClient {
    /// Returns all assets by name.
    ///
    /// - Throws: 20106 for other bearers than operators, 53106.
    public func assets(of room: String) async throws(StageError) -> [AssetResource] {
        let list: AssetList = try await read(["rooms", room, "assets"])
        return list.assets
    }

    /// Returns the bytes of an asset as they were uploaded.
    ///
    /// - Throws: 404 if there is none of the name.
    public func asset(_ name: String, of room: String) async throws(StageError) -> Data {
        try await file(["rooms", room, "assets", name])
    }

    /// Uploads an image or audio file, replacing another one of its name.
    ///
    /// - Parameters:
    ///   - data: png, jpeg, webp, gif or bmp up to 5 MiB; mp3, aac, wav, ogg or flac up to 20 MiB.
    ///   - name: The name by which layouts refer to it.
    /// - Throws: 53004 with status 413 or 415 for a file that is too large or of another format, 3073 for an invalid
    ///   name, or with status 409 for too many files.
    @discardableResult
    public func storeAsset(
        _ data: Data,
        as name: String,
        in room: String
    ) async throws(StageError) -> AssetResource {
        try await store(data, at: ["rooms", room, "assets", name])
    }

    /// Removes an asset from a room.
    ///
    /// - Throws: 404 if there is none of the name.
    public func removeAsset(_ name: String, from room: String) async throws(StageError) {
        try await perform(.delete, ["rooms", room, "assets", name])
    }
}

/// The livestream and HLS of a program; require the right `streaming`.
extension BroadcastClient {
    /// Returns the state of the livestream and HLS.
    public func egress(of room: String) async throws(StageError) -> EgressResource {
        try await read(["rooms", room, "egress"])
    }

    /// Starts the livestream; events report its progress.
    ///
    /// - Throws: 4015 for invalid outputs, 3054 if it runs already, 3055 while it starts or stops, 4030.
    @discardableResult
    public func startLivestream(
        of room: String,
        _ body: StartLivestreamBody
    ) async throws(StageError) -> LivestreamResource {
        try await command(.post, ["rooms", room, "livestream", "start"], body)
    }

    /// Stops the livestream.
    ///
    /// - Throws: 4014 if it does not run.
    @discardableResult
    public func stopLivestream(of room: String) async throws(StageError) -> LivestreamResource {
        try await command(.post, ["rooms", room, "livestream", "stop"])
    }

    /// Adds outputs to a running livestream: all of them, or none.
    @discardableResult
    public func addOutputs(to room: String, _ outputs: [OutputBody]) async throws(StageError) -> LivestreamResource {
        try await command(.post, ["rooms", room, "livestream", "outputs"], ["outputs": outputs])
    }

    /// Removes an output; the last one can only be stopped with the livestream.
    ///
    /// - Throws: 4015 with status 409 for the last one.
    @discardableResult
    public func removeOutput(_ name: String, from room: String) async throws(StageError) -> LivestreamResource {
        try await command(.delete, ["rooms", room, "livestream", "outputs", name])
    }

    /// Starts HLS; events report when it is playable.
    @discardableResult
    public func startHLS(
        of room: String,
        _ body: StartHLSBody = StartHLSBody()
    ) async throws(StageError) -> HLSResource {
        try await command(.post, ["rooms", room, "hls", "start"], body)
    }

    /// Stops HLS.
    @discardableResult
    public func stopHLS(of room: String) async throws(StageError) -> HLSResource {
        try await command(.post, ["rooms", room, "hls", "stop"])
    }
}

/// Viewership.
extension BroadcastClient {
    /// Returns the viewership of a room.
    ///
    /// - Throws: 20106 without the right `streaming`.
    public func viewership(of room: String) async throws(StageError) -> ViewershipResource {
        try await read(["rooms", room, "viewership"])
    }

    /// Returns the viewership of all rooms, and their total; for operators and monitors.
    public func viewership() async throws(StageError) -> ViewershipTotalsResource {
        try await read(["viewership"])
    }
}

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Request encoding and response decoding.
extension BroadcastClient {
    enum Method: String {
        case get = "GET"
        case post = "POST"
        case put = "PUT"
        case patch = "PATCH"
        case delete = "DELETE"
    }

    /// Sends a GET request.
    func read<Value: Decodable>(
        _ path: [String],
        query: [(name: String, value: String?)] = []
    ) async throws(StageError) -> Value {
        try value(of: try await answer(to: request(.get, path, query: query)))
    }

    /// Sends a command and decodes its response.
    func command<Value: Decodable>(
        _ method: Method,
        _ path: [String],
        query: [(name: String, value: String?)] = [],
        _ body: (any Encodable)? = nil
    ) async throws(StageError) -> Value {
        try value(of: try await answer(to: request(method, path, query: query, body: body)))
    }

    /// Sends a command whose response has no body.
    func perform(
        _ method: Method,
        _ path: [String],
        query: [(name: String, value: String?)] = [],
        _ body: (any Encodable)? = nil
    ) async throws(StageError) {
        _ = try await answer(to: request(method, path, query: query, body: body))
    }

    /// Downloads a file.
    func file(_ path: [String]) async throws(StageError) -> Data {
        var request = try request(.get, path)
        request.setValue("*/*", forHTTPHeaderField: "Accept")
        return try await answer(to: request, within: limits.file).body
    }

    /// Uploads a file.
    func store<Value: Decodable>(_ data: Data, at path: [String]) async throws(StageError) -> Value {
        var request = try request(.put, path)
        request.httpBody = data
        request.setValue("application/octet-stream", forHTTPHeaderField: "Content-Type")
        return try value(of: try await answer(to: request, within: limits.file))
    }

    /// Builds a request below `/v1`; each element of `path` is one escaped segment.
    func request(
        _ method: Method,
        _ path: [String],
        query: [(name: String, value: String?)] = [],
        body: (any Encodable)? = nil
    ) throws(StageError) -> URLRequest {
        guard var address = URLComponents(url: baseURL, resolvingAgainstBaseURL: true) else { throw .callNotConnected }
        while address.percentEncodedPath.hasSuffix("/") { address.percentEncodedPath.removeLast() }
        address.percentEncodedPath += (["v1"] + path).map { "/" + Self.escaped($0) }.joined()
        let pairs = query.compactMap { pair in pair.value.map { "\(pair.name)=\(Self.escaped($0))" } }
        address.percentEncodedQuery = pairs.isEmpty ? nil : pairs.joined(separator: "&")
        guard let url = address.url else { throw .callNotConnected }
        // The client's clock counts the deadline; this timeout only ends abandoned requests.
        var request = URLRequest(url: url, timeoutInterval: 600)
        request.httpMethod = method.rawValue
        request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        if let body {
            guard let data = try? WireJSON.encode(body) else { throw .malformed("a number is not finite") }
            request.httpBody = data
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        }
        return request
    }

    private func answer(
        to request: URLRequest,
        within deadline: Duration? = nil
    ) async throws(StageError) -> ServerResponse {
        guard let tokens else { return try await answerOnce(to: request, within: deadline) }
        var (request, renewals) = (request, 0)
        while true {
            let token = try await tokens.token()
            request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
            do throws(StageError) {
                return try await answerOnce(to: request, within: deadline)
            } catch {
                guard error.code == StageError.tokenExpired.code, renewals < TokenSource.maximumRenewals else {
                    throw error
                }
                renewals += 1
                tokens.discard(token)
            }
        }
    }

    private func answerOnce(
        to request: URLRequest,
        within deadline: Duration?
    ) async throws(StageError) -> ServerResponse {
        let answer = try await connection.answer(to: request, within: deadline ?? limits.answer)
        guard answer.isSuccess else { throw .refusal(answer) }
        return answer
    }

    private func value<Value: Decodable>(of answer: ServerResponse) throws(StageError) -> Value {
        do {
            return try WireJSON.decode(Value.self, from: answer.body)
        } catch {
            throw .unexpectedResponse(status: answer.status, error.sentence)
        }
    }

    /// Percent-encodes everything except the unreserved characters of RFC 3986.
    private static func escaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }

    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
    )
}

extension StageError {
    /// An error for a response that is not the gateway's, such as a proxy's; the code is the HTTP status.
    ///
    /// Retryable with a 5xx status.
    static func unexpectedResponse(status: Int, _ problem: String, retryAfter: Int? = nil) -> StageError {
        StageError(
            code: status,
            name: "UnexpectedAnswerError",
            message: "The answer could not be used: \(problem)",
            cause: "Something other than the gateway answered, or the gateway is of another version",
            solution: "Check the address of the gateway",
            status: status,
            isRetryable: (500...599).contains(status),
            retryAfter: retryAfter.map { acceptable(retryAfter: $0) }
        )
    }

    /// Creates an error from an error response, with the gateway's text if there is one.
    static func refusal(_ answer: ServerResponse) -> StageError {
        guard let found = try? WireJSON.decode(ErrorAnswer.self, from: answer.body) else {
            return .unexpectedResponse(
                status: answer.status,
                "HTTP status \(answer.status)",
                retryAfter: answer.retryAfter
            )
        }
        var error = StageError(found.error)
        if error.retryAfter == nil { error.retryAfter = answer.retryAfter.map { acceptable(retryAfter: $0) } }
        return error
    }
}
