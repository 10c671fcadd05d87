public import Stage

/// The user's devices as a call shows them; everything is on, and the camera faces the user, unless changed.
public struct DeviceSettings: Sendable, Hashable {
    /// The microphone.
    public var audioOn: Bool
    /// The camera.
    public var videoOn: Bool
    /// Sound comes from the loudspeaker.
    public var speakerOn: Bool
    /// Sound is played at all.
    public var audioOutputOn: Bool
    /// Which camera.
    public var cameraPosition: CallSettings.CameraPosition

    /// Makes settings; those of a new call by default.
    public init(
        audioOn: Bool = true,
        videoOn: Bool = true,
        speakerOn: Bool = true,
        audioOutputOn: Bool = true,
        cameraPosition: CallSettings.CameraPosition = .front
    ) {
        self.audioOn = audioOn
        self.videoOn = videoOn
        self.speakerOn = speakerOn
        self.audioOutputOn = audioOutputOn
        self.cameraPosition = cameraPosition
    }

    /// Whether anything is to be published.
    public var shouldPublish: Bool { audioOn || videoOn }
}
