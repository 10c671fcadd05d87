public import GatewayModel
public import Stage

/// What an app draws in a participant's tile.
public struct TileContent: Sendable, Equatable {
    /// What fills the tile.
    public enum Picture: Sendable, Equatable {
        /// The participant's camera or screen.
        case video(TrackName)
        /// Words in place of a picture.
        case placeholder(Placeholder)
    }

    /// Words, or a picture of the participant, in place of moving pictures.
    public struct Placeholder: Sendable, Equatable {
        /// Why there is no picture: `No media` for a host, heard or not, `Viewer` for the audience; nil for anybody else.
        public var note: String?
        /// The name.
        public var name: String
        /// The picture that stands for the participant: an asset's id or an address; nil without one.
        public var avatar: String?

        /// Makes a placeholder.
        public init(note: String? = nil, name: String, avatar: String? = nil) {
            self.note = note
            self.name = name
            self.avatar = avatar
        }
    }

    /// Whose tile it is.
    public var participantSID: String
    /// What fills it; a screen stands in for the camera as long as it is shared.
    public var picture: Picture
    /// Screens and the local preview are fitted, other cameras fill.
    public var scaleMode: VideoScaleMode
    /// As in a mirror: the local camera that faces the user, and nothing else.
    public var isMirrored: Bool
    /// The name at the bottom left.
    public var label: String
    /// The icon beside the name: on or off.
    public var isMicOn: Bool

    /// Whether a strip shows a badge for somebody who cannot be heard.
    public var showsMuteBadge: Bool { !isMicOn }

    /// Reads what is to be drawn for a participant.
    ///
    /// - Parameters:
    ///   - participant: As the gateway tells of it.
    ///   - isLocal: It is the participant whose app this is.
    ///   - camera: Which camera the local participant uses.
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
        picture =
            track.map { .video($0) }
            ?? .placeholder(
                Placeholder(note: Self.note(on: participant), name: name, avatar: participant.avatar)
            )
        scaleMode = isLocal || track == .screen ? .fit : .fill
        isMirrored = isLocal && track == .camera && camera == .front
    }
    /// What is seen of a host.
    private static func track(of participant: ParticipantResource) -> TrackName? {
        guard participant.isHost else { return nil }
        return [TrackName.screen, .camera].first { participant.isOn($0) }
    }

    /// Why nothing is seen of a participant.
    private static func note(on participant: ParticipantResource) -> String? {
        switch ParticipantMode(wireName: participant.mode) {
        case .receiveOnly: "Viewer"
        case .sendAndReceive: "No media"
        default: nil
        }
    }
}
