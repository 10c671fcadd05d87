/// The body of `PATCH /v1/rooms/{room}/participants/{participant}`; what is left out stays as it is.
public struct UpdateParticipantBody: Codable, Sendable, Hashable {
    /// The name on the tile.
    public var displayName: String?
    /// Takes the place of the former one.
    public var metadata: [String: AnyJSON]?
    /// What stands for the participant while there is no picture, `asset:NAME` or a URL; null takes it away.
    public var avatar: ExplicitNull<String>?

    /// Makes a body; what is left out is nil.
    public init(
        displayName: String? = nil,
        metadata: [String: AnyJSON]? = nil,
        avatar: ExplicitNull<String>? = nil
    ) {
        self.displayName = displayName
        self.metadata = metadata
        self.avatar = avatar
    }

    private enum CodingKeys: String, CodingKey {
        case displayName = "display_name"
        case metadata
        case avatar
    }
}
