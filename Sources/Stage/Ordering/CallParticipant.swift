/// A participant as a client's view of a call needs it.
public struct CallParticipant: Sendable, Hashable, Identifiable {
    /// The sid, or whatever else tells participants apart.
    public var id: String
    /// The name to show.
    public var username: String
    /// The microphone's media.
    public var mic: MediaState
    /// The camera's media.
    public var camera: MediaState
    /// The screen's media.
    public var screen: MediaState

    /// Makes a participant without media; one without a name is a guest.
    public init(
        id: String,
        username: String? = nil,
        mic: MediaState = .off,
        camera: MediaState = .off,
        screen: MediaState = .off
    ) {
        self.id = id
        self.username = username ?? "Guest"
        self.mic = mic
        self.camera = camera
        self.screen = screen
    }

    /// Whether the microphone can be heard now.
    public var hasAudio: Bool { mic == .playable }
    /// Whether a screen can be seen now.
    public var isSharingScreen: Bool { screen == .playable }
    /// Whether a picture can be seen now, the screen's or the camera's.
    public var hasVideo: Bool { isSharingScreen || camera == .playable }
}
