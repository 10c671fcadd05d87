import FootlightModel
import FootlightTesting

extension ModelSamples {
    static let showScheduleResource = ShowScheduleResource(weekdays: ["friday"], time: "19:00")
    static let showOutputResource = ShowOutputResource(name: "x", url: "x", rendition: "x")
    static let showRoomResource = ShowRoomResource(
        type: "x",
        maxParticipants: 1,
        maxHosts: 1,
        maxAudience: 1,
        access: accessResource,
        layout: layoutSettingsResource,
        sound: roomSoundResource,
        program: programResource
    )
    static let removalResource = RemovalResource(at: Timestamp(0), by: "x")
    static let seatResource = SeatResource(
        identity: "x",
        displayName: "x",
        ingest: ingestResource,
        dateKeyCreated: Timestamp(0),
        removal: removalResource
    )
    static let showSceneResource = ShowSceneResource(name: "x", layout: layoutSettingsResource)
    static let episodeResource = EpisodeResource(
        id: "x",
        number: 1,
        title: "x",
        state: "planned",
        plannedAt: Timestamp(0),
        openedAt: Timestamp(0),
        wentLiveAt: Timestamp(0),
        endedAt: Timestamp(0),
        endReason: "ended",
        roomSID: "x",
        links: ["x": "x"]
    )
    static let showResource = ShowResource(
        id: "x",
        name: "x",
        title: "x",
        description: "x",
        poster: "x",
        timeZone: "x",
        schedule: showScheduleResource,
        opensBefore: 1,
        startsByItself: true,
        idleTimeout: 60,
        recording: true,
        replay: true,
        outputs: [showOutputResource],
        room: showRoomResource,
        seats: [seatResource],
        scenes: [showSceneResource],
        state: "live",
        current: episodeResource,
        next: episodeResource,
        last: episodeResource,
        url: "x",
        playback: playbackResource,
        dateCreated: Timestamp(0),
        dateUpdated: Timestamp(0)
    )
    static let replayResource = ReplayResource(url: "x", duration: 1)
    static let showStatusResource = ShowStatusResource(
        name: "x",
        title: "x",
        description: "x",
        episodeTitle: "x",
        state: "upcoming",
        startsAt: Timestamp(0),
        endedAt: Timestamp(0),
        timeZone: "x",
        posterURL: "x",
        replays: [replayResource],
        now: Timestamp(0)
    )
    static let showRoomBody = ShowRoomBody(
        type: "x",
        maxParticipants: 1,
        maxHosts: 1,
        maxAudience: ExplicitNull(wrappedValue: 1),
        access: accessBody,
        callSettings: callSettingsBody,
        layout: layoutBody,
        sound: roomSoundBody,
        linger: 1,
        program: programResource
    )
    static let seatBody = SeatBody(identity: "x", displayName: "x")
    static let showSceneBody = ShowSceneBody(name: "x", layout: layoutBody)
    static let showBody = ShowBody(
        name: "x",
        title: "x",
        description: "x",
        poster: ExplicitNull(wrappedValue: "x"),
        timeZone: "x",
        schedule: ExplicitNull(wrappedValue: showScheduleResource),
        opensBefore: 1,
        startsByItself: true,
        idleTimeout: 60,
        recording: true,
        replay: true,
        outputs: [outputBody],
        room: showRoomBody,
        seats: [seatBody],
        scenes: [showSceneBody]
    )
    static let episodeMomentResource = EpisodeMomentResource(at: Timestamp(0), kind: "went_live", name: "x")
    static let episodeBody = EpisodeBody(title: "x", plannedAt: ExplicitNull(wrappedValue: Timestamp(0)))

    static let findingResource = FindingResource(
        cause: "none",
        message: "x",
        advice: "x",
        by: "x",
        otherHost: "x"
    )
    static let hostDiagnosisResource = HostDiagnosisResource(
        participantSID: "x",
        identity: "x",
        sound: findingResource,
        video: findingResource
    )
    static let programDiagnosisResource = ProgramDiagnosisResource(
        level: 0,
        message: "x",
        advice: "x",
        adviceCode: "make_720p",
        values: ["percent": 1],
        processorPercent: 1
    )

    static let createTokenBody = CreateTokenBody(
        identity: "x",
        role: "operator",
        room: "x",
        modes: ["x"],
        canAdmin: ["x"],
        expiresIn: 1
    )
    static let tokenResource = TokenResource(
        token: "x",
        jti: "x",
        identity: "x",
        role: "operator",
        room: "x",
        expiresAt: Timestamp(0)
    )

    static let issuedTokenResource = IssuedTokenResource(
        jti: "x",
        identity: "x",
        role: "operator",
        room: "x",
        issuedAt: Timestamp(0),
        issuedBy: "x",
        expiresAt: Timestamp(0),
        revoked: false
    )

    static let shows: [Sample] = [
        Sample(createTokenBody), Sample(tokenResource), Sample(issuedTokenResource),
        Sample(IssuedTokenList(tokens: [issuedTokenResource], meta: pageResource)),
        Sample(findingResource), Sample(hostDiagnosisResource), Sample(programDiagnosisResource),
        Sample(RoomDiagnosisResource(program: programDiagnosisResource, hosts: [hostDiagnosisResource])),
        Sample(showScheduleResource), Sample(showOutputResource), Sample(showRoomResource), Sample(seatResource),
        Sample(removalResource),
        Sample(episodeResource), Sample(showResource), Sample(showStatusResource), Sample(showRoomBody),
        Sample(seatBody), Sample(showSceneResource), Sample(showSceneBody), Sample(replayResource), Sample(showBody),
        Sample(episodeBody), Sample(ShowList(shows: [showResource])), Sample(EpisodeList(episodes: [episodeResource])),
        Sample(episodeMomentResource), Sample(EpisodeMomentList(moments: [episodeMomentResource])),
    ]
}
