public import Stage

/// A control of a call's screen.
public enum CallControl: Sendable, Hashable {
    /// Turns the camera on or off.
    case video
    /// Turns the microphone on or off.
    case microphone
    /// Takes the other camera.
    case toggleCamera
    /// Shares the screen.
    case screen
    /// Becomes a host.
    case joinStage
    /// Asks to speak, or asks no more.
    case raiseHand
    /// Becomes one of the audience.
    case leaveStage
    /// Chooses where sound is played.
    case audioOutput
    case hangUp
    /// One of the app's own, by its name.
    case custom(String)

    /// What every call between hosts has.
    public static let standard: [CallControl] = [.video, .microphone, .toggleCamera, .hangUp]

    /// What the screen of a show offers to a participant of a mode.
    ///
    /// The audience captures nothing, and who only signals hears nothing either.
    public static func standard(for mode: ParticipantMode) -> [CallControl] {
        switch mode {
        case .sendAndReceive: [.video, .microphone, .toggleCamera, .screen, .leaveStage, .hangUp]
        case .receiveOnly: [.joinStage, .audioOutput, .hangUp]
        case .signallingOnly: [.hangUp]
        }
    }
}
