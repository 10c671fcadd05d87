/// Why a track is gone.
public enum UnpublishReason: String, Sendable, Hashable, Codable, CaseIterable {
    /// By command of the host or an operator.
    case unpublished
    /// The encoder stopped or its connection dropped.
    case ended
    /// The participant is no host any more.
    case modeChanged = "mode_changed"
    /// The participant left.
    case left
}
