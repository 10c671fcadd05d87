/// The body of `POST /v1/webhooks`.
public struct CreateWebhookBody: Codable, Sendable, Hashable {
    /// Where to post to; `https://`, and `http://` where the operator allows it.
    public var url: String
    /// What it is for, for people; up to 256 bytes.
    public var description: String?
    /// The names of events, or beginnings such as `room.*`; all when left out or empty.
    public var types: [String]?
    /// The unique name or sid of a room; all rooms when left out.
    public var room: String?
    /// Whether anything is delivered; true when left out.
    public var enabled: Bool?

    /// Makes a body.
    public init(
        url: String,
        description: String? = nil,
        types: [String]? = nil,
        room: String? = nil,
        enabled: Bool? = nil
    ) {
        self.url = url
        self.description = description
        self.types = types
        self.room = room
        self.enabled = enabled
    }
}
