import Admission
import FootlightModel
import Foundation
import Shows
import Stage

extension ShowResource {
    init(_ show: Show, status: ShowStatus, addresses: PlaybackAddresses) {
        let settings = show.settings
        self.init(
            id: show.id,
            name: show.name,
            title: settings.title,
            description: settings.description,
            poster: settings.poster,
            timeZone: settings.timeZone,
            schedule: settings.schedule.map { ShowScheduleResource($0) },
            opensBefore: settings.opensBefore,
            startsByItself: settings.startsByItself,
            idleTimeout: settings.idleTimeout,
            recording: settings.isRecorded,
            replay: settings.hasReplay ?? false,
            outputs: (settings.outputs?.targets ?? []).map {
                ShowOutputResource(name: $0.name, url: $0.url, rendition: $0.rendition)
            },
            room: ShowRoomResource(settings.room),
            seats: show.seats.map { SeatResource($0, of: show, addresses: addresses) },
            scenes: (settings.scenes ?? []).map {
                ShowSceneResource(name: $0.name, layout: LayoutSettingsResource($0.layout, on: settings.room.program))
            },
            state: .known(status.state),
            current: show.current.map { EpisodeResource($0, addresses: addresses) },
            next: show.next.map { EpisodeResource($0, addresses: addresses) },
            last: show.last.map { EpisodeResource($0, addresses: addresses) },
            url: addresses.watch(show.name),
            playback: PlaybackResource(room: show.name, addresses: addresses),
            dateCreated: Timestamp(show.createdAt),
            dateUpdated: Timestamp(show.updatedAt)
        )
    }
}

extension ShowScheduleResource {
    fileprivate init(_ schedule: ShowSchedule) {
        self.init(
            weekdays: ShowSchedule.Weekday.allCases.filter(schedule.weekdays.contains).map { .known($0) },
            time: schedule.time
        )
    }
}

extension ShowRoomResource {
    fileprivate init(_ room: RoomSettings) {
        self.init(
            type: .known(room.type),
            maxParticipants: room.maximumParticipants,
            maxHosts: room.maximumHosts,
            maxAudience: room.maximumAudience,
            access: AccessResource(room.audienceAccess),
            layout: LayoutSettingsResource(room.layout, on: room.program),
            sound: RoomSoundResource(room.sound),
            program: ProgramResource(room.program)
        )
    }
}

extension SeatResource {
    init(_ seat: Seat, of show: Show, addresses: PlaybackAddresses) {
        self.init(
            identity: seat.identity,
            displayName: seat.displayName ?? seat.identity,
            ingest: IngestResource(seat.credentials, addresses: addresses),
            dateKeyCreated: Timestamp(seat.keyMadeAt),
            removal: show.current?.removal(of: seat.identity).map { removal in
                RemovalResource(at: removal.at.map { Timestamp($0) }, by: removal.by)
            }
        )
    }
}

extension EpisodeMomentResource {
    init(_ moment: Episode.Moment) {
        self.init(at: Timestamp(moment.at), kind: .known(moment.kind), name: moment.name)
    }
}

extension EpisodeResource {
    init(_ episode: Episode, addresses: PlaybackAddresses) {
        self.init(
            id: episode.id,
            number: episode.number,
            title: episode.title,
            state: .known(episode.state),
            plannedAt: episode.plannedAt.map { Timestamp($0) },
            openedAt: episode.openedAt.map { Timestamp($0) },
            wentLiveAt: episode.wentLiveAt.map { Timestamp($0) },
            endedAt: episode.endedAt.map { Timestamp($0) },
            endReason: episode.endReason.map { .known($0) },
            roomSID: episode.roomSID,
            links: episode.roomSID.map { sid in
                [
                    "room": addresses.api("rooms/\(sid)"),
                    "viewership": addresses.api("rooms/\(sid)/viewership/summary"),
                    "recordings": addresses.api("rooms/\(sid)/recordings"),
                ]
            } ?? [:]
        )
    }
}

extension ShowStatusResource {
    init(_ status: ShowStatus, name: String, replays: [RecordedFile], addresses: PlaybackAddresses) {
        self.init(
            name: name,
            title: status.title,
            description: status.description,
            episodeTitle: status.episodeTitle,
            state: .known(status.state),
            startsAt: status.startsAt.map { Timestamp($0) },
            endedAt: status.endedAt.map { Timestamp($0) },
            timeZone: status.timeZone,
            posterURL: status.hasPoster ? addresses.api("shows/\(name)/poster") : nil,
            replays: replays.map {
                ReplayResource(url: addresses.api("shows/\(name)/replays/\($0.sid)/media.mp4"), duration: $0.duration)
            },
            now: Timestamp(Date().timeIntervalSince1970)
        )
    }
}

// MARK: Parsing

extension ShowSettings {
    /// Creates the settings of a new show.
    ///
    /// - Throws: 3073 naming the field; `validate()` checks the ranges.
    init(_ body: ShowBody, template: ShowTemplate?, digest: (String) -> PassphraseDigest) throws(StageError) {
        guard let name = body.name else { throw .invalidParameter("name", "must be given") }
        self.init(room: RoomSettings(name: name))
        template?.apply(to: &self)
        try apply(body, digest: digest)
    }

