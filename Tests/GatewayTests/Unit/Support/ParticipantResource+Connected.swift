import GatewayModel
import Stage

extension ParticipantResource {
    /// A participant as a mixer is told of it, with microphone and camera on.
    ///
    /// - Parameter tracks: Nil for a microphone and a camera in the program.
    static func connected(
        _ sid: String,
        mode: ParticipantMode = .sendAndReceive,
        tracks: [TrackResource]? = nil
    ) -> ParticipantResource {
        ParticipantResource(
            sid: sid,
            identity: sid.lowercased(),
            displayName: sid,
            mode: mode.rawValue,
            status: "connected",
            isMicOn: true,
            isCameraOn: true,
            isScreenSharing: false,
            position: nil,
            tracks: tracks ?? [.playing(.mic), .playing(.camera)],
            joinedAt: Timestamp(0),
            revision: 1
        )
    }
}

extension TrackResource {
    /// A track as it is while its media is in the program.
    static func playing(_ name: TrackName, enabled: Bool = true, subscribed: Bool = true) -> TrackResource {
        TrackResource(
            sid: "MT",
            name: name.rawValue,
            kind: name.kind.rawValue,
            published: true,
            subscribed: subscribed,
            enabled: enabled,
            mediaState: "playable",
            width: nil,
            height: nil,
            fps: nil,
            codec: nil
        )
    }
}
