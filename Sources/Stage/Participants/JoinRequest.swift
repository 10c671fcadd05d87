/// The wish to take part in a room.
public struct JoinRequest: Sendable, Equatable {
    /// Who joins, `[A-Za-z0-9_-]{1,64}`; unique within the room, the newest wins.
    public var identity: String
    /// The name shown on the tile, up to 100 characters; the identity when nil or blank.
    public var displayName: String?
    /// What the participant wants to do.
    public var mode: ParticipantMode

    /// Makes a request.
    public init(identity: String, displayName: String? = nil, mode: ParticipantMode) {
        self.identity = identity
        self.displayName = displayName
        self.mode = mode
    }

    /// Longest display name, in characters.
    static let longestDisplayName = 100

    /// The name for the tile.
    var effectiveDisplayName: String {
        guard let displayName, displayName.contains(where: { !$0.isWhitespace }) else { return identity }
        return displayName
    }

    /// Checks the names.
    ///
    /// - Throws: 53200, 53201 or 53202 for the identity, 3073 for the display name.
    func validate() throws(StageError) {
        switch NameRule.check(identity) {
        case nil: break
        case .empty: throw .identityInvalid
        case .tooLong: throw .identityTooLong
        case .wrongCharacters: throw .identityCharactersInvalid
        }
        if let displayName, displayName.count > Self.longestDisplayName {
            throw .invalidParameter("display_name", "must have at most \(Self.longestDisplayName) characters")
        }
    }
}
