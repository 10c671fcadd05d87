import FootlightModel
import FootlightTesting

extension ModelSamples {
    static let outputBody = {
        var body = OutputBody(name: "x", url: "x", streamKey: "x")
        body.backupURL = "x"
        body.backupStreamKey = "x"
        body.rendition = "x"
        return body
    }()

    static let overlaysBody = OverlaysBody(name: true, mic: true)

    static let layoutBody = LayoutBody(
        type: "x",
        priority: "x",
        gridSize: 1,
        rotateEvery: 3,
        orientation: "x",
        theme: "x",
        scaleMode: "x",
        largeScaleMode: "x",
        stripSize: 1,
        autoSwitchOnScreenShare: true,
        overlays: overlaysBody,
        transitionMS: ExplicitNull(wrappedValue: 1),
        background: ExplicitNull(wrappedValue: backgroundResource),
        logo: ExplicitNull(wrappedValue: logoResource),
        lowerThird: ExplicitNull(wrappedValue: lowerThirdResource),
        ticker: ExplicitNull(wrappedValue: tickerResource),
        slates: ExplicitNull(wrappedValue: slatesBody)
    )

    static let startLivestreamBody = StartLivestreamBody(
        outputs: [outputBody],
        quality: "x",
        fps: Rate("30"),
        width: 1,
        height: 1,
        videoBitrate: 1,
        audioBitrate: 1,
        maxDuration: 1,
        minIdleTimeout: 1,
        layout: layoutBody
    )

    static let startHLSBody = StartHLSBody(layout: layoutBody)

    static let autoStartBody = AutoStartBody(livestream: startLivestreamBody, hls: startHLSBody)

    static let callSettingsBody = CallSettingsBody(
        audioOn: true,
        videoOn: true,
        speakerOn: true,
        audioOutputOn: true,
        cameraPosition: "x"
    )

    static let connectOptionsBody = ConnectOptionsBody(maxBitrate: 1, width: 1, height: 1)

    static let createInvitationBody = CreateInvitationBody(identities: ["x"], mode: "x", timeout: 1)

    static let createRoomBody = {
        var body = createdRoomBody
        body.recording = true
        return body
    }()

    private static let createdRoomBody = CreateRoomBody(
        uniqueName: "x",
        type: "x",
        maxParticipants: 1,
        maxHosts: 1,
        maxAudience: 1,
        emptyRoomTimeout: 1,
        unusedRoomTimeout: 1,
        backstage: true,
        callSettings: callSettingsBody,
        layout: layoutBody,
        sound: roomSoundBody,
        linger: 1,
        program: programResource,
        autoStart: autoStartBody,
        access: accessBody
    )

    static let accessBody = AccessBody(
        rule: "x",
        passphrase: "x",
        allowRegions: ["x"],
        denyRegions: ["x"],
        allowNetworks: ["x"],
        denyNetworks: ["x"]
    )

    static let admissionBody = AdmissionBody(ticket: "x", passphrase: "x", sid: "x", takeOver: true)

    static let createTicketsBody = CreateTicketsBody(
        count: 1,
        name: "x",
        devices: 1,
        startsAt: Timestamp(0),
        expiresAt: Timestamp(0)
    )

    static let heartbeatBody = HeartbeatBody(sessionID: "x", audioLevel: 1.5)

    static let joinBody = JoinBody(
        identity: "x",
        displayName: "x",
        mode: "x",
        metadata: ["a": .bool(true)],
        avatar: "x",
        callSettings: callSettingsBody,
        connectOptions: connectOptionsBody,
        invitationSID: "x"
    )

    static let previewHost = PreviewHost(
        sid: "x",
        label: "x",
        hasCamera: true,
        hasMic: true,
        hasScreen: true,
        isDominantSpeaker: true,
        pinType: "x",
        avatar: "x"
    )

    static let layoutPreviewBody = LayoutPreviewBody(layout: layoutBody, hosts: [previewHost])

    static let mixerReportEntry: MixerReportEntry = {
        var entry = MixerReportEntry(
            sid: "x",
            audioLevel: 1.5,
            subscribed: ["x"],
            sync: syncResource,
            screenSync: syncResource
        )
        (entry.peak, entry.levelling) = (1.5, 1.5)
        return entry
    }()

    static let hostLevelResource = HostLevelResource(sid: "x", level: 1.5, peak: 1.5, levelling: 1.5)

    static let programLevelResource = ProgramLevelResource(peak: 1.5, limiting: 1.5)

    static let levelsResource = LevelsResource(hosts: [hostLevelResource], program: programLevelResource)

    static let renditionLoadResource = RenditionLoadResource(name: "x", dropped: 1)

    static let mixerLoadResource = MixerLoadResource(
        level: 1,
        reason: "x",
        work: 1,
        cores: 1,
        renditions: [renditionLoadResource]
    )

    static let mixerFramesResource = MixerFramesResource(counts: [1], seconds: 1.5, lost: ["x": 1])

    static let mixerReportBody: MixerReportBody = {
        var body = MixerReportBody(participants: [mixerReportEntry])
        body.load = mixerLoadResource
        body.frames = mixerFramesResource
        body.program = programLevelResource
        return body
    }()

    static let modeBody = ModeBody(mode: "x")

    static let pinBody = PinBody(pinType: "x")

    static let publishTrackBody = PublishTrackBody(kind: "x", enabled: true)

    static let raiseHandBody = RaiseHandBody(timeout: 1)

    static let sendEventBody = SendEventBody(type: "x", data: ["a": .bool(true)])

    static let reconnectBody = ReconnectBody(sessionID: "x", lastEventID: EventID(1))

    static let updateParticipantBody = UpdateParticipantBody(
        displayName: "x",
        metadata: ["a": .bool(true)],
        avatar: ExplicitNull(wrappedValue: "x")
    )

    static let updateRoomBody = UpdateRoomBody(status: "x")

    static let updateTrackBody = UpdateTrackBody(enabled: true)

    static let revokeTokenBody = RevokeTokenBody(jti: "x", token: "x", expiresAt: Timestamp(0))
}
