public import Stage

/// The claims of a verified access token.
///
/// A right that is not named here is not granted.
public struct AccessClaims: Sendable, Equatable {
    /// The bearer's identity.
    public var identity: String
    /// The bearer's role.
    public var role: AccessRole
    /// The one room the token is valid for, by unique name or sid; nil for all rooms, which participants and mixers
    /// cannot have.
    public var room: String?
    /// The modes a participant may join in, the preferred one first.
    public var modes: [ParticipantMode]
    /// The tracks a participant may publish; none unless a mode is SEND_AND_RECV.
    public var sources: Set<TrackName>
    /// The maximum bitrate of a host in kb/s; nil for the gateway's own limit.
    public var maximumBitrate: Int?
    /// Rights beyond the role: `streaming`, `participants`.
    public var administers: Set<String>
    /// The epoch of the program that a mixer may publish as.
    public var epoch: UInt64?
    /// The expiry time in seconds since 1970.
    public var expiresAt: Double
    /// The id (`jti`) by which the token can be revoked; of a verified token without one, `sha256-` and its digest.
    public var tokenID: String?
    /// The key id that signed the verified token; nil for claims that were not read from a token.
    var keyID: String?

    /// Creates claims; a host may publish every track unless `sources` restricts it.
    public init(
        identity: String,
        role: AccessRole,
        room: String? = nil,
        modes: [ParticipantMode] = [],
        sources: Set<TrackName>? = nil,
        maximumBitrate: Int? = nil,
        administers: Set<String> = [],
        epoch: UInt64? = nil,
        expiresAt: Double,
        tokenID: String? = nil
    ) {
        self.identity = identity
        self.role = role
        self.room = room
        self.modes = modes
        let publishes = role == .participant && modes.contains(.sendAndReceive)
        self.sources = sources ?? (publishes ? Set(TrackName.allCases) : [])
        self.maximumBitrate = maximumBitrate
        self.administers = administers
        self.epoch = epoch
        self.expiresAt = expiresAt
        self.tokenID = tokenID
    }
}

/// A room as the authorization rules see it: the names by which a token can be bound to it.
protocol NamedRoom {
    var sid: String { get }
    var name: String { get }
}

extension RoomView: NamedRoom {}
extension RoomSummary: NamedRoom {}

/// The rights of each role; everything that is not allowed here is refused with 20106.
extension AccessClaims {
    /// A right that `administers` can name.
    enum Right: String {
        case streaming
        case participants
    }

    /// Requires the right to create and end rooms.
    func requireOperator() throws(StageError) {
        guard role == .operator else { throw .tokenGrantsInvalid }
    }

    /// Requires the right to list rooms and to read viewership across rooms.
    func requireMonitoring() throws(StageError) {
        switch role {
        case .operator: return
        case .monitor where room == nil: return
        case .monitor, .participant, .mixer, .relay, .thumbnail: throw .tokenGrantsInvalid
        }
    }

    /// Requires the right to read the viewership of one room.
    func requireViewership(of room: some NamedRoom) throws(StageError) {
        switch role {
        case .operator: return
        case .monitor where isFor(room): return
        case .participant where isFor(room) && administers.contains(Right.streaming.rawValue): return
        case .monitor, .participant, .mixer, .relay, .thumbnail: throw .tokenGrantsInvalid
        }
    }

    /// Requires the right to upload access logs of other servers.
    func requireLogUpload() throws(StageError) {
        guard role == .operator || role == .relay else { throw .tokenGrantsInvalid }
    }

    /// Requires the right to read a room, its participants, its layout and its events.
    func requireReading(_ room: some NamedRoom) throws(StageError) {
        switch role {
        case .operator: return
        case .participant, .mixer, .monitor:
            guard isFor(room) else { throw .tokenGrantsInvalid }
        case .relay, .thumbnail: throw .tokenGrantsInvalid
        }
    }

