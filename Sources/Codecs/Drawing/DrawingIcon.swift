/// A symbol that is drawn as a path, at any size.
public enum DrawingIcon: Sendable, Hashable {
    /// A microphone.
    case microphone
    /// A microphone crossed out.
    case mutedMicrophone
}
