/// The answer to a connection that begins to publish.
public enum PublishAdmission: Sendable, Equatable {
    /// It is the publisher now; `replacing` is the connection that was before it and is to be told and closed.
    case accepted(replacing: UInt64?)
    /// The grant no longer holds: between the check and now the host left, changed the mode, or the room ended.
    case refused(PublishRefusal)
}
