@testable import Gateway
import GatewayModel
import Mixer
import Stage
import Testing

@Suite("A room as its mixer knows it")
struct FollowedRoomTests {
    private func tile(_ sid: String, source: String = "camera", scaleMode: String = "fill") -> TileResource {
        TileResource(
            position: 0,
            participantSID: sid,
            source: source,
            x: 4,
            y: 8,
            width: 636,
            height: 352,
            scaleMode: scaleMode,
            label: "Label",
            micOn: true
        )
    }

    private func event(
        _ name: StageEvent.Name,
        participants: [ParticipantResource]? = nil,
        tiles: [TileResource]? = nil,
        participant: ParticipantResource? = nil,
        track: TrackResource? = nil,
        reason: String? = nil
    ) -> EventResource {
        var event = EventResource(
            type: name.rawValue,
            roomSID: "RM1",
            rev: 1,
            ts: Timestamp(0),
            participants: participants,
            tiles: tiles,
            participant: participant
        )
        event.track = track
        event.reason = reason
        return event
    }

    private func followed(_ events: EventResource...) -> FollowedRoom {
        var room = FollowedRoom()
        for event in events { room.apply(event) }
        return room
    }

    private func inputs(_ room: FollowedRoom) -> Set<String> { Set(room.inputs.map(\.id)) }

    private func sources(_ room: FollowedRoom) -> [Tile.Source] { room.scene.tiles.map(\.source) }

    @Test("The snapshot gives the hosts, not the audience, and the tiles")
    func snapshot() {
        let audience = ParticipantResource.connected("PA9", mode: .receiveOnly)
        let room = followed(
            event(.roomSnapshot, participants: [.connected("PA1"), audience], tiles: [tile("PA1")])
        )
        #expect(inputs(room) == ["PA1"])
        #expect(room.scene.tiles.map(\.participantSID) == ["PA1"])
        #expect(room.scene.tiles.first?.rectangle == TileRectangle(x: 4, y: 8, width: 636, height: 352))
        #expect(room.scene.audible == ["PA1"])
        #expect(room.configuration == ProgramConfiguration())
        #expect(!room.isEnded)
    }

    @Test("A later snapshot replaces everything, as after a lost connection")
    func secondSnapshot() {
        let room = followed(
            event(.roomSnapshot, participants: [.connected("PA1"), .connected("PA2")], tiles: [tile("PA1")]),
            event(.roomSnapshot, participants: [.connected("PA3")], tiles: [])
        )
        #expect(inputs(room) == ["PA3"])
        #expect(room.scene.tiles.isEmpty)
    }

    @Test("V16 V17 Hosts join, leave and change their mode")
    func membership() {
        var room = followed(event(.participantJoined, participant: .connected("PA1")))
        #expect(inputs(room) == ["PA1"])
        room.apply(event(.participantJoined, participant: .connected("PA2", mode: .receiveOnly)))
        #expect(inputs(room) == ["PA1"])
        room.apply(event(.participantModeChanged, participant: .connected("PA2")))
        #expect(inputs(room) == ["PA1", "PA2"])
        room.apply(event(.participantModeChanged, participant: .connected("PA1", mode: .receiveOnly)))
        #expect(inputs(room) == ["PA2"])
        #expect(room.scene.audible == ["PA2"])
        room.apply(event(.participantLeft, participant: .connected("PA2")))
        #expect(inputs(room).isEmpty)
    }

    @Test("Who had the floor last is the scene's speaker, until somebody else has it")
    func speaker() {
        var room = followed(event(.roomSnapshot, participants: [.connected("PA1"), .connected("PA2")], tiles: []))
        #expect(room.scene.speaker == nil)
        for (sid, speaker) in [("PA1", "PA1"), (nil, "PA1"), ("PA2", "PA2")] as [(String?, String)] {
            var change = event(.dominantSpeakerChanged)
            change.sid = ExplicitNull(wrappedValue: sid)
            room.apply(change)
            #expect(room.scene.speaker == speaker)
        }
    }

