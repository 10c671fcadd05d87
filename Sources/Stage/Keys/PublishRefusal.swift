/// Why a stream key does not open the stage.
public enum PublishRefusal: Error, Sendable, Equatable {
    /// Not a key of ours, or one whose participant left.
    case unknownKey
    /// The participant is no host: RECV_ONLY and SIGNALLING_ONLY publish nothing.
    case wrongMode
    case roomEnded

    /// The same refusal in the words of the control API.
    public var error: StageError {
        switch self {
        case .unknownKey: .participantNotFound
        case .wrongMode: .notAHost
        case .roomEnded: .roomNotFound
        }
    }
}
