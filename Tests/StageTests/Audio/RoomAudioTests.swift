import Foundation
import Testing

@testable import Stage

@Suite("Audio mix settings")
struct RoomAudioTests {
    private var run = StageFixture()

    init() throws {
        try run.join("ann")
        try run.join("eve", .receiveOnly)
        _ = run.events()
    }

    @Test("a room's audio settings are published once when changed, and validated")
    mutating func room() throws {
        let audio = RoomAudioSettings(isLevelling: false, duck: .both, duckDepth: -30)
        try run.room.setSound(audio, at: 1)
        guard case .roomUpdated(let view)? = run.events().first?.payload else {
            Issue.record("nothing was told")
            return
        }
        #expect(view.settings.sound == audio)
        try run.room.setSound(audio, at: 2)
        #expect(run.events().isEmpty)
        for depth in [-30.1, 0.1, .nan, .infinity] {
            let error = #expect(throws: StageError.self) {
                try run.room.setSound(RoomAudioSettings(duckDepth: depth), at: 3)
            }
            #expect(error?.code == 3073 && error?.message == "duck_db must be between -30 and 0")
        }
        #expect(run.room.settings.sound == audio)
    }

    @Test("a participant's audio settings are published, validated, and survive a rejoin")
    mutating func participant() throws {
        let audio = ParticipantAudioSettings(gain: -60, hasPriority: true, wantsReturn: true)
        _ = try run.room.setSound(of: "ann", audio, at: 1)
        #expect(run.names() == [.participantUpdated])
        _ = try run.room.setSound(of: "ann", audio, at: 1)
        #expect(run.names().isEmpty)
        let error = #expect(throws: StageError.self) {
            _ = try run.room.setSound(of: "ann", ParticipantAudioSettings(gain: 12.5), at: 1)
        }
        #expect(error?.message == "gain_db must be between -60 and 12")
        _ = try run.room.setSound(of: "eve", ParticipantAudioSettings(gain: 3), at: 1)
        #expect(try run.view("eve").sound.gain == 3)
        try run.join("ann")
        #expect(try run.view("ann").sound == audio)
        try run.join("ben")
        #expect(try run.view("ben").sound == ParticipantAudioSettings())
    }

    @Test("the jitter buffer target is validated for a room and a host")
    mutating func jitterTarget() throws {
        for target in [59, 2001] {
            let room = #expect(throws: StageError.self) {
                try run.room.setSound(RoomAudioSettings(jitterTarget: target), at: 1)
            }
            let host = #expect(throws: StageError.self) {
                _ = try run.room.setSound(of: "ann", ParticipantAudioSettings(jitterTarget: target), at: 1)
            }
            for error in [room, host] {
                #expect(error?.message == "jitter_target must be between 60 and 2000")
            }
        }
        try run.room.setSound(RoomAudioSettings(jitterTarget: 60), at: 1)
        _ = try run.room.setSound(of: "ann", ParticipantAudioSettings(jitterTarget: 2000), at: 1)
        #expect(run.names() == [.roomUpdated, .participantUpdated])
        #expect(try run.room.settings.sound.jitterTarget == 60 && run.view("ann").sound.jitterTarget == 2000)
    }

    @Test("a host's A/V sync is readable and causes no event")
    mutating func sync() throws {
        let sync = HostSync(target: 60, offset: 12, drift: -3.5, buffer: 290, late: 1, duplicated: 2, dropped: 3)
        let sid = try run.view("ann").sid
        let (before, revision) = (try run.view("ann").revision, run.room.revision)
        var entry = MixerReport.Entry(participantSID: sid, audioLevel: nil, subscribed: [], sync: sync)
        entry.screenSync = HostSync(offset: 1, drift: 2, buffer: 3, late: 4, duplicated: 5, dropped: 6)
        run.room.report(MixerReport(entries: [entry]), at: 1)
        #expect(try run.view("ann").sync == sync && run.view("ann").revision == before)
        #expect(try run.view("ann").screenSync == entry.screenSync)
        // A report without sync leaves it unchanged.
        run.room.report(MixerReport(entries: [.init(participantSID: sid, audioLevel: nil, subscribed: [])]), at: 2)
        #expect(try run.view("ann").sync == sync && run.room.revision == revision)
        // A removed screen has no sync; without a mixer no host has any.
        entry.screenSync = nil
        run.room.report(MixerReport(entries: [entry]), at: 3)
        #expect(try run.view("ann").screenSync == nil && run.view("ann").sync == sync)
        run.room.mixerStopped(at: 4)
        #expect(try run.view("ann").sync == nil)
    }

    @Test("a degradation level causes one event, the load none")
    mutating func load() throws {
        _ = run.room.drainEvents()
        func report(_ level: Int, _ work: Double) -> MixerReport {
            let load = MixerLoad(level: level, reason: level > 0 ? .work : nil, work: work, cores: 0.5)
            return MixerReport(entries: [], load: load)
        }
        run.room.report(report(0, 0.4), at: 1)
        run.room.report(report(0, 0.5), at: 2)
        #expect(run.room.drainEvents().isEmpty)
        #expect(run.room.view.load?.work == 0.5)
        run.room.report(report(1, 0.9), at: 3)
        run.room.report(report(1, 0.7), at: 4)
        run.room.report(MixerReport(entries: []), at: 5)
        run.room.report(report(0, 0.5), at: 6)
        let loads = run.room.drainEvents().map { event -> Int? in
            if case .roomUpdated(let view) = event.payload { view.load?.level } else { nil }
        }
        #expect(loads == [1, 0])
    }

    @Test("an avatar is set by the join, shown on the tile, changed and removed")
    mutating func avatar() throws {
        let image = AssetReference(name: "ben")
        let ben = try run.room.join(
            JoinRequest(identity: "ben", mode: .sendAndReceive, avatar: image),
            at: 1
        )
        #expect(try run.view("ben").avatar == image)
        #expect(run.room.layout.tiles.last?.avatar == "asset:ben")
        _ = run.events()
        _ = try run.room.updateParticipant("ben", displayName: "Ben", metadata: nil, at: 2)
        #expect(try run.view("ben").avatar == image, "what is not named stays")
        _ = run.events()
        let other = try #require(AssetReference("https://a.example/b.png"))
        _ = try run.room.updateParticipant(ben.sid, displayName: nil, metadata: nil, avatar: .some(other), at: 3)
        #expect(run.names() == [.participantUpdated, .layoutChanged])
        _ = try run.room.updateParticipant(ben.sid, displayName: nil, metadata: nil, avatar: .some(nil), at: 4)
        #expect(run.names() == [.participantUpdated, .layoutChanged])
        #expect(try run.view("ben").avatar == nil && run.room.layout.tiles.last?.avatar == nil)
    }

    @Test("wasOnAir is set by the first visible host, and not backstage")
    mutating func onAir() throws {
        run = StageFixture(RoomSettings(name: "show", backstage: true))
        try run.join("ann")
        let connection = try run.encode("ann")
        try run.mix("ann")
        #expect(!run.room.wasOnAir)
        try run.room.setBackstage(false, at: 2)
        guard case .roomUpdated(let view)? = run.events().last?.payload else {
            Issue.record("nothing was told")
            return
        }
        #expect(view.wasOnAir)
        try run.stopEncoder("ann", connection: connection)
        try run.room.setBackstage(true, at: 3)
        #expect(run.room.wasOnAir)

        run = StageFixture()
        try run.join("ann")
        #expect(!run.room.wasOnAir, "there, but neither seen nor heard")
        try run.encode("ann")
        try run.mix("ann", [.mic])
        #expect(run.room.wasOnAir)
    }

    @Test("settings survive a restart, and older records have the defaults")
    mutating func restart() throws {
        var layout = LayoutSettings(transition: 0)
        layout.background = .image(AssetReference(name: "wall"))
        layout.slates.ended = .init(text: "bye", music: AssetReference(name: "tune"))
        try run.room.setLayout(layout, at: 1)
        try run.room.setSound(
            RoomAudioSettings(isLevelling: false, duck: .pinned, duckDepth: -12, jitterTarget: 60),
            at: 1
        )
        _ = try run.room.setSound(of: "ann", ParticipantAudioSettings(gain: -6, wantsReturn: true), at: 1)
        _ = try run.room.updateParticipant(
            "ann",
            displayName: nil,
            metadata: nil,
            avatar: .some(AssetReference(name: "ann")),
            at: 1
        )
        try run.encode("ann")
        try run.mix("ann")
        let data = try JSONEncoder().encode(run.room.record(keys: []))
        let record = try JSONDecoder().decode(RoomRecord.self, from: data)
        let after = Room(restoring: record, replayedEvents: 8, at: 9)
        #expect(after.settings == run.room.settings && after.settings.layout == layout)
        #expect(after.wasOnAir)
        let ann = try #require(after.view.participant("ann"))
        #expect(ann.avatar?.text == "asset:ann" && ann.sound == ParticipantAudioSettings(gain: -6, wantsReturn: true))
        #expect(after.layout.tiles.first?.avatar == "asset:ann")

        var object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        var settings = try #require(object["settings"] as? [String: Any])
        settings["sound"] = nil
        var participants = try #require(object["participants"] as? [[String: Any]])
        for index in participants.indices {
            participants[index]["sound"] = nil
            participants[index]["avatar"] = nil
        }
        (object["settings"], object["participants"], object["wasOnAir"]) = (settings, participants, nil)
        let old = try JSONDecoder().decode(RoomRecord.self, from: JSONSerialization.data(withJSONObject: object))
        #expect(old.settings.sound == RoomAudioSettings() && old.settings.linger == nil && old.wasOnAir == nil)
        #expect(old.participants.allSatisfy { $0.sound == ParticipantAudioSettings() && $0.avatar == nil })
    }
}