    /// Requires a right in a room, such as to run its livestream or to remove participants.
    func require(_ right: Right, in room: some NamedRoom) throws(StageError) {
        guard has(right, in: room) else { throw .tokenGrantsInvalid }
    }

    /// Whether the bearer has a right in `room`.
    func has(_ right: Right, in room: some NamedRoom) -> Bool {
        if role == .operator { return true }
        return role == .participant && isFor(room) && administers.contains(right.rawValue)
    }

    /// Requires the right to join a room as `identity`; the mode is checked separately.
    ///
    /// - Parameters:
    ///   - reference: The room as the request names it, by unique name or sid.
    ///   - room: The room in progress that the reference resolves to; nil if there is none. A token bound to a sid is
    ///     valid for that room only, and does not create a new room of the same name.
    func requireJoining(_ reference: String, _ room: RoomSummary?, as identity: String) throws(StageError) {
        if role == .operator { return }
        let isSameRoom = room.map { isFor($0) } ?? (self.room == reference)
        guard role == .participant, identity == self.identity, isSameRoom else { throw .tokenGrantsInvalid }
    }

    /// The modes that the bearer may join a room in without an invitation, the preferred one first.
    ///
    /// In a room whose type requires permission to speak, send-and-receive becomes receive-only.
    ///
    /// - Parameters:
    ///   - room: The room in progress; nil while there is none.
    ///   - isHost: Whether the bearer is already a host in the room.
    func modes(in room: RoomSummary?, isHost: Bool = false) -> [ParticipantMode] {
        guard let room, room.type.needsPermissionToSpeak, !isHost, !has(.participants, in: room) else { return modes }
        return modes.map { $0 == .sendAndReceive ? .receiveOnly : $0 }
    }

    /// Requires the right to start and stop the livestream and HLS.
    func requireStreaming(_ room: RoomSummary) throws(StageError) {
        try require(.streaming, in: room)
        if room.type.isStreamedByOperators, role != .operator { throw .streamingNeedsOperator }
    }

    /// Requires the right to read the images and audio files of the room's program.
    func requireAssets(of room: some NamedRoom) throws(StageError) {
        if role == .operator { return }
        try requireMixing(room)
    }

    /// Requires the mixer token of the room.
    func requireMixing(_ room: some NamedRoom) throws(StageError) {
        guard role == .mixer, isFor(room) else { throw .tokenGrantsInvalid }
    }

    /// The tracks that the bearer may publish as a host.
    ///
    /// - Parameter byInvitation: An invitation allows every track, whatever the token names.
    func publishable(byInvitation: Bool) -> Set<TrackName> {
        byInvitation || role == .operator ? Set(TrackName.allCases) : sources
    }

    /// Whether the bearer is this participant.
    func isSelf(_ participant: ParticipantView, in room: some NamedRoom) -> Bool {
        role == .participant && isFor(room) && participant.identity == identity
    }

    /// Whether the token is valid for `room`; a token bound by name is valid for every room of that name.
    func isFor(_ room: some NamedRoom) -> Bool {
        isFor(room: room.name, sid: room.sid)
    }

    /// Whether an invitation is to a room that the token is valid for.
    func isFor(_ invitation: Invitation) -> Bool {
        isFor(room: invitation.roomName, sid: invitation.roomSID)
    }

    private func isFor(room name: String, sid: String) -> Bool {
        guard let bound = room else { return allowsAnyRoom }
        return bound == name || bound == sid
    }

    /// Whether the bearer may learn that no room has this name.
    func mayKnow(_ reference: String) -> Bool {
        guard let bound = room else { return allowsAnyRoom }
        return bound == reference
    }

    /// Whether a token of this role may name no room, and is then valid for all.
    private var allowsAnyRoom: Bool {
        switch role {
        case .operator, .monitor, .relay, .thumbnail: true
        case .participant, .mixer: false
        }
    }
}
