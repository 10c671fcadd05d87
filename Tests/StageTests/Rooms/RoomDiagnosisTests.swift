import Testing

@testable import Stage

@Suite("Why a host is not heard or seen")
struct RoomDiagnosisTests {
    private var run = StageFixture()

    init() throws {
        try run.join("ann")
    }

    private func ann(cores: Int = 2) throws -> HostDiagnosis {
        let hosts = run.room.diagnosis(cores: cores, at: run.now).hosts
        return try #require(hosts.first { $0.identity == "ann" })
    }

    private mutating func report(
        _ level: Double?,
        of identity: String = "ann",
        late: Int = 0,
        _ names: Set<TrackName> = [.mic, .camera],
        load: MixerLoad? = nil
    ) throws {
        let sync = HostSync(offset: 0, drift: 0, buffer: 300, late: late, duplicated: 0, dropped: 0)
        let entry = MixerReport.Entry(
            participantSID: try run.participant(identity).sid,
            audioLevel: level,
            subscribed: names,
            sync: sync
        )
        run.room.report(MixerReport(entries: [entry], load: load), at: run.now)
    }

    @Test("a host that sends sound and picture has nothing to mend, whose encoder is gone has")
    mutating func connection() throws {
        #expect(try ann().sound.cause == .notConnected && ann().video.cause == .notConnected)
        let connection = try run.encode("ann")
        try report(-20)
        #expect(try ann().sound.cause == .none && ann().video.cause == .none)
        #expect(try ann().sound.advice.isEmpty && ann().sound.message == "ann is heard")
        try run.stopEncoder("ann", connection: connection)
        #expect(try ann().sound.cause == .notConnected)
        #expect(try ann().sound.message == "No encoder of ann is connected")
    }

    @Test("an encoder without a sound track is told apart from one whose microphone is off")
    mutating func tracks() throws {
        let connection = try run.encode("ann", media: PublishedMedia(hasVideo: true, hasAudio: false))
        try report(nil, [.camera])
        #expect(try ann().sound.cause == .noTrack && ann().video.cause == .none)
        try run.send("ann", StageFixture.media, connection: connection)
        try report(-20)
        _ = try run.room.setTrack(.mic, of: "ann", isEnabled: false, by: "director", at: run.now)
        #expect(try ann().sound.cause == .switchedOff && ann().sound.by == "director")
        #expect(try ann().sound.message == "ann's microphone was switched off by director")
        _ = try run.room.setTrack(.mic, of: "ann", isEnabled: true, at: run.now)
        _ = try run.room.setTrack(.mic, of: "ann", isEnabled: false, at: run.now)
        #expect(try ann().sound.by == nil)
        _ = try run.room.setTrack(.camera, of: "ann", isEnabled: false, by: "director", at: run.now)
        #expect(try ann().video.cause == .switchedOff && ann().video.by == "director")
    }

    @Test("silence is a cause after twelve seconds, and ends with the first sound")
    mutating func silence() throws {
        try run.encode("ann")
        try report(-90)
        for _ in 0..<22 {
            run.now += 0.5
            try report(-90)
        }
        #expect(try ann().sound.cause == .none)
        run.now += 1
        try report(-90)
        #expect(try ann().sound.cause == .silent)
        try report(-30)
        #expect(try ann().sound.cause == .none)
    }

    @Test("a gain all the way down, and another host with priority that speaks")
    mutating func mix() throws {
        try run.encode("ann")
        try report(-20)
        run.room.updateSilently(at: try run.index("ann")) { $0.sound.gain = -60 }
        #expect(try ann().sound.cause == .gainDown)
        run.room.updateSilently(at: try run.index("ann")) { $0.sound.gain = 0 }
        try run.join("bo")
        try run.encode("bo")
        run.room.updateSilently(at: try run.index("bo")) { $0.sound.hasPriority = true }
        for _ in 0..<8 {
            run.now += 0.25
            try report(-15, of: "bo")
        }
        try report(-20)
        #expect(try ann().sound.cause == .ducked)
        #expect(try ann().sound.message == "ann is quieter while bo speaks" && ann().sound.otherHost == "bo")
        #expect(try #require(run.room.diagnosis(cores: 2, at: run.now).hosts.last).sound.cause == .none)
    }

    @Test("media that comes too late, for a few seconds after the last of it")
    mutating func late() throws {
        try run.encode("ann")
        try report(-20, late: 3)
        #expect(try ann().sound.cause == .none)
        run.now += 1
        try report(-20, late: 9)
        #expect(try ann().sound.cause == .late && ann().video.cause == .late)
        run.now += 6
        try report(-20, late: 9)
        #expect(try ann().sound.cause == .none)
    }

    @Test("quarantine comes before all else, and a room backstage after it")
    mutating func rooms() throws {
        try run.encode("ann")
        try report(-20)
        try run.room.setBackstage(true, at: run.now)
        #expect(try ann().sound.cause == .backstage && ann().video.cause == .backstage)
        run.room.quarantine(try run.participant("ann").sid, seconds: 30, at: run.now)
        #expect(try ann().sound.cause == .quarantined && ann().sound.message.contains("30 s"))
    }

    @Test("load is told in words, with the change that helps most")
    mutating func load() throws {
        var settings = RoomSettings(name: "show")
        settings.program = ProgramConfiguration(width: 1920, height: 1080)
        run = StageFixture(settings)
        try run.join("ann")
        try run.encode("ann")
        #expect(run.room.diagnosis(cores: 2, at: run.now).program.message == "No program is being made")
        try report(-20, load: MixerLoad(level: 0, reason: nil, work: 0.3, cores: 0.8))
        let well = run.room.diagnosis(cores: 2, at: run.now).program
        #expect(well.level == 0 && well.advice.isEmpty && well.processorPercent == 40)
        try report(-20, load: MixerLoad(level: 3, reason: .work, work: 1, cores: 1.6))
        let short = run.room.diagnosis(cores: 2, at: run.now).program
        #expect(short.message == "The program has a third of its frames, because the processor is too slow")
        #expect(short.advice == "The program of 1080p costs 80 % of this machine: make it 720p")
        #expect(short.adviceCode == .make720p && short.values == ["percent": 80, "height": 1080])
        #expect(well.adviceCode == nil && well.values.isEmpty)
        try report(-20, load: MixerLoad(level: 3, reason: .work, work: 1, cores: 0.2))
        let crowded = run.room.diagnosis(cores: 2, at: run.now).program
        #expect(crowded.advice == "This program takes 10 % of the machine: end other shows, and what else runs there")
        #expect(crowded.adviceCode == .endOthers && crowded.values["percent"] == 10)
        try report(-20, load: MixerLoad(level: 6, reason: .work, work: 1, cores: 2))
        #expect(try ann().video.cause == .overload && ann().sound.cause == .none)
    }
}
