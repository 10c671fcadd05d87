/// Where one person's call stands; the only state, from which the vocabularies of all source systems are read.
public enum CallPhase: Sendable, Equatable {
    /// Nothing was tried yet.
    case idle
    /// Looking at a room before joining it.
    case lobby(LobbyInfo)
    /// Somebody calls.
    case incoming(CallInvitation)
    /// Calling somebody.
    case outgoing(CallRing)
    /// The join is under way.
    case joining
    /// In the room.
    case joined
    /// In the room, with a connection that is being won back.
    case reconnecting(ConnectionLoss)
    /// On the way out.
    case leaving
    /// Out; with the error that ended the call, or nil when it was wished for.
    case left(StageError?)
}