    /// Applies the fields of a request; missing fields stay unchanged.
    ///
    /// - Parameter digest: Returns what is stored of a passphrase.
    /// - Throws: 3073 naming the field; `validate()` checks the ranges.
    mutating func apply(_ body: ShowBody, digest: (String) -> PassphraseDigest) throws(StageError) {
        if let name = body.name, name != room.name {
            throw .invalidParameter("name", "cannot be changed; copy the show instead")
        }
        title = body.title ?? title
        description = body.description ?? description
        if let poster = body.poster { self.poster = poster.wrappedValue }
        timeZone = body.timeZone ?? timeZone
        if let schedule = body.schedule {
            self.schedule = try schedule.wrappedValue.map { (schedule) throws(StageError) in
                try ShowSchedule(schedule)
            }
        }
        opensBefore = body.opensBefore ?? opensBefore
        startsByItself = body.startsByItself ?? startsByItself
        idleTimeout = body.idleTimeout ?? idleTimeout
        isRecorded = body.recording ?? isRecorded
        hasReplay = body.replay ?? hasReplay
        if let scenes = body.scenes { try setScenes(scenes) }
        if let body = body.room { try room.apply(body, digest: digest) }
        if let bodies = body.outputs { try setOutputs(bodies) } else { try requireRenditions() }
    }

    /// Refuses a program without a rendition that a saved output pushes.
    ///
    /// - Throws: 3073.
    private func requireRenditions() throws(StageError) {
        let names = room.program.ladder?.names ?? []
        for target in outputs?.targets ?? [] {
            guard let rendition = target.rendition, !names.contains(rendition) else { continue }
            throw .invalidParameter(
                "room.program.renditions",
                "must have \(rendition), which the output \(target.name) pushes"
            )
        }
    }

    private mutating func setScenes(_ bodies: [ShowSceneBody]) throws(StageError) {
        var scenes: [ShowScene] = []
        for (index, body) in bodies.enumerated() {
            var layout = LayoutSettings()
            try layout.apply(body.layout, path: "scenes[\(index)].layout.", isOperator: true)
            layout.slates = LayoutSettings.Slates()
            scenes.append(ShowScene(name: body.name, layout: layout))
        }
        self.scenes = scenes.isEmpty ? nil : scenes
    }

    private mutating func setOutputs(_ bodies: [OutputBody]) throws(StageError) {
        guard !bodies.isEmpty else {
            outputs = nil
            return
        }
        try bodies.requireRenditions(of: room.program)
        store(try OutputTarget.targets(of: bodies, beside: [], program: room.program, isOperator: true))
    }

    /// Adds an output, instead of the one of its name if there is one.
    ///
    /// - Throws: 4015, 3073.
    mutating func addOutput(_ body: OutputBody) throws(StageError) {
        try [body].requireRenditions(of: room.program)
        let others = (outputs?.targets ?? []).filter { $0.name != body.name }
        let added = try OutputTarget.targets(
            of: [body],
            beside: others.map(\.name),
            program: room.program,
            isOperator: true
        )
        store(others + added)
    }

    /// Removes an output.
    ///
    /// - Throws: 4014 for an unknown name.
    mutating func removeOutput(_ name: String) throws(StageError) {
        let targets = outputs?.targets ?? []
        guard targets.contains(where: { $0.name == name }) else { throw .livestreamNotRunning }
        store(targets.filter { $0.name != name })
    }

    private mutating func store(_ targets: [OutputTarget]) {
        guard !targets.isEmpty else {
            outputs = nil
            return
        }
        // The show decides how long it lasts.
        let options = LivestreamOptions(
            maximumDuration: LivestreamOptions.longestDuration,
            minimumIdleTimeout: LivestreamOptions.longestDuration
        )
        outputs = LivestreamPlan(targets, options, startedAt: 0)
    }
}

extension ShowSchedule {
    fileprivate init(_ resource: ShowScheduleResource) throws(StageError) {
        var weekdays: Set<Weekday> = []
        for day in resource.weekdays { weekdays.insert(try day.known(in: "schedule.weekdays")) }
        self.init(weekdays: weekdays, time: resource.time)
    }
}

extension RoomSettings {
    /// Applies the fields of a show's request; missing fields stay unchanged.
    fileprivate mutating func apply(
        _ body: ShowRoomBody,
        digest: (String) -> PassphraseDigest
    ) throws(StageError) {
        if let type = body.type { self.type = try type.known(in: "room.type") }
        maximumParticipants = body.maxParticipants ?? maximumParticipants
        maximumHosts = body.maxHosts ?? maximumHosts
        if let most = body.maxAudience { maximumAudience = most.wrappedValue }
        if let access = body.access { try audienceAccess.apply(access, path: "room.access.", digest: digest) }
        if let devices = body.callSettings { callSettings = try CallSettings(devices) }
        if let body = body.layout { try layout.apply(body, path: "room.layout.", isOperator: true) }
        if let sound = body.sound { try self.sound.apply(sound, path: "room.sound.") }
        linger = body.linger ?? linger
        if let program = body.program { self.program = try ProgramConfiguration(program) }
    }
}
