import FootlightModel
import FootlightTesting

extension ModelSamples {
    static let breakdownResource = BreakdownResource(byProtocol: ["a": 1])

    static let callSettingsResource = CallSettingsResource(
        audioOn: true,
        videoOn: true,
        speakerOn: true,
        audioOutputOn: true,
        cameraPosition: "x"
    )

    static let connectOptionsResource = ConnectOptionsResource(maxBitrate: 1, width: 1, height: 1)

    static let countsResource = CountsResource(
        hosts: 1,
        audience: 1,
        anonymous: 1,
        signallingOnly: 1,
        participants: 1
    )

    static let programResource = {
        var program = ProgramResource(
            width: 1,
            height: 1,
            fps: Rate("30"),
            videoBitrate: 1,
            audioBitrate: 1,
            preset: "x",
            keyInterval: 1,
            jitterTarget: 1
        )
        program.renditions = [renditionResource]
        program.audioOnly = true
        return program
    }()

    static let outputFaultResource = OutputFaultResource(code: "x", message: "x", retry: "x")

    static let outputResource: OutputResource = {
        var output = OutputResource(
            name: "x",
            url: "x",
            streamKey: "x",
            state: "x",
            bytesSent: 1,
            droppedFrames: 1,
            reconnects: 1,
            lastError: outputFaultResource
        )
        output.backupURL = "x"
        output.usesBackup = true
        return output
    }()

    static let livestreamResource: LivestreamResource = {
        var livestream = LivestreamResource(
            state: "x",
            startedAt: Timestamp(0),
            endReason: "x",
            outputs: [outputResource]
        )
        livestream.warnings = [warningResource]
        return livestream
    }()

    static let hLSResource = HLSResource(state: "x", startedAt: Timestamp(0), playbackHLSURL: "x")

    static let egressResource = EgressResource(broadcasting: true, livestream: livestreamResource, hls: hLSResource)

    static let errorResource = ErrorResource(
        code: 1,
        name: "x",
        message: "x",
        cause: "x",
        solution: "x",
        status: 1,
        retryable: true,
        retryAfter: 1,
        moreInfo: "x"
    )

    static let errorAnswer = ErrorAnswer(error: errorResource)

    static let overlaysResource = OverlaysResource(name: true, mic: true)

    static let layoutSettingsResource = {
        var settings = plainLayoutSettings
        settings.rotateEvery = 3
        settings.largeScaleMode = "x"
        settings.stripSize = 1
        return settings
    }()

    private static let plainLayoutSettings = LayoutSettingsResource(
        type: "x",
        priority: "x",
        gridSize: 1,
        orientation: "x",
        theme: "x",
        scaleMode: "x",
        autoSwitchOnScreenShare: true,
        overlays: overlaysResource,
        transitionMS: 1,
        background: backgroundResource,
        logo: logoResource,
        lowerThird: lowerThirdResource,
        ticker: tickerResource,
        slates: slatesResource
    )

    static let playbackResource = PlaybackResource(hlsURL: "x", rtmpURL: "x", flvURL: "x", viewerToken: "x")

    static let roomResource: RoomResource = {
        var room = RoomResource(
            sid: "x",
            uniqueName: "x",
            status: "x",
            backstage: true,
            wasOnAir: true,
            maxParticipants: 1,
            maxHosts: 1,
            emptyRoomTimeout: 1,
            unusedRoomTimeout: 1,
            counts: countsResource,
            dominantSpeakerSID: "x",
            layout: layoutSettingsResource,
            sound: roomSoundResource,
            linger: 1,
            egress: egressResource,
            program: programResource,
            playback: playbackResource,
            revision: 1,
            dateCreated: Timestamp(0),
            dateUpdated: Timestamp(0),
            endTime: Timestamp(0),
            links: ["a": "b"]
        )
        room.type = "x"
        room.access = accessResource
        room.callSettings = callSettingsResource
        room.maxAudience = 1
        room.hostOrder = ["x"]
        room.node = "x"
        room.degradation = mixerLoadResource
        return room
    }()

    static let pinResource = PinResource(isLocal: true, pinType: "x", pinnedAt: Timestamp(0))

    static let trackResource = TrackResource(
        sid: "x",
        name: "x",
        kind: "x",
        published: true,
        subscribed: true,
        enabled: true,
        mediaState: "x",
        width: 1,
        height: 1,
        fps: 1.5,
        codec: "x"
    )

    static let participantResource = {
        var participant = plainParticipant
        participant.discarded = ["x"]
        return participant
    }()

    private static let plainParticipant = ParticipantResource(
        sid: "x",
        identity: "x",
        displayName: "x",
        mode: "x",
        status: "x",
        isMicOn: true,
        isCameraOn: true,
        isScreenSharing: true,
        isSpeaking: true,
        isDominantSpeaker: true,
        audioLevel: 1.5,
        pin: pinResource,
        position: 1,
        tracks: [trackResource],
        metadata: ["a": .bool(true)],
        avatar: "x",
        sound: participantSoundResource,
        sync: syncResource,
        screenSync: syncResource,
        joinedAt: Timestamp(0),
        revision: 1
    )

