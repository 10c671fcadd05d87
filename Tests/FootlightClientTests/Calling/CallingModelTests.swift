import FootlightTesting
import FootlightModel
import Observation
import Stage
import Testing

@testable import FootlightClient

@MainActor
@Suite("The model of a call that may ring")
struct CallingModelTests {
    private let capture = FakeCapture()
    private let invitation = CallInvitation(sid: "IN1", room: "show", inviter: "bob")
    private let ann = SampleParticipants.participant("ann")
    private let bob = SampleParticipants.participant("bob", on: [.camera, .mic])

    private func model() throws -> CallingModel {
        CallingModel(call: try SampleParticipants.call(), capture: capture)
    }

    @Test("S2 S3 a new call is idle, the lobby shows its data, hanging up returns to idle")
    func lobby() throws {
        let model = try model()
        #expect(model.callingState == .idle && model.screen == .host)
        model.enterLobby("show", members: ["bob"])
        #expect(model.callingState == .lobby(LobbyInfo(callID: "show", participants: ["bob"])))
        model.hangUp()
        #expect(model.callingState == .idle)
        model.enterLobby("show")
        model.joinCall("show")
        #expect(model.callingState == .joining)
    }

    @Test("L1 participants are found by id, separately from the local one, and observers are notified of changes")
    func everybody() throws {
        let model = try model()
        #expect(model.callParticipants.isEmpty && model.localParticipant == nil)
        model.joinCall("show")
        try model.call.simulateJoined([ann])
        let changes = NumberLog()
        withObservationTracking {
            _ = model.callParticipants
        } onChange: {
            changes.append(1)
        }
        #expect(changes.recorded.isEmpty)
        try model.call.play([ann, bob])
        #expect(changes.recorded == [1] && model.callParticipants == ["PA-ann": ann, "PA-bob": bob])
        #expect(model.localParticipant == ann)
        try model.call.play([ann])
        #expect(model.callParticipants == ["PA-ann": ann])
    }

    @Test("S4 S9 joining at once, then in the call, or idle with the error; a second request is ignored")
    func joining() throws {
        let model = try model()
        model.startCall("show", members: ["bob"])
        #expect(model.callingState == .joining)
        model.joinCall("other")
        model.call.handle(.joinFailed(request: 1, .roomFull))
        #expect(model.callingState == .idle && model.error == .roomFull)
        model.joinCall("show")
        #expect(model.callingState == .joining && model.error == nil)
        try model.call.simulateJoined([ann], request: 2)
        #expect(model.callingState == .inCall && model.screen == .waiting, "S12: alone")
        model.joinCall("other")
        #expect(model.callingState == .inCall)
    }

    @Test("S5 an outgoing ring is joined at the first acceptance, and ended by rejections or by hanging up")
    func outgoing() throws {
        let model = try model()
        let answer = { (who: String) in InvitationAnswer(sid: "IN1", room: "show", identity: who) }
        model.startCall("show", members: ["ann", "bob", "eve"], ring: true)
        #expect(model.callingState == .outgoing && model.screen == .outgoing)
        model.call.handle(.invitationRejected(answer("bob")))
        #expect(model.callingState == .outgoing)
        model.call.handle(.invitationRejected(answer("eve")))
        #expect(model.callingState == .idle, "all but oneself")
        model.startCall("show", members: ["bob"], ring: true)
        model.hangUp()
        #expect(model.callingState == .idle)
        model.startCall("show", members: ["bob"], ring: true)
        model.call.handle(.invitationAccepted(answer("bob")))
        #expect(model.callingState == .joining)
    }

