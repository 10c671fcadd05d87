/// The answer of `GET /v1/rooms/{room}/viewership/sessions`.
public struct ViewerSessionList: Codable, Sendable, Hashable {
    /// In order of their beginning.
    public var sessions: [ViewerSessionResource]
    /// Where the list goes on.
    public var meta: PageResource

    /// Makes a list.
    public init(sessions: [ViewerSessionResource], meta: PageResource) {
        self.sessions = sessions
        self.meta = meta
    }

    private enum CodingKeys: String, CodingKey {
        case sessions
        case meta
    }
}