    static let inviteeResource = InviteeResource(identity: "x", state: "x", changedAt: Timestamp(0))

    static let invitationResource = InvitationResource(
        sid: "x",
        roomSID: "x",
        room: "x",
        inviter: "x",
        mode: "x",
        state: "x",
        invitees: [inviteeResource],
        createdAt: Timestamp(0),
        expiresAt: Timestamp(0),
        unreachable: ["x"]
    )

    static let handResource = HandResource(
        sid: "x",
        participantSID: "x",
        identity: "x",
        raisedAt: Timestamp(0),
        expiresAt: Timestamp(0)
    )

    static let handList = HandList(hands: [handResource], meta: pageResource)

    static let customEventResource = CustomEventResource(
        type: "x",
        data: ["a": .bool(true)],
        participantSID: "x",
        identity: "x"
    )

    static let tileResource = TileResource(
        position: 1,
        participantSID: "x",
        source: "x",
        x: 1,
        y: 1,
        width: 1,
        height: 1,
        scaleMode: "x",
        label: "x",
        micOn: true,
        avatar: "x",
        inStrip: true
    )

    static let layoutResource = LayoutResource(
        settings: layoutSettingsResource,
        width: 1,
        height: 1,
        tiles: [tileResource]
    )

    static let warningResource = WarningResource(code: 1, reason: "x", message: "x", output: "x", secondsLeft: 1)

    static let viewershipResource = ViewershipResource(
        room: "x",
        concurrentViewers: 1,
        devices: 1,
        peakConcurrentViewers: 1,
        peakAt: Timestamp(0),
        joins: 1,
        watchTimeSeconds: 1.5,
        asOf: Timestamp(0),
        staleMs: 1,
        recovering: true,
        by: breakdownResource
    )

    static let eventResource = {
        var event = EventResource(
            type: "x",
            roomSID: "x",
            rev: 1,
            ts: Timestamp(0),
            participants: [participantResource],
            tiles: [tileResource],
            participant: participantResource
        )
        event.room = roomResource
        event.invitations = [invitationResource]
        event.hands = [handResource]
        event.layout = layoutResource
        event.track = trackResource
        event.reason = "x"
        event.code = 1
        event.previousMode = "x"
        event.sid = ExplicitNull(wrappedValue: "x")
        event.previousSID = ExplicitNull(wrappedValue: "x")
        event.participantSID = "x"
        event.pin = ExplicitNull(wrappedValue: pinResource)
        event.livestream = livestreamResource
        event.output = outputResource
        event.hls = hLSResource
        event.recording = recordingResource
        event.warning = warningResource
        event.counts = countsResource
        event.viewership = viewershipResource
        event.invitation = invitationResource
        event.identities = ["x"]
        event.hand = handResource
        event.custom = customEventResource
        event.asset = assetResource
        event.error = errorResource
        return event
    }()

    static let rTMPIngestResource = RTMPIngestResource(url: "x", streamKey: "x", screenStreamKey: "x")

    static let ingestResource = IngestResource(rtmp: rTMPIngestResource, rtmps: rTMPIngestResource)

    static let joinAnswer = JoinAnswer(
        participant: participantResource,
        sessionID: "x",
        room: roomResource,
        participants: [participantResource],
        tiles: [tileResource],
        ingest: ingestResource,
        callSettings: callSettingsResource,
        connectOptions: connectOptionsResource,
        playback: playbackResource,
        eventsURL: "x",
        heartbeatInterval: 1,
        sessionTimeout: 1,
        fastReconnectDeadline: 1
    )

    static let modeAnswer = ModeAnswer(participant: participantResource, ingest: ingestResource)

    static let pageResource = PageResource(pageSize: 1, nextPageToken: "x")

    static let participantList = ParticipantList(participants: [participantResource], meta: pageResource)

    static let accessResource = AccessResource(rule: "x")

    static let admissionResource = AdmissionResource(sid: "x", playback: playbackResource)

    static let ticketResource = TicketResource(
        id: "x",
        room: "x",
        name: "x",
        devices: 1,
        watching: 1,
        startsAt: Timestamp(0),
        expiresAt: Timestamp(0),
        dateCreated: Timestamp(0),
        revokedAt: Timestamp(0),
        ticket: "x",
        url: "x",
        playback: playbackResource
    )

    static let ticketList = TicketList(tickets: [ticketResource], meta: pageResource)

    static let roomList = RoomList(rooms: [roomResource], meta: pageResource, unreachableNodes: ["x"])

    static let viewershipTotalsResource = ViewershipTotalsResource(
        total: viewershipResource,
        rooms: [viewershipResource]
    )

    static let revokedTokenResource = RevokedTokenResource(
        jti: "x",
        identity: "x",
        role: "x",
        revokedAt: Timestamp(0),
        revokedBy: "x",
        expiresAt: Timestamp(0)
    )

    static let revokedTokenList = RevokedTokenList(tokens: [revokedTokenResource], meta: pageResource)
}