    @Test("S6 S7 an incoming call rings when idle; accepted it is joined, otherwise it returns to idle")
    func incoming() throws {
        let model = try model()
        model.call.handle(.invitationReceived(CallInvitation(sid: "IN0", room: "show", inviter: "ann")))
        #expect(model.callingState == .idle, "my own")
        model.call.handle(.invitationReceived(invitation))
        #expect(model.callingState == .incoming(invitation) && model.screen == .incoming(invitation))
        model.call.handle(.invitationAccepted(InvitationAnswer(sid: "IN1", room: "show", identity: "eve")))
        #expect(model.callingState == .incoming(invitation), "another invitee's yes")
        model.call.handle(.invitationAccepted(InvitationAnswer(sid: "IN1", room: "show", identity: "ann")))
        #expect(model.callingState == .idle, "taken on another device")
        model.call.handle(.invitationReceived(invitation))
        model.rejectCall()
        #expect(model.callingState == .idle)
        model.call.handle(.invitationReceived(invitation))
        model.acceptCall()
        #expect(model.callingState == .incoming(invitation), "until the gateway says so")
        model.call.handle(.acceptConfirmed(sid: "IN1"))
        #expect(model.callingState == .joining)
        model.call.handle(.invitationReceived(CallInvitation(sid: "IN2", room: "x", inviter: "eve")))
        #expect(model.callingState == .joining, "not when busy")
    }

    @Test("S5 S6 an unanswered ring ends by itself on both sides, and with the room")
    func inVain() async throws {
        let clock = ManualClientClock()
        let model = CallingModel(call: try SampleParticipants.call(clock), capture: capture)
        let ends = [
            CallEvent.invitationMissed(sid: "IN1"), .invitationCancelled(sid: "IN1"), .roomEnded(room: "show"),
        ]
        for (number, end) in ends.enumerated() {
            model.startCall("show", members: ["bob"], ring: true, timeout: 5)
            model.call.handle(.invitationsSent(sids: ["IN1"], ring: number + 1))
            #expect(model.callingState == .outgoing)
            model.call.handle(end)
            #expect(model.callingState == .idle && model.error == nil)
        }
        model.call.handle(.invitationReceived(invitation))
        model.call.handle(.roomEnded(room: "show"))
        #expect(model.callingState == .idle)
        model.call.handle(.invitationReceived(invitation))
        #expect(model.callingState == .incoming(invitation))
        let isOver = try await soon {
            clock.advance(.seconds(1))
            return model.callingState == .idle
        }
        #expect(isOver)
    }

    @Test("S8 hanging up while joining never becomes a call")
    func cancelled() throws {
        let model = try model()
        model.joinCall("show")
        model.hangUp()
        #expect(model.callingState == .idle)
        model.call.handle(.joinSucceeded(request: 1, mode: .sendAndReceive))
        #expect(model.callingState == .idle)
    }

    @Test("S10 a lost connection reconnects; participants joining and leaving change no state")
    func reconnecting() throws {
        let model = try model()
        model.joinCall("show")
        model.call.handle(.restored(.resume))
        #expect(model.callingState == .joining)
        try model.call.simulateJoined([ann, bob])
        model.call.handle(.connectionLost(.signalling))
        #expect(model.callingState == .reconnecting && model.screen == .reconnecting)
        try model.call.play([ann])
        #expect(model.callingState == .reconnecting)
        model.call.handle(.restored(.resume))
        #expect(model.callingState == .inCall)
    }

    @Test("S11 S12 the end of a call resets participants, settings, size, layout and ringtone")
    func end() async throws {
        let model = try model()
        model.call.handle(.invitationReceived(invitation))
        #expect(try await soon { model.isRinging })
        var ringing = model.ringing.makeAsyncIterator()
        #expect(await ringing.next() == true)
        model.acceptCall()
        model.call.handle(.acceptConfirmed(sid: "IN1"))
        try model.call.simulateJoined([ann, bob])
        #expect(await ringing.next() == false)
        #expect(model.screen == .call && model.callParticipants.keys.sorted() == ["PA-ann", "PA-bob"], "L1")
        #expect(model.localParticipant?.sid == "PA-ann" && model.participants.map(\.identity) == ["bob"])
        model.isMinimized = true
        #expect(model.screen == .minimized)
        model.choose(.fullScreen)
        model.toggleSpeaker()
        model.toggleAudioOutput()
        #expect(!model.callSettings.speakerOn && !model.callSettings.audioOutputOn && model.layout == .fullScreen)
        model.call.handle(.sessionDisconnected(.participantRemoved))
        #expect(model.callingState == .idle && model.error == .participantRemoved && model.callParticipants.isEmpty)
        let isReset = try await soon {
            !model.isMinimized && model.layout == .grid && model.callSettings == DeviceSettings()
        }
        #expect(isReset, "\(model.callSettings) \(model.layout)")
    }

