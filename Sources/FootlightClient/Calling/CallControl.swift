/// A control of a call's screen.
public enum CallControl: Sendable, Hashable {
    case video
    case microphone
    case toggleCamera
    case hangUp
    /// One of the app's own, by its name.
    case custom(String)

    /// What every call has.
    public static let standard: [CallControl] = [.video, .microphone, .toggleCamera, .hangUp]
}
