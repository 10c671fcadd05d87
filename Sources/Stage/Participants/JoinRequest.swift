/// The wish to take part in a room.
public struct JoinRequest: Sendable, Equatable {
    /// Who joins, `[A-Za-z0-9_-]{1,64}`; unique within the room, the newest wins.
    public var identity: String
    /// The name shown on the tile, up to 100 characters and 400 bytes of UTF-8; the identity when nil or blank.
    public var displayName: String?
    /// What the participant wants to do.
    public var mode: ParticipantMode
    /// Anything the clients want to know of each other: a JSON object in its canonical text, up to 4 KiB.
    public var metadata: String
    /// The picture that stands for the participant while there is no other; nil for none.
    public var avatar: AssetReference?
    /// What the client begins with.
    public var callSettings: CallSettings
    /// The tracks that the participant may publish; others are refused, and dropped where they arrive.
    public var sources: Set<TrackName>
    /// The accepted invitation that allows the mode; nil when the mode is allowed without one.
    public var invitationSID: String?
    /// Viewers of the room who are no participants, at this moment.
    public var anonymousViewers = 0

    /// Makes a request; without metadata, and for every track, by default.
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

    /// Metadata that says nothing.
    public static let emptyMetadata = "{}"
    /// Longest metadata, in bytes of its text.
    public static let longestMetadata = 4096
    /// Longest display name, in characters.
    static let longestDisplayName = 100
    /// The same in bytes of UTF-8: a character may be any number of them.
    static let largestDisplayName = 400

    /// The name for the tile.
    var effectiveDisplayName: String {
        Self.effectiveDisplayName(displayName, identity: identity)
    }

    static func effectiveDisplayName(_ displayName: String?, identity: String) -> String {
        guard let displayName, displayName.contains(where: { !$0.isWhitespace }) else { return identity }
        return displayName
    }

    /// Checks the names, the metadata's size and the numbers.
    ///
    /// - Throws: 53200, 53201 or 53202 for the identity, 3073 naming any other field.
    func validate() throws(StageError) {
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
        if let displayName, displayName.utf8.count > longestDisplayName, displayName.count > longestDisplayName {
            throw .invalidParameter("display_name", "must have at most \(longestDisplayName) characters")
        }
        if let displayName, displayName.utf8.count > largestDisplayName {
            throw .invalidParameter("display_name", "must have at most \(largestDisplayName) bytes of UTF-8")
        }
    }

    static func check(metadata: String?) throws(StageError) {
        guard let metadata else { return }
        guard metadata.utf8.first == UInt8(ascii: "{"), metadata.utf8.last == UInt8(ascii: "}") else {
            throw .invalidParameter("metadata", "must be a JSON object")
        }
        guard metadata.utf8.count <= longestMetadata else {
            throw .invalidParameter("metadata", "must have at most \(longestMetadata) bytes")
        }
    }
}
