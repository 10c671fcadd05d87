public import Stage

/// What became of one's own connection to a room.
public enum ConnectionNews: Sendable, Equatable {
    /// The room was joined.
    case connected
    /// The room could not be joined.
    case failedToConnect(StageError)
    /// The connection is being won back; the error tells what was lost: 53001 the event stream, 53405 the media.
    case reconnecting(StageError)
    /// It was won back.
    case reconnected
    /// The room was left; without an error it was wished for.
    case disconnected(StageError?)

    /// What a step from one status to the next means; nil for steps that say nothing of the connection.
    public init?(from before: CallStatus, to after: CallStatus) {
        switch (before.phase, after.phase) {
        case (.joining, .joined): self = .connected
        case (.reconnecting, .joined): self = .reconnected
        // Told anew when what was lost first is back, and the other is not.
        case (.reconnecting(let former), .reconnecting(let loss)) where former == loss: return nil
        case (.joined, .reconnecting(let loss)), (.reconnecting, .reconnecting(let loss)):
            self = .reconnecting(loss == .media ? .mediaLost : .callConnectionLost)
        case (.joined, .left(let error)), (.reconnecting, .left(let error)): self = .disconnected(error)
        case (.leaving, .left): self = .disconnected(nil)
        case (_, .left(.some(let error))) where before.phase != after.phase:
            self = .failedToConnect(error)
        default: return nil
        }
    }
}
