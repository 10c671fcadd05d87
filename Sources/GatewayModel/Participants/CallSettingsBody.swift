/// What a client is about to send and play.
public struct CallSettingsBody: Codable, Sendable, Hashable {
    /// The microphone is on.
    public var audioOn: Bool?
    /// The camera is on.
    public var videoOn: Bool?
    /// Sound comes from the loudspeaker.
    public var speakerOn: Bool?
    /// Sound is played.
    public var audioOutputOn: Bool?
    /// `front` or `back`.
    public var cameraPosition: String?

    /// Makes a body; what is left out is nil.
    public init(
        audioOn: Bool? = nil,
        videoOn: Bool? = nil,
        speakerOn: Bool? = nil,
        audioOutputOn: Bool? = nil,
        cameraPosition: String? = nil
    ) {
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
