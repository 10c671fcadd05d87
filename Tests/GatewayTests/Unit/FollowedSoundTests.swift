@testable import Gateway
import GatewayModel
import Mixer
import Stage
import Testing

@Suite("What a room's events make of its sound")
struct FollowedSoundTests {
    private func host(_ sid: String, _ change: (inout ParticipantResource) -> Void = { _ in }) -> ParticipantResource {
        var host = ParticipantResource.connected(sid)
        change(&host)
        return host
    }

    private func event(_ name: StageEvent.Name) -> EventResource {
        EventResource(type: name.rawValue, roomSID: "RM1", rev: 1, ts: Timestamp(0))
    }

    private func room(_ sound: RoomSoundResource) -> RoomResource {
        RoomResource(
            sid: "RM1",
            uniqueName: "show",
            status: "in-progress",
            backstage: false,
            maxParticipants: 50,
            maxHosts: 12,
            emptyRoomTimeout: 0,
            unusedRoomTimeout: 0,
            counts: CountsResource(hosts: 2, audience: 0, anonymous: 0, signallingOnly: 0, participants: 2),
            dominantSpeakerSID: nil,
            layout: LayoutSettingsResource(type: "GRID", gridSize: 12, orientation: "landscape"),
            sound: sound,
            egress: EgressResource(
                broadcasting: false,
                livestream: LivestreamResource(state: "idle", startedAt: nil, outputs: []),
                hls: HLSResource(state: "idle", startedAt: nil, playbackHLSURL: nil)
            ),
            program: ProgramResource(),
            playback: PlaybackResource(hlsURL: "", rtmpURL: "", flvURL: ""),
            revision: 1,
            dateCreated: Timestamp(0),
            dateUpdated: Timestamp(0),
            endTime: nil,
            links: [:]
        )
    }

    private func followed(_ hosts: [ParticipantResource], duck: String) -> FollowedRoom {
        var snapshot = event(.roomSnapshot)
        snapshot.participants = hosts
        snapshot.room = room(RoomSoundResource(duck: duck))
        var followed = FollowedRoom()
        followed.apply(snapshot)
        return followed
    }

    private func pin(_ sid: String, _ pin: PinResource?) -> EventResource {
        var event = event(.pinChanged)
        event.participantSID = sid
        event.pin = ExplicitNull(wrappedValue: pin)
        return event
    }

    private let pinned = PinResource(isLocal: false, pinType: "CAM", pinnedAt: Timestamp(1))

    @Test("Who is pinned is ducked under with the very event that says so, and no longer than that")
    func pins() {
        var room = followed([host("PA1"), host("PA2")], duck: "pinned")
        #expect(room.scene.sound.duckUnder.isEmpty)
        room.apply(pin("PA2", pinned))
        #expect(room.scene.sound.duckUnder == ["PA2"])
        room.apply(pin("PA1", pinned))
        room.apply(pin("PA2", nil))
        #expect(room.scene.sound.duckUnder == ["PA1"])
        // Of somebody who is no host nothing is noted.
        room.apply(pin("PA9", pinned))
        #expect(room.scene.sound.duckUnder == ["PA1"] && room.hosts.map(\.sid) == ["PA1", "PA2"])
    }

    @Test("Pinned and priority hosts are ducked under as the room says; its changes count at once")
    func ducking() {
        let hosts = [host("PA1") { $0.pin = pinned }, host("PA2") { $0.sound.priority = true }, host("PA3")]
        let expected: [(String, Set<String>)] = [
            ("off", []), ("pinned", ["PA1"]), ("priority", ["PA2"]), ("both", ["PA1", "PA2"]),
        ]
        for (duck, under) in expected { #expect(followed(hosts, duck: duck).scene.sound.duckUnder == under, "\(duck)") }
        var room = followed(hosts, duck: "off")
        var change = event(.roomUpdated)
        change.room = self.room(RoomSoundResource(levelling: false, duck: "both", duckDB: -12))
        room.apply(change)
        let sound = room.scene.sound
        #expect(sound.duckUnder == ["PA1", "PA2"] && sound.duckDepth == -12 && !sound.isLevelling)
    }

    @Test("In a room that nobody changed, whoever has priority is ducked under, and nobody else")
    func usual() {
        let usual = RoomSoundResource().duck
        let plain = [host("PA1") { $0.pin = pinned }, host("PA2")]
        #expect(followed(plain, duck: usual).scene.sound.duckUnder.isEmpty)
        let first = plain + [host("PA3") { $0.sound.priority = true }]
        #expect(followed(first, duck: usual).scene.sound.duckUnder == ["PA3"])
    }

    @Test("A host's gain is in the mix with the event that says so; none is not named")
    func gains() {
        var room = followed([host("PA1"), host("PA2")], duck: "off")
        #expect(room.scene.sound.gains.isEmpty && room.scene.sound.isLevelling)
        var change = event(.participantUpdated)
        change.participant = host("PA2") { $0.sound.gainDB = -6 }
        room.apply(change)
        #expect(room.scene.sound.gains == ["PA2": -6])
    }

    @Test("Backstage the hosts with a microphone hear each other, and the audience none of them")
    func talkback() {
        let talking = ["PA1", "PA2"].map { host($0) { $0.tracks = [.playing(.mic)] } }
        var room = followed(talking + [host("PA3") { $0.tracks = [] }], duck: "off")
        #expect(room.scene.audible == ["PA1", "PA2"])
        var change = event(.roomUpdated)
        change.room = self.room(RoomSoundResource())
        change.room?.backstage = true
        room.apply(change)
        #expect(room.scene.audible.isEmpty && room.scene.talkback == ["PA1", "PA2"])
        change.room?.backstage = false
        room.apply(change)
        #expect(room.scene.audible == ["PA1", "PA2"] && room.scene.talkback.isEmpty)
        change.room?.backstage = true
        room.apply(change)
        room.apply(event(.roomEnded))
        #expect(room.scene.audible.isEmpty && room.scene.talkback.isEmpty)
    }
}
