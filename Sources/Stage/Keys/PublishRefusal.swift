/// Why a stream key does not open the stage.
public enum PublishRefusal: Error, Sendable, Equatable {
    /// Not a key of ours, or one whose participant left.
    case unknownKey
    /// The participant is no host: RECV_ONLY and SIGNALLING_ONLY publish nothing.
    case wrongMode
    case roomEnded
    /// What this host sent ended its room's mixer again and again; for so many more seconds nothing of it is taken.
    case quarantined(seconds: Int)

    /// The same refusal in the words of the control API.
    public var error: StageError {
        switch self {
        case .unknownKey: .participantNotFound
        case .wrongMode: .notAHost
        case .roomEnded: .roomNotFound
        case .quarantined(let seconds): .hostQuarantined(seconds: seconds)
        }
    }
}
