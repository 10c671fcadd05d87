@testable import Gateway
import GatewayModel
import Mixer
import Stage
import Testing

@Suite("A room as its mixer knows it")
struct FollowedRoomTests {
    /// A track as it is while its media is in the program.
    private func track(_ name: TrackName, enabled: Bool = true, subscribed: Bool = true) -> TrackResource {
        TrackResource(
            sid: "MT",
            name: name.rawValue,
            kind: name.kind.rawValue,
            published: true,
            subscribed: subscribed,
            enabled: enabled,
            mediaState: "playable",
            width: nil,
            height: nil,
            fps: nil,
            codec: nil
        )
    }

    private func participant(
        _ sid: String,
        mode: ParticipantMode = .sendAndReceive,
        tracks: [TrackResource]? = nil
    ) -> ParticipantResource {
        ParticipantResource(
            sid: sid,
            identity: sid.lowercased(),
            displayName: sid,
            mode: mode.rawValue,
            status: "connected",
            isMicOn: true,
            isCameraOn: true,
            isScreenSharing: false,
            isSpeaking: false,
            isDominantSpeaker: false,
            audioLevel: nil,
            pin: nil,
            position: nil,
            tracks: tracks ?? [track(.mic), track(.camera)],
            metadata: [:],
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

    @Test("V16 V17 Hosts join, leave and change their mode")
    func membership() {
        var room = followed(event(.participantJoined, participant: participant("PA1")))
        #expect(inputs(room) == ["PA1"])
        room.apply(event(.participantJoined, participant: participant("PA2", mode: .receiveOnly)))
        #expect(inputs(room) == ["PA1"])
        room.apply(event(.participantModeChanged, participant: participant("PA2")))
        #expect(inputs(room) == ["PA1", "PA2"])
        room.apply(event(.participantModeChanged, participant: participant("PA1", mode: .receiveOnly)))
        #expect(inputs(room) == ["PA2"])
        #expect(room.scene.audible == ["PA2"])
        room.apply(event(.participantLeft, participant: participant("PA2")))
        #expect(inputs(room).isEmpty)
    }

    @Test("Who had the floor last is the scene's speaker, until somebody else has it")
    func speaker() {
        var room = followed(event(.roomSnapshot, participants: [participant("PA1"), participant("PA2")], tiles: []))
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
        let sharing = participant("PA1", tracks: [track(.camera), track(.screen, subscribed: false)])
        var room = followed(event(.trackPublished, participant: sharing, track: track(.screen)))
        #expect(inputs(room) == ["PA1", "PA1.screen"])
        room.apply(event(.trackUnpublished, participant: participant("PA1"), track: track(.screen), reason: "ended"))
        #expect(inputs(room) == ["PA1"])
    }

    @Test("T6 A disabled microphone is silent with the event that says so; the host is seen on")
    func muted() {
        let off = participant("PA1", tracks: [track(.mic, enabled: false), track(.camera)])
        var room = followed(
            event(.roomSnapshot, participants: [participant("PA1")], tiles: [tile("PA1")]),
            event(.trackDisabled, participant: off, track: track(.mic, enabled: false))
        )
        #expect(room.scene.audible.isEmpty)
        #expect(sources(room) == [.camera])
        room.apply(event(.trackEnabled, participant: participant("PA1"), track: track(.mic)))
        #expect(room.scene.audible == ["PA1"])
    }

    @Test("T3 A withdrawn microphone is silent; a microphone that the mixer does not decode yet is heard when it does")
    func withdrawn() {
        let mute = participant("PA1", tracks: [track(.camera)])
        #expect(followed(event(.trackUnpublished, participant: mute, track: track(.mic))).scene.audible.isEmpty)
        let loading = participant("PA1", tracks: [track(.mic, subscribed: false)])
        #expect(followed(event(.trackPublished, participant: loading)).scene.audible == ["PA1"])
    }

    @Test(
        "T3 T6 A camera that is disabled or withdrawn is off its tile before the layout says so",
        arguments: [true, false]
    )
    func cameraOff(isDisabled: Bool) {
        let tracks = isDisabled ? [track(.mic), track(.camera, enabled: false)] : [track(.mic)]
        let room = followed(
            event(.roomSnapshot, participants: [participant("PA1")], tiles: [tile("PA1")]),
            event(
                isDisabled ? .trackDisabled : .trackUnpublished,
                participant: participant("PA1", tracks: tracks),
                track: track(.camera),
                reason: isDisabled ? nil : "unpublished"
            )
        )
        #expect(sources(room) == [.placeholder])
        #expect(room.scene.audible == ["PA1"])
    }

    @Test("A camera lost with its connection keeps its input in the tile, until it is back or withdrawn")
    func lost() {
        let bare = participant("PA1", tracks: [])
        var room = followed(
            event(.roomSnapshot, participants: [participant("PA1")], tiles: [tile("PA1")]),
            event(.trackUnpublished, participant: bare, track: track(.mic), reason: "ended"),
            event(.trackUnpublished, participant: bare, track: track(.camera), reason: "ended"),
            event(.participantReconnecting, participant: bare),
            event(.layoutChanged, tiles: [tile("PA1", source: "placeholder")])
        )
        #expect(sources(room) == [.camera])
        #expect(room.scene.audible.isEmpty)
        room.apply(event(.trackUnpublished, participant: bare, track: track(.camera), reason: "unpublished"))
        #expect(sources(room) == [.placeholder])
    }

    @Test("A camera that nobody has decoded yet is shown as soon as there is a picture of it")
    func loading() {
        let loading = participant("PA1", tracks: [track(.camera, subscribed: false)])
        let room = followed(
            event(.roomSnapshot, participants: [loading], tiles: [tile("PA1", source: "placeholder")])
        )
        #expect(sources(room) == [.camera])
    }

    @Test("D28 A screen's tile shows the screen's input, and the camera as soon as the screen is gone")
    func layout() {
        let sharing = participant("PA1", tracks: [track(.camera), track(.screen)])
        var room = followed(
            event(.roomSnapshot, participants: [sharing, participant("PA3")], tiles: [tile("PA1")]),
            event(
                .layoutChanged,
                tiles: [tile("PA1", source: "screen", scaleMode: "fit"), tile("PA1"), tile("PA3", source: "hologram")]
            )
        )
        #expect(room.scene.tiles.map(\.participantSID) == ["PA1.screen", "PA1"])
        #expect(room.scene.tiles.map(\.scaleMode) == [.fit, .fill])
        let off = participant("PA1", tracks: [track(.camera), track(.screen, enabled: false)])
        room.apply(event(.trackDisabled, participant: off, track: track(.screen, enabled: false)))
        #expect(room.scene.tiles.map(\.participantSID) == ["PA1", "PA1"])
    }

    @Test("A hidden host is heard, and tiles of who is not there are left out")
    func hidden() {
        let room = followed(
            event(
                .roomSnapshot,
                participants: [participant("PA1"), participant("PA2")],
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
        var room = followed(event(.participantJoined, participant: participant("PA1")))
        let before = room
        room.apply(EventResource(type: type, roomSID: "RM1", rev: 2, ts: Timestamp(0)))
        #expect(room == before)
    }

    @Test("The end of the room is noticed; nothing is read any more, and nobody is to hear a feed of its own")
    func ends() {
        var host = participant("PA1")
        host.sound.returnFeed = true
        var room = followed(event(.participantJoined, participant: host))
        #expect(!room.returns.isEmpty)
        room.apply(event(.roomEnded))
        #expect(room.isEnded && room.inputs.isEmpty && room.returns.isEmpty)
        #expect(room.scene.slate?.kind == .ended)
    }

    @Test("How long an input's media is held back its host says, or else the program, also for the host's screen")
    func jitterTarget() {
        var host = participant("PA1", tracks: [track(.camera), track(.screen)])
        host.sound.jitterTarget = 60
        let room = followed(
            event(.participantJoined, participant: host),
            event(.participantJoined, participant: participant("PA2"))
        )
        let targets = Dictionary(uniqueKeysWithValues: room.inputs.map { ($0.id, room.jitterTarget(of: $0)) })
        #expect(targets == ["PA1": 60, "PA1.screen": 60, "PA2": 300])
    }

    @Test("T5 The report names what is decoded of each host, and how loud it is before any gain")
    func report() throws {
        let sharing = participant(
            "PA2",
            tracks: [track(.mic, enabled: false), track(.camera, subscribed: false), track(.screen)]
        )
        let room = followed(
            event(.roomSnapshot, participants: [participant("PA1"), sharing, participant("PA3", mode: .receiveOnly)])
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
