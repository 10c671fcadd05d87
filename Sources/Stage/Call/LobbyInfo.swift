/// What is shown of a room before it is joined.
public struct LobbyInfo: Sendable, Hashable {
    /// The room.
    public var callID: String
    /// The kind of call; `default` lets anyone join.
    public var callType: String
    /// Identities expected in the call.
    public var participants: [String]

    /// Makes one from its parts.
    public init(callID: String, callType: String = "default", participants: [String] = []) {
        self.callID = callID
        self.callType = callType
        self.participants = participants
    }
}
