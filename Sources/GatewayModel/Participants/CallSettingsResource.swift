/// What a client begins with.
public struct CallSettingsResource: Codable, Sendable, Hashable {
    /// The microphone is to be published.
    public var audioOn: Bool
    /// The camera is to be published.
    public var videoOn: Bool
    /// Sound comes from the loudspeaker.
    public var speakerOn: Bool
    /// Sound is played.
    public var audioOutputOn: Bool
    /// `front` or `back`.
    public var cameraPosition: String

    /// Makes settings.
    public init(audioOn: Bool, videoOn: Bool, speakerOn: Bool, audioOutputOn: Bool, cameraPosition: String) {
        self.audioOn = audioOn
        self.videoOn = videoOn
        self.speakerOn = speakerOn
        self.audioOutputOn = audioOutputOn
        self.cameraPosition = cameraPosition
    }

    private enum CodingKeys: String, CodingKey {
        case audioOn = "audio_on"
        case videoOn = "video_on"
        case speakerOn = "speaker_on"
        case audioOutputOn = "audio_output_on"
        case cameraPosition = "camera_position"
    }
}
