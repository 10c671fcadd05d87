/// What one publishing connection stands for.
public enum PublishSource: String, Sendable, Hashable, Codable {
    /// Microphone and camera of a host.
    case camera
    /// A host's screen; its sound, if any, is not used.
    case screen
}
