public import GatewayModel
public import Stage

extension CallParticipant {
    /// Reads a participant as the gateway tells of it; one without a name is a guest.
    public init(_ resource: ParticipantResource) {
        self.init(
            id: resource.sid,
            username: resource.displayName.isEmpty ? nil : resource.displayName,
            mic: resource.mediaState(.mic),
            camera: resource.mediaState(.camera),
            screen: resource.mediaState(.screen)
        )
    }
}

extension ParticipantOrder {
    /// Reads what a participant's place depends on.
    ///
    /// - Parameter showTrack: Whether the participant is visible in the app now.
    public init(_ resource: ParticipantResource, showTrack: Bool = false) {
        self.init(
            id: resource.identity,
            pin: resource.pin.map { Pin(isLocal: $0.isLocal, pinnedAt: $0.pinnedAt.seconds) },
            isScreenSharing: resource.isOn(.screen),
            isDominantSpeaker: resource.isDominantSpeaker,
            isSpeaking: resource.isSpeaking,
            hasVideo: resource.isOn(.camera) || resource.isOn(.screen),
            hasAudio: resource.isOn(.mic),
            showTrack: showTrack,
            roles: resource.isHost ? ["host"] : []
        )
    }
}