    @Test("V26 the controls follow the local mode, until the app sets its own")
    func controlsByMode() throws {
        let model = try model()
        model.joinCall("show")
        try model.call.simulateJoined([ann, bob])
        #expect(model.controls == CallControl.standard)
        try model.call.play([SampleParticipants.participant("ann", mode: .receiveOnly), bob])
        #expect(model.controls == [.joinStage, .audioOutput, .hangUp])
        model.controls = [.hangUp, .custom("applause")]
        try model.call.play([ann, bob])
        #expect(model.controls == [.hangUp, .custom("applause")])
    }

    @Test("L11 the controls, and the capture when the call's screen is displayed")
    func controls() async throws {
        let model = try model()
        #expect(model.controls == [.video, .microphone, .toggleCamera, .hangUp])
        model.controls.append(.custom("applause"))
        #expect(model.controls.last == .custom("applause"))
        await model.enteredCallView()
        #expect(capture.running == [.mic, .camera] && capture.log.contains("start camera front"))
        try await model.toggleCameraPosition()
        try await model.toggleMicrophone()
        #expect(capture.log.suffix(2) == ["use back", "stop mic"] && !model.callSettings.audioOn)
        #expect(model.call.callSettings.isAudioOn == false && model.call.callSettings.isVideoOn == nil, "S14")
    }

    @Test("L12 L13 a shared screen turns the grid into a spotlight; visible participants are known")
    func presentation() async throws {
        let model = try model()
        model.joinCall("show")
        try model.call.simulateJoined([ann, bob])
        model.changeTrackVisibility("PA-bob", isVisible: true)
        model.updateTrackSize("PA-bob", .init(width: 640, height: 360))
        #expect(model.visibleTracks.shown == ["PA-bob"])
        try model.call.play([ann, SampleParticipants.participant("bob", on: [.screen])])
        #expect(try await soon { model.layout == .spotlight })
        try model.call.play([ann])
        #expect(try await soon { model.layout == .grid && model.visibleTracks.shown.isEmpty })
    }
}

@Suite("The rules of a call that may ring")
struct CallingRulesTests {
    private let invitation = CallInvitation(sid: "IN1", room: "show", inviter: "bob")

    @Test("S1 equal states are equal, and there are seven")
    func states() {
        let info = LobbyInfo(callID: "show")
        let states: [CallingState] = [
            .idle, .lobby(info), .incoming(invitation), .outgoing, .joining, .inCall, .reconnecting,
        ]
        for (index, state) in states.enumerated() {
            #expect(states.indices.filter { states[$0] == state } == [index])
        }
        #expect(CallingState.lobby(info) != .lobby(LobbyInfo(callID: "other")))
        #expect(info.callType == "default" && info.participants.isEmpty)
    }

    @Test("S2 S12 each state has its screen; in the call it depends on participants and size")
    func screens() {
        let screen = { (state: CallingState, isEmpty: Bool, isMinimized: Bool) in
            CallScreen(state, isEmpty: isEmpty, isMinimized: isMinimized)
        }
        #expect(screen(.idle, true, false) == .host)
        #expect(screen(.lobby(LobbyInfo(callID: "a")), true, false) == .lobby(LobbyInfo(callID: "a")))
        #expect(screen(.incoming(invitation), true, false) == .incoming(invitation))
        #expect(screen(.outgoing, true, true) == .outgoing)
        #expect(screen(.joining, true, false) == .joining)
        #expect(screen(.inCall, true, false) == .waiting && screen(.inCall, true, true) == .waiting)
        #expect(screen(.inCall, false, false) == .call && screen(.inCall, false, true) == .minimized)
        #expect(screen(.reconnecting, false, false) == .reconnecting)
    }

