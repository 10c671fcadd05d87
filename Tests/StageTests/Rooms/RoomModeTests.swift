import Testing

@testable import Stage

@Suite("Changing the mode while the show runs")
struct RoomModeTests {
    private var run = StageFixture(RoomSettings(name: "show", maximumHosts: 2))

    @Test("V16 stepping down publishes tracks, mode, viewership and layout in this order")
    mutating func stepDown() throws {
        let host = try run.join("ann")
        let connection = try run.encode("ann")
        try run.heartbeat("ann")
        try run.mix("ann")
        _ = run.room.pins.pin(host.sid, .camera, by: .stage, at: run.now)
        _ = run.events()

        let changed = try run.room.changeMode("ann", to: .receiveOnly, at: run.now)
        #expect(changed.mode == .receiveOnly && changed.status == .connected)
        #expect(run.room.counts == RoomCounts(hosts: 0, receiveOnly: 1))
        #expect(run.room.layout.tiles.isEmpty)
        #expect(try run.view("ann").pin == nil && run.view("ann").tracks.isEmpty && run.view("ann").position == nil)
        #expect(changed.gate.openTracks.isEmpty)
        let events = run.events()
        #expect(
            events.map(\.name).filter { $0 != .pinChanged } == [
                .trackUnpublished, .trackUnpublished, .participantModeChanged, .viewershipUpdated, .layoutChanged,
            ]
        )
        for event in events.prefix(2) {
            guard case .trackUnpublished(_, _, .modeChanged) = event.payload else {
                Issue.record("unpublished for another reason: \(event.payload)")
                continue
            }
        }
        #expect(run.room.refusal(ofPublisher: host.sid, at: 5) == .wrongMode)
        // Calls for the closed connection cause no events.
        try run.stopEncoder("ann", connection: connection)
        #expect(run.events().isEmpty)
    }

    @Test("V17 a viewer that steps up is a host without tracks until it publishes them")
    mutating func stepUp() throws {
        try run.join("eve", .receiveOnly)
        try run.heartbeat("eve")
        run.wait(1)
        _ = run.events()
        let changed = try run.room.changeMode("eve", to: .sendAndReceive, at: run.now)
        #expect(run.names() == [.participantModeChanged, .viewershipUpdated, .layoutChanged])
        #expect(run.room.counts == RoomCounts(hosts: 1, receiveOnly: 0))
        #expect(changed.tracks.isEmpty && changed.status == .connected)
        #expect(changed.gate.openTracks.isEmpty)
        #expect(run.room.layout.tiles.map(\.source) == [.placeholder])
        try run.encode("eve")
        #expect(run.names() == [.participantUpdated])
        for name in [TrackName.mic, .camera] {
            _ = try run.room.publishTrack(name, of: "eve", isEnabled: true, at: run.now)
        }
        #expect(run.names() == [.trackPublished, .trackPublished])
        #expect(changed.gate.openTracks == [.mic, .camera])
    }

    @Test("V17 a viewer that steps up may publish what the command names, or everything by invitation alone")
    mutating func stepUpSources() throws {
        let request = JoinRequest(identity: "eve", mode: .receiveOnly, sources: [.camera])
        _ = try run.room.join(request, at: run.now)
        let named = try run.room.changeMode("eve", to: .sendAndReceive, sources: [.mic], at: run.now)
        #expect(named.gate.openTracks == [.mic])
        try run.encode("eve")
        #expect(try run.view("eve").tracks.map(\.name) == [.mic])
        #expect(run.room.record(keys: []).participants.first?.sources == [.mic])

        #expect(try run.room.changeMode("eve", to: .receiveOnly, at: run.now).gate.openTracks.isEmpty)
        #expect(try run.room.changeMode("eve", to: .sendAndReceive, at: run.now).gate.openTracks == [.mic])

        _ = try run.room.changeMode("eve", to: .receiveOnly, at: run.now)
        let invitation = try run.room.invite(InvitationRequest(inviter: "ann", identities: ["eve"]), at: run.now)
        _ = try run.room.accept(invitation: invitation.sid, by: "eve", at: run.now)
        let invited = try run.room.changeMode("eve", to: .sendAndReceive, byInvitation: true, at: run.now)
        #expect(invited.gate.openTracks == [.mic, .camera, .screen])
    }

    @Test("V17 4010 at the limit of hosts nothing changes")
    mutating func tooMany() throws {
        try run.join("ann")
        try run.join("ben")
        try run.join("eve", .receiveOnly)
        let before = run.room.view
        let refusal = run.code { _ = try $0.changeMode("eve", to: .sendAndReceive, at: 5) }
        #expect(refusal == 4010)
        #expect(run.room.view == before)
    }

    private mutating func promote() -> Int? {
        let now = run.now
        return run.code { _ = try $0.changeMode("eve", to: .sendAndReceive, byInvitation: true, at: now) }
    }

    @Test("V17 4065 an invitation is needed where nothing else allows it, and is good once")
    mutating func byInvitation() throws {
        try run.join("ann")
        try run.join("eve", .receiveOnly)
        #expect(promote() == 4065)
        let request = InvitationRequest(inviter: "ann", identities: ["eve"])
        let invitation = try run.room.invite(request, at: run.now)
        #expect(promote() == 4065, "not before it is accepted")
        _ = try run.room.accept(invitation: invitation.sid, by: "eve", at: run.now)
        #expect(promote() == nil)
        _ = try run.room.changeMode("eve", to: .receiveOnly, at: run.now)
        #expect(promote() == 4065, "it is used up")
    }

    @Test("A host that is an encoder alone and steps down must come with a client of its own")
    mutating func encoderStepsDown() throws {
        try run.join("ann")
        try run.encode("ann")
        _ = try run.room.changeMode("ann", to: .receiveOnly, at: run.now)
        #expect(try run.view("ann").status == .connecting)
        run.wait(15)
        #expect(run.room.participants.isEmpty)
    }

    @Test("an equal mode changes nothing, and viewer to signalling-only moves no tile")
    mutating func smallChanges() throws {
        try run.join("eve", .receiveOnly)
        _ = run.events()
        _ = try run.room.changeMode("eve", to: .receiveOnly, at: run.now)
        #expect(run.events().isEmpty)
        _ = try run.room.changeMode("eve", to: .signallingOnly, at: run.now)
        #expect(run.names() == [.participantModeChanged, .viewershipUpdated])
    }
}

@Suite("Participant modes")
struct ParticipantModeTests {
    @Test("V1 the three names, the two old ones read but never written, and nothing else")
    func names() {
        #expect(ParticipantMode.allCases.map(\.rawValue) == ["SEND_AND_RECV", "RECV_ONLY", "SIGNALLING_ONLY"])
        #expect(ParticipantMode(wireName: "CONFERENCE") == .sendAndReceive)
        #expect(ParticipantMode(wireName: "VIEWER") == .signallingOnly)
        for mode in ParticipantMode.allCases {
            #expect(ParticipantMode(wireName: mode.rawValue) == mode)
        }
        #expect(ParticipantMode(wireName: "send_and_recv") == nil)
        #expect(ParticipantMode(wireName: "") == nil)
    }
}
