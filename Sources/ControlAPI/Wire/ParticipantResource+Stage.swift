import GatewayModel
import Stage

extension ParticipantResource {
    init(_ participant: ParticipantView) {
        self.init(
            sid: participant.sid,
            identity: participant.identity,
            displayName: participant.displayName,
            mode: participant.mode.rawValue,
            status: participant.status.rawValue,
            isMicOn: participant.isMicOn,
            isCameraOn: participant.isCameraOn,
            isScreenSharing: participant.isScreenSharing,
            isSpeaking: participant.isSpeaking,
            isDominantSpeaker: participant.isDominantSpeaker,
            audioLevel: participant.audioLevel,
            pin: participant.pin.map { PinResource($0) },
            position: participant.position,
            tracks: participant.tracks.map { TrackResource($0) },
            metadata: MetadataText.metadata(of: participant.metadata),
            avatar: participant.avatar?.text,
            sound: ParticipantSoundResource(participant.sound),
            sync: participant.sync.map { SyncResource($0) },
            screenSync: participant.screenSync.map { SyncResource($0) },
            quarantinedUntil: participant.quarantinedUntil.map { Timestamp($0) },
            joinedAt: Timestamp(participant.joinedAt),
            revision: participant.revision
        )
        if !participant.discarded.isEmpty { discarded = participant.discarded.map(\.rawValue) }
    }
}

extension TrackResource {
    init(_ track: Track) {
        self.init(
            sid: track.sid,
            name: track.name.rawValue,
            kind: track.name.kind.rawValue,
            // A track that is not published is not there.
            published: true,
            subscribed: track.isSubscribed,
            enabled: track.isEnabled,
            mediaState: track.mediaState.rawValue,
            width: track.width,
            height: track.height,
            fps: track.frameRate,
            codec: track.codec
        )
    }
}

extension IngestResource {
    init?(_ credentials: HostCredentials?, addresses: PlaybackAddresses) {
        guard let credentials else { return nil }
        self.init(
            rtmp: RTMPIngestResource(
                url: addresses.ingest,
                streamKey: credentials.streamKey,
                screenStreamKey: credentials.screenStreamKey
            )
        )
    }
}