    @Test("S12 a call rings while incoming or outgoing; idle and in the call end that")
    func ringing() {
        #expect(CallingModel.rings(.incoming(invitation)) == true && CallingModel.rings(.outgoing) == true)
        #expect(CallingModel.rings(.idle) == false && CallingModel.rings(.inCall) == false)
        #expect(CallingModel.rings(.joining) == nil && CallingModel.rings(.reconnecting) == nil)
    }

    @Test("S13 by default devices are on with the front camera; either device is published")
    func settings() {
        let settings = DeviceSettings()
        #expect(settings.audioOn && settings.videoOn && settings.speakerOn && settings.audioOutputOn)
        #expect(settings.cameraPosition == .front && settings.shouldPublish)
        #expect(DeviceSettings(audioOn: false).shouldPublish && DeviceSettings(videoOn: false).shouldPublish)
        #expect(!DeviceSettings(audioOn: false, videoOn: false).shouldPublish)
    }

    @Test(
        "L12 T20 a presentation turns a grid into a spotlight and back, unless the user chose; a call's end resets it"
    )
    func layout() {
        var choice = LayoutChoice()
        #expect(choice.layout == .grid)
        choice.setPresenting(true)
        choice.setPresenting(true)
        #expect(choice.layout == .spotlight)
        choice.setPresenting(false)
        #expect(choice.layout == .grid)
        choice.choose(.fullScreen)
        choice.setPresenting(true)
        #expect(choice.layout == .fullScreen && choice.isManual)
        choice.setPresenting(false)
        #expect(choice.layout == .fullScreen)
        choice.callEnded()
        #expect(choice == LayoutChoice())
        choice.setPresenting(true)
        choice.choose(.grid)
        choice.setPresenting(false)
        #expect(choice.layout == .grid)
        #expect(ParticipantsLayout.allCases == [.grid, .spotlight, .fullScreen])
    }

    @Test("L12 a small grid without another participant's screen lets the local participant float")
    func floating() {
        let shown = { (all: [ParticipantResource], layout: ParticipantsLayout) in
            DisplayedParticipants(all, local: "ann", layout: layout)
        }
        let ann = SampleParticipants.participant("ann", on: [.camera])
        let others = ["b", "c", "d"].map { SampleParticipants.participant($0, on: [.camera]) }
        let small = shown([ann] + others.prefix(2), .grid)
        #expect(small.participants.map(\.identity) == ["b", "c"] && small.isLocalFloating)
        let large = shown([ann] + others, .grid)
        #expect(large.participants.map(\.identity) == ["ann", "b", "c", "d"] && !large.isLocalFloating)
        let spotlight = shown([ann, others[0]], .spotlight)
        #expect(spotlight.participants.map(\.identity) == ["ann", "b"])
        let shared = shown([ann, SampleParticipants.participant("b", on: [.screen])], .grid)
        #expect(shared.participants.map(\.identity) == ["b", "ann"] && !shared.isLocalFloating)
        let own = shown([SampleParticipants.participant("ann", on: [.screen]), others[0]], .grid)
        #expect(own.participants.map(\.identity) == ["b"])
    }

    @Test("V2 L5 only hosts are sorted, by the rules: pinned, then screen, then the rest")
    func order() {
        let pin = PinResource(isLocal: false, pinType: "CAM", pinnedAt: Timestamp(1))
        let all = [
            SampleParticipants.participant("a", on: [.camera]), SampleParticipants.participant("b", on: [.screen]),
            SampleParticipants.participant("c", pin: pin), SampleParticipants.participant("x", mode: .receiveOnly),
        ]
        let shown = DisplayedParticipants(all, local: "me", layout: .spotlight)
        #expect(shown.participants.map(\.identity) == ["c", "b", "a"])
        let reversed = DisplayedParticipants(
            all,
            local: "me",
            layout: .spotlight,
            comparators: [
                ParticipantComparator("descending") { $0.id > $1.id ? .orderedAscending : .orderedDescending }
            ]
        )
        #expect(reversed.participants.map(\.identity) == ["c", "b", "a"], "a rule of the app's own")
    }
}