    @Test("T5 A screen is read from its publication on, decoded or not, until it is unpublished")
    func screen() {
        let sharing = ParticipantResource.connected(
            "PA1",
            tracks: [.playing(.camera), .playing(.screen, subscribed: false)]
        )
        var room = followed(event(.trackPublished, participant: sharing, track: .playing(.screen)))
        #expect(inputs(room) == ["PA1", "PA1.screen"])
        room.apply(event(.trackUnpublished, participant: .connected("PA1"), track: .playing(.screen), reason: "ended"))
        #expect(inputs(room) == ["PA1"])
    }

    @Test("T6 A disabled microphone is silent with the event that says so; the host is seen on")
    func muted() {
        let off = ParticipantResource.connected("PA1", tracks: [.playing(.mic, enabled: false), .playing(.camera)])
        var room = followed(
            event(.roomSnapshot, participants: [.connected("PA1")], tiles: [tile("PA1")]),
            event(.trackDisabled, participant: off, track: .playing(.mic, enabled: false))
        )
        #expect(room.scene.audible.isEmpty)
        #expect(sources(room) == [.camera])
        room.apply(event(.trackEnabled, participant: .connected("PA1"), track: .playing(.mic)))
        #expect(room.scene.audible == ["PA1"])
    }

    @Test("T3 A withdrawn microphone is silent; a microphone that the mixer does not decode yet is heard when it does")
    func withdrawn() {
        let mute = ParticipantResource.connected("PA1", tracks: [.playing(.camera)])
        #expect(followed(event(.trackUnpublished, participant: mute, track: .playing(.mic))).scene.audible.isEmpty)
        let loading = ParticipantResource.connected("PA1", tracks: [.playing(.mic, subscribed: false)])
        #expect(followed(event(.trackPublished, participant: loading)).scene.audible == ["PA1"])
    }

    @Test(
        "T3 T6 A camera that is disabled or withdrawn is off its tile before the layout says so",
        arguments: [true, false]
    )
    func cameraOff(isDisabled: Bool) {
        let disabled: [TrackResource] = isDisabled ? [.playing(.camera, enabled: false)] : []
        let tracks = [.playing(.mic)] + disabled
        let room = followed(
            event(.roomSnapshot, participants: [.connected("PA1")], tiles: [tile("PA1")]),
            event(
                isDisabled ? .trackDisabled : .trackUnpublished,
                participant: .connected("PA1", tracks: tracks),
                track: .playing(.camera),
                reason: isDisabled ? nil : "unpublished"
            )
        )
        #expect(sources(room) == [.placeholder])
        #expect(room.scene.audible == ["PA1"])
    }

    @Test("A camera lost with its connection keeps its input in the tile, until it is back or withdrawn")
    func lost() {
        let bare = ParticipantResource.connected("PA1", tracks: [])
        var room = followed(
            event(.roomSnapshot, participants: [.connected("PA1")], tiles: [tile("PA1")]),
            event(.trackUnpublished, participant: bare, track: .playing(.mic), reason: "ended"),
            event(.trackUnpublished, participant: bare, track: .playing(.camera), reason: "ended"),
            event(.participantReconnecting, participant: bare),
            event(.layoutChanged, tiles: [tile("PA1", source: "placeholder")])
        )
        #expect(sources(room) == [.camera])
        #expect(room.scene.audible.isEmpty)
        room.apply(event(.trackUnpublished, participant: bare, track: .playing(.camera), reason: "unpublished"))
        #expect(sources(room) == [.placeholder])
    }

    @Test("A camera that nobody has decoded yet is shown as soon as there is a picture of it")
    func loading() {
        let loading = ParticipantResource.connected("PA1", tracks: [.playing(.camera, subscribed: false)])
        let room = followed(
            event(.roomSnapshot, participants: [loading], tiles: [tile("PA1", source: "placeholder")])
        )
        #expect(sources(room) == [.camera])
    }

