/// The body of `POST /v1/rooms/{room}/events`.
public struct SendEventBody: Codable, Sendable, Hashable {
    /// What kind it is, `[A-Za-z0-9._-]{1,64}`; `reaction` for a reaction.
    public var type: String
    /// What it says, up to 4 KiB; nothing when left out.
    public var data: [String: AnyJSON]?

    /// Makes a body.
    public init(type: String, data: [String: AnyJSON]? = nil) {
        self.type = type
        self.data = data
    }

    private enum CodingKeys: String, CodingKey {
        case type
        case data
    }
}
