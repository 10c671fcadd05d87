@testable import Gateway
import GatewayModel
import Mixer
import Stage
import Testing

@Suite("A room as its mixer knows it")
struct FollowedRoomTests {
    private func participant(
        _ sid: String,
        mode: ParticipantMode = .sendAndReceive,
        mic: Bool = true,
        screen: Bool = false
    ) -> ParticipantResource {
        ParticipantResource(
            sid: sid,
            identity: sid.lowercased(),
            displayName: sid,
            mode: mode.rawValue,
            status: "connected",
            isMicOn: mic,
            isCameraOn: true,
            isScreenSharing: screen,
            position: nil,
            tracks: [],
            joinedAt: Timestamp(0),
            revision: 1
        )
    }

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
        participant: ParticipantResource? = nil
    ) -> EventResource {
        EventResource(
            type: name.rawValue,
            roomSID: "RM1",
            rev: 1,
            ts: Timestamp(0),
            participants: participants,
            tiles: tiles,
            participant: participant
        )
    }

    private func followed(_ events: EventResource...) -> FollowedRoom {
        var room = FollowedRoom()
        for event in events { room.apply(event) }
        return room
    }

    private func inputs(_ room: FollowedRoom) -> Set<String> { Set(room.inputs.map(\.id)) }

    @Test("The snapshot gives the hosts, not the audience, and the tiles")
    func snapshot() {
        let audience = participant("PA9", mode: .receiveOnly)
        let room = followed(
            event(.roomSnapshot, participants: [participant("PA1"), audience], tiles: [tile("PA1")])
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
            event(.roomSnapshot, participants: [participant("PA1"), participant("PA2")], tiles: [tile("PA1")]),
            event(.roomSnapshot, participants: [participant("PA3")], tiles: [])
        )
        #expect(inputs(room) == ["PA3"])
        #expect(room.scene.tiles.isEmpty)
    }

    @Test("Hosts join, leave and change their mode")
    func membership() {
        var room = followed(event(.participantJoined, participant: participant("PA1")))
        #expect(inputs(room) == ["PA1"])
        room.apply(event(.participantJoined, participant: participant("PA2", mode: .receiveOnly)))
        #expect(inputs(room) == ["PA1"])
        room.apply(event(.participantModeChanged, participant: participant("PA2")))
        #expect(inputs(room) == ["PA1", "PA2"])
        room.apply(event(.participantModeChanged, participant: participant("PA1", mode: .receiveOnly)))
        #expect(inputs(room) == ["PA2"])
        room.apply(event(.participantLeft, participant: participant("PA2")))
        #expect(inputs(room).isEmpty)
    }

    @Test("A host that shares the screen has a second input, which is gone when it stops")
    func screen() {
        var room = followed(event(.participantJoined, participant: participant("PA1", screen: true)))
        #expect(inputs(room) == ["PA1", "PA1.screen"])
        room.apply(event(.trackUnpublished, participant: participant("PA1")))
        #expect(inputs(room) == ["PA1"])
    }

    @Test("A muted host is seen and not heard")
    func muted() {
        let room = followed(
            event(.participantJoined, participant: participant("PA1")),
            event(.trackUnsubscribed, participant: participant("PA1", mic: false))
        )
        #expect(inputs(room) == ["PA1"])
        #expect(room.scene.audible.isEmpty)
    }

    @Test("The picture changes with the layout; a screen's tile shows the screen's input; unknown words are left out")
    func layout() {
        let room = followed(
            event(.roomSnapshot, participants: [participant("PA1")], tiles: [tile("PA1")]),
            event(
                .layoutChanged,
                tiles: [tile("PA1", source: "screen", scaleMode: "fit"), tile("PA2", source: "hologram"), tile("PA3")]
            )
        )
        #expect(room.scene.tiles.map(\.participantSID) == ["PA1.screen", "PA3"])
    }

    @Test(
        "Events that say nothing of the stage change nothing",
        arguments: [
            "heartbeat", "livestream.state_changed", "livestream.output_updated", "something.new",
        ]
    )
    func others(type: String) {
        var room = followed(event(.participantJoined, participant: participant("PA1")))
        let before = room
        room.apply(EventResource(type: type, roomSID: "RM1", rev: 2, ts: Timestamp(0)))
        #expect(room == before)
    }

    @Test("The end of the room is noticed")
    func ends() {
        #expect(followed(event(.roomEnded)).isEnded)
    }
}
