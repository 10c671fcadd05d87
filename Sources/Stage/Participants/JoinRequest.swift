/// A request to join a room.
public struct JoinRequest: Sendable, Equatable {
    /// The identity, `[A-Za-z0-9_-]{1,64}`; unique within the room, the newest wins.
    public var identity: String
    /// The name on the tile, up to 100 characters and 400 bytes of UTF-8; the identity when nil or blank.
    public var displayName: String?
    /// The requested mode.
    public var mode: ParticipantMode
    /// Application data for other clients: a JSON object in its canonical text, up to 4 KiB.
    public var metadata: String
    /// The image shown without video; nil for none.
    public var avatar: AssetReference?
    /// The initial settings of the client.
    public var callSettings: CallSettings
    /// The tracks that the participant may publish; others are refused, and their media is dropped.
    public var sources: Set<TrackName>
    /// The accepted invitation that permits the mode; nil when none is needed.
    public var invitationSID: String?
    /// The current viewers of the room that are not participants.
    public var anonymousViewers = 0

    /// Creates a request; without metadata, and for every track, by default.
    public init(
        identity: String,
        displayName: String? = nil,
        mode: ParticipantMode,
        metadata: String = JoinRequest.emptyMetadata,
        avatar: AssetReference? = nil,
        callSettings: CallSettings = CallSettings(),
        sources: Set<TrackName> = Set(TrackName.allCases),
        invitationSID: String? = nil
    ) {
        self.identity = identity
        self.displayName = displayName
        self.mode = mode
        self.metadata = metadata
        self.avatar = avatar
        self.callSettings = callSettings
        self.sources = sources
        self.invitationSID = invitationSID
    }

    /// Empty metadata.
    public static let emptyMetadata = "{}"
    /// The maximum size of the metadata, in bytes of its text.
    public static let maximumMetadataSize = 4096
    /// The maximum length of a display name, in characters.
    static let maximumDisplayNameLength = 100
    /// The maximum size of a display name in bytes of UTF-8: a character may have any number of them.
    static let maximumDisplayNameBytes = 400

    /// The name on the tile.
    var effectiveDisplayName: String {
        Self.effectiveDisplayName(displayName, identity: identity)
    }

    static func effectiveDisplayName(_ displayName: String?, identity: String) -> String {
        guard let displayName, displayName.contains(where: { !$0.isWhitespace }) else { return identity }
        return displayName
    }

    /// Validates the names, the metadata's size and the numbers.
    ///
    /// - Throws: 53200, 53201 or 53202 for the identity, 3073 naming any other field.
    public func validate() throws(StageError) {
        switch NameRule.check(identity) {
        case nil: break
        case .empty: throw .identityInvalid
        case .tooLong: throw .identityTooLong
        case .wrongCharacters: throw .identityCharactersInvalid
        }
        try Self.check(displayName: displayName)
        try Self.check(metadata: metadata)
        try callSettings.validate()
    }

    static func check(displayName: String?) throws(StageError) {
        if let displayName, displayName.utf8.count > maximumDisplayNameLength,
            displayName.count > maximumDisplayNameLength
        {
            throw .invalidParameter("display_name", "must have at most \(maximumDisplayNameLength) characters")
        }
        if let displayName, displayName.utf8.count > maximumDisplayNameBytes {
            throw .invalidParameter("display_name", "must have at most \(maximumDisplayNameBytes) bytes of UTF-8")
        }
    }

    static func check(metadata: String?) throws(StageError) {
        guard let metadata else { return }
        guard metadata.utf8.first == UInt8(ascii: "{"), metadata.utf8.last == UInt8(ascii: "}") else {
            throw .invalidParameter("metadata", "must be a JSON object")
        }
        guard metadata.utf8.count <= maximumMetadataSize else {
            throw .invalidParameter("metadata", "must have at most \(maximumMetadataSize) bytes")
        }
    }
}

/// The result of a join or a reconnect.
public struct JoinResult: Sendable, Equatable {
    /// The participant.
    public var participant: ParticipantView
    /// The id of the session; a later join of the same identity has another one.
    public var sessionID: String
    /// The effective settings.
    public var callSettings: CallSettings
    /// The keys in clear, which are not stored; nil unless the participant is a new host.
    public var credentials: HostCredentials?
    /// The room after the join.
    public var room: RoomView
}

/// The result of a change of mode.
public struct ModeChange: Sendable, Equatable {
    /// The participant after the change.
    public var participant: ParticipantView
    /// New keys in clear for a new host; nil for other participants.
    public var credentials: HostCredentials?
}

/// The credentials of a host's encoder; shown once, when they are created.
public struct HostCredentials: Sendable, Equatable {
    /// The key for microphone and camera, in clear.
    public let streamKey: String
    /// The key for the screen, in clear.
    public var screenStreamKey: String { streamKey + StreamKey.screenSuffix }

    /// Creates credentials with a key.
    public init(streamKey: String) {
        self.streamKey = streamKey
    }
}

/// The reason for the end of a participant's session.
public enum LeaveReason: String, Sendable, Hashable, Codable, CaseIterable {
    /// Left by itself.
    case left
    /// Removed by an operator.
    case removed
    /// The same identity joined again.
    case duplicateIdentity = "duplicate_identity"
    /// No signalling for too long.
    case sessionTimeout = "session_timeout"
    /// The media of a host never arrived, or did not return.
    case mediaTimeout = "media_timeout"
    case roomEnded = "room_ended"

    /// The final error on the participant's own event stream; nil for a regular leave.
    ///
    /// A later return with the session gets the same error.
    var error: StageError? {
        switch self {
        case .left: nil
        case .removed: .participantRemoved
        case .duplicateIdentity: .duplicateIdentity
        case .sessionTimeout: .sessionTimedOut
        case .mediaTimeout: .mediaLost
        case .roomEnded: .roomCompleted
        }
    }
}
