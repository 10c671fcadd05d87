public import FootlightModel
public import Stage

/// The content of a participant's tile.
public struct ParticipantTileContent: Sendable, Equatable {
    /// The main content of a tile.
    public enum Content: Sendable, Equatable {
        /// The video of the camera or screen.
        case video(TrackName)
        /// A placeholder without video.
        case placeholder(Placeholder)
    }

    /// The text, and the participant's image, that replace the video.
    public struct Placeholder: Sendable, Equatable {
        /// Why there is no video: `No media` for a host, `Viewer` for the audience; nil for others.
        public var status: String?
        /// The displayed name.
        public var name: String
        /// The participant's image, as an asset's id or a URL; nil without one.
        public var avatar: String?

        /// Creates a placeholder.
        public init(status: String? = nil, name: String, avatar: String? = nil) {
            self.status = status
            self.name = name
            self.avatar = avatar
        }
    }

    /// The participant's sid.
    public var participantSID: String
    /// The main content; a shared screen replaces the camera.
    public var content: Content
    /// How the video is scaled: screens and the local preview are fitted, other cameras fill.
    public var scaleMode: VideoScaleMode
    /// Whether the video is mirrored: the local camera that faces the user only.
    public var isMirrored: Bool
    /// The name at the bottom left.
    public var label: String
    /// Whether the microphone icon shows on.
    public var isMicOn: Bool

    /// Whether a strip shows a mute badge.
    public var showsMuteBadge: Bool { !isMicOn }

    /// Creates the content for a participant.
    ///
    /// - Parameters:
    ///   - participant: The gateway's resource.
    ///   - isLocal: Whether it is the local participant.
    ///   - camera: The local participant's camera.
    public init(
        _ participant: ParticipantResource,
        isLocal: Bool = false,
        camera: CallSettings.CameraPosition = .front
    ) {
        let name = participant.displayName.isEmpty ? "Guest" : participant.displayName
        participantSID = participant.sid
        label = name
        isMicOn = participant.isHost && participant.isOn(.mic)
        let track = Self.track(of: participant)
        content =
            track.map { .video($0) }
            ?? .placeholder(
                Placeholder(status: Self.status(on: participant), name: name, avatar: participant.avatar)
            )
        scaleMode = isLocal || track == .screen ? .fit : .fill
        isMirrored = isLocal && track == .camera && camera == .front
    }
    /// The visible track of a host.
    private static func track(of participant: ParticipantResource) -> TrackName? {
        guard participant.isHost else { return nil }
        return [TrackName.screen, .camera].first { participant.isOn($0) }
    }

    /// The reason why a participant has no video.
    private static func status(on participant: ParticipantResource) -> String? {
        switch participant.mode.value {
        case .receiveOnly: "Viewer"
        case .sendAndReceive: "No media"
        default: nil
        }
    }
}

/// How a video is scaled to its tile.
public enum VideoScaleMode: Sendable, Hashable {
    /// The whole video is visible, with bars.
    case fit
    /// The tile is filled, and the video cropped.
    case fill
}

/// The presentation of the local camera to its owner: uncropped, in its own aspect ratio.
public struct LocalPreview: Sendable, Equatable {
    /// The aspect ratio, width by height.
    public let aspectRatio: Double
    /// The video is always fitted.
    public let scaleMode = VideoScaleMode.fit
    /// Whether the video is mirrored: while the camera faces the user.
    public let isMirrored: Bool

    /// Creates the preview for a device orientation and a camera.
    public init(orientation: Orientation, camera: CallSettings.CameraPosition) {
        aspectRatio =
            switch orientation {
            case .portrait: 720.0 / 1280
            case .landscape: 1280.0 / 720
            }
        isMirrored = camera == .front
    }
}
