import Foundation
import FootlightModel
import Stage

extension ParticipantResource {
    init(_ participant: ParticipantView) {
        self.init(
            sid: participant.sid,
            identity: participant.identity,
            displayName: participant.displayName,
            mode: .known(participant.mode),
            status: .known(participant.status),
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
        if !participant.discarded.isEmpty { discarded = participant.discarded.map { .known($0) } }
    }
}

extension TrackResource {
    init(_ track: Track) {
        self.init(
            sid: track.sid,
            name: .known(track.name),
            kind: .known(track.name.kind),
            // The stage holds published tracks only.
            published: true,
            subscribed: track.isSubscribed,
            enabled: track.isEnabled,
            mediaState: .known(track.mediaState),
            width: track.width,
            height: track.height,
            fps: track.frameRate,
            codec: track.codec
        )
    }
}

extension IngestResource {
    init(_ credentials: HostCredentials, addresses: PlaybackAddresses) {
        func resource(_ url: String) -> RTMPIngestResource {
            RTMPIngestResource(
                url: url,
                streamKey: credentials.streamKey,
                screenStreamKey: credentials.screenStreamKey
            )
        }
        self.init(rtmp: resource(addresses.ingest), rtmps: addresses.secureIngest.map(resource))
    }
}

extension JoinAnswer {
    /// - Parameters:
    ///   - room: The room's resource.
    ///   - viewerToken: The session id of the participant's players.
    init(_ result: JoinResult, room: RoomResource, viewerToken: String?, addresses: PlaybackAddresses) {
        let name = result.room.name
        self.init(
            participant: ParticipantResource(result.participant),
            sessionID: result.sessionID,
            room: room,
            participants: result.room.participants.map { ParticipantResource($0) },
            tiles: result.room.tiles.map { TileResource($0) },
            ingest: result.credentials.map { IngestResource($0, addresses: addresses) },
            callSettings: CallSettingsResource(result.callSettings),
            connectOptions: ConnectOptionsResource(result.callSettings, of: result.participant),
            playback: PlaybackResource(room: name, addresses: addresses, viewerToken: viewerToken),
            eventsURL: addresses.api(
                "rooms/\(name)/events?participant=\(result.participant.sid)&session_id=\(result.sessionID)"
            ),
            heartbeatInterval: RoomDirectory.heartbeatInterval,
            sessionTimeout: Self.sessionTimeout,
            fastReconnectDeadline: Self.fastReconnectDeadline
        )
    }

    /// The timeouts of a session in seconds: it ends this long after the connection is lost; before the deadline it
    /// resumes.
    private static let sessionTimeout = 30
    private static let fastReconnectDeadline = 15
}

extension CallSettings {
    /// Parses the settings of a join request; a host's bitrate is limited by its token.
    ///
    /// - Throws: 3073 for an unknown camera position.
    init(_ body: JoinBody, limit: Int?) throws(StageError) {
        let options = body.connectOptions
        let asked = options?.maxBitrate
        try self.init(body.callSettings)
        maximumBitrate = limit.map { min(asked ?? $0, $0) } ?? asked
        width = options?.width
        height = options?.height
    }

    /// Parses which devices are on.
    ///
    /// - Throws: 3073 for an unknown camera position.
    init(_ body: CallSettingsBody?) throws(StageError) {
        self.init(
            isAudioOn: body?.audioOn,
            isVideoOn: body?.videoOn,
            isSpeakerOn: body?.speakerOn,
            isAudioOutputOn: body?.audioOutputOn
        )
        cameraPosition = try body?.cameraPosition?.known(
            in: "call_settings.camera_position",
            orRefuse: "must be front or back"
        )
    }
}

extension CallSettingsResource {
    /// Creates a resource from effective settings.
    init(_ settings: CallSettings) {
        self.init(
            audioOn: settings.isAudioOn ?? true,
            videoOn: settings.isVideoOn ?? true,
            speakerOn: settings.isSpeakerOn ?? true,
            audioOutputOn: settings.isAudioOutputOn ?? true,
            cameraPosition: .known(settings.cameraPosition ?? .front)
        )
    }
}

extension ConnectOptionsResource {
    init?(_ settings: CallSettings, of participant: ParticipantView) {
        guard participant.mode == .sendAndReceive, let bitrate = settings.maximumBitrate, let width = settings.width,
            let height = settings.height
        else { return nil }
        self.init(maxBitrate: bitrate, width: width, height: height)
    }
}

extension SyncResource {
    init(_ sync: HostSync) {
        self.init(
            targetMS: sync.target,
            offsetMS: sync.offset,
            driftPPM: sync.drift,
            bufferMS: sync.buffer,
            late: sync.late,
            duplicated: sync.duplicated,
            dropped: sync.dropped
        )
    }
}

extension HostSync {
    /// Creates the statistics from a mixer's report.
    init(_ body: SyncResource) {
        self.init(
            target: body.targetMS,
            offset: body.offsetMS,
            drift: body.driftPPM,
            buffer: body.bufferMS,
            late: body.late,
            duplicated: body.duplicated,
            dropped: body.dropped
        )
    }
}

extension TrackName {
    /// Parses a track's name as clients and tokens write it, including the names of other systems.
    init?(named wireName: String) {
        switch wireName {
        case "microphone": self = .mic
        case "screen_share": self = .screen
        default: self.init(rawValue: wireName)
        }
    }
}

extension PinResource {
    init(_ pin: Pin) {
        self.init(isLocal: pin.isLocal, pinType: .known(pin.type), pinnedAt: Timestamp(pin.pinnedAt))
    }
}

extension HandResource {
    init(_ hand: Hand) {
        self.init(
            sid: hand.sid,
            participantSID: hand.participantSID,
            identity: hand.identity,
            raisedAt: Timestamp(hand.raisedAt),
            expiresAt: Timestamp(hand.expiresAt)
        )
    }
}

extension InvitationResource {
    init(_ invitation: Invitation) {
        self.init(
            sid: invitation.sid,
            roomSID: invitation.roomSID,
            room: invitation.roomName,
            inviter: invitation.inviter,
            mode: .known(invitation.mode),
            state: .known(invitation.state),
            invitees: invitation.invitees.map { InviteeResource($0) },
            createdAt: Timestamp(invitation.createdAt),
            expiresAt: Timestamp(invitation.expiresAt)
        )
    }
}

extension InviteeResource {
    init(_ invitee: Invitee) {
        self.init(
            identity: invitee.identity,
            state: .known(invitee.state),
            changedAt: invitee.changedAt.map { Timestamp($0) }
        )
    }
}

/// Converts metadata between the API's JSON object and the canonical text that the stage stores.
enum MetadataText {
    /// Returns the canonical text: sorted keys, no spaces.
    static func text(of metadata: [String: AnyJSON]) throws -> String {
        String(decoding: try WireJSON.encode(metadata), as: UTF8.self)
    }

    /// Returns the metadata of a stored text; empty if the text is malformed.
    static func metadata(of text: String) -> [String: AnyJSON] {
        guard text != JoinRequest.emptyMetadata else { return [:] }
        do {
            return try WireJSON.decode([String: AnyJSON].self, from: Data(text.utf8))
        } catch {
            return [:]
        }
    }
}