    @Test("D28 A screen's tile shows the screen's input, and the camera as soon as the screen is gone")
    func layout() {
        let sharing = ParticipantResource.connected("PA1", tracks: [.playing(.camera), .playing(.screen)])
        var room = followed(
            event(.roomSnapshot, participants: [sharing, .connected("PA3")], tiles: [tile("PA1")]),
            event(
                .layoutChanged,
                tiles: [tile("PA1", source: "screen", scaleMode: "fit"), tile("PA1"), tile("PA3", source: "hologram")]
            )
        )
        #expect(room.scene.tiles.map(\.participantSID) == ["PA1.screen", "PA1"])
        #expect(room.scene.tiles.map(\.scaleMode) == [.fit, .fill])
        let off = ParticipantResource.connected("PA1", tracks: [.playing(.camera), .playing(.screen, enabled: false)])
        room.apply(event(.trackDisabled, participant: off, track: .playing(.screen, enabled: false)))
        #expect(room.scene.tiles.map(\.participantSID) == ["PA1", "PA1"])
    }

    @Test("A hidden host is heard, and tiles of who is not there are left out")
    func hidden() {
        let room = followed(
            event(
                .roomSnapshot,
                participants: [.connected("PA1"), .connected("PA2")],
                tiles: [tile("PA1"), tile("PA7")]
            )
        )
        #expect(room.scene.tiles.map(\.participantSID) == ["PA1"])
        #expect(room.scene.audible == ["PA1", "PA2"])
    }

    @Test(
        "Events that say nothing of the stage change nothing",
        arguments: [
            "heartbeat", "livestream.state_changed", "livestream.output_updated", "viewership.updated", "something.new",
        ]
    )
    func others(type: String) {
        var room = followed(event(.participantJoined, participant: .connected("PA1")))
        let before = room
        room.apply(EventResource(type: type, roomSID: "RM1", rev: 2, ts: Timestamp(0)))
        #expect(room == before)
    }

    @Test("The end of the room is noticed; nothing is read any more, and nobody is to hear a feed of its own")
    func ends() {
        var host = ParticipantResource.connected("PA1")
        host.sound.returnFeed = true
        var room = followed(event(.participantJoined, participant: host))
        #expect(!room.returns.isEmpty)
        room.apply(event(.roomEnded))
        #expect(room.isEnded && room.inputs.isEmpty && room.returns.isEmpty)
        #expect(room.scene.slate?.kind == .ended)
    }

    @Test("How long an input's media is held back its host says, or else the program, also for the host's screen")
    func jitterTarget() {
        var host = ParticipantResource.connected("PA1", tracks: [.playing(.camera), .playing(.screen)])
        host.sound.jitterTarget = 60
        let room = followed(
            event(.participantJoined, participant: host),
            event(.participantJoined, participant: .connected("PA2"))
        )
        let targets = Dictionary(uniqueKeysWithValues: room.inputs.map { ($0.id, room.jitterTarget(of: $0)) })
        #expect(targets == ["PA1": 60, "PA1.screen": 60, "PA2": 300])
    }

    @Test("T5 The report names what is decoded of each host, and how loud it is before any gain")
    func report() throws {
        let sharing = ParticipantResource.connected(
            "PA2",
            tracks: [.playing(.mic, enabled: false), .playing(.camera, subscribed: false), .playing(.screen)]
        )
        let room = followed(
            event(.roomSnapshot, participants: [.connected("PA1"), sharing, .connected("PA3", mode: .receiveOnly)])
        )
        let report = room.report([
            HostSignal(id: "PA1", level: -31.46, peak: -20, hasSound: true, hasPictures: true),
            HostSignal(id: "PA2", level: -20, peak: -10, hasSound: false, hasPictures: false),
            HostSignal(id: "PA2.screen", hasPictures: true),
            HostSignal(id: "PA3", level: -20, peak: -10, hasSound: true, hasPictures: true),
        ])
        #expect(report.participants.map(\.sid) == ["PA1", "PA2"])
        #expect(report.participants[0].audioLevel == -31.5)
        #expect(report.participants[0].subscribed == ["mic", "camera"])
        // Nothing of a disabled track can be decoded; that it was is still true.
        #expect(report.participants[1].subscribed == ["mic", "screen"])
        #expect(report.participants[1].audioLevel == nil)
    }
}
