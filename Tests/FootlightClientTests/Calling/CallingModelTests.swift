import FootlightTesting
import GatewayModel
import Observation
import Stage
import Testing

@testable import FootlightClient

@MainActor
@Suite("A call that may ring, as its screens see it")
struct CallingModelTests {
    private let capture = FakeCapture()
    private let invitation = CallInvitation(sid: "IN1", room: "show", inviter: "bob")
    private let ann = Played.participant("ann")
    private let bob = Played.participant("bob", on: [.camera, .mic])

    private func model() throws -> CallingModel {
        CallingModel(call: try Played.call(), capture: capture)
    }

    @Test("S2 S3 a new call is idle, the lobby shows what is known, hanging up leads back")
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

    @Test("L1 everybody is found by id, oneself apart from it, and whoever looks on is told of a change")
    func everybody() throws {
        let model = try model()
        #expect(model.callParticipants.isEmpty && model.localParticipant == nil)
        model.joinCall("show")
        try model.call.playJoined([ann])
        let changes = Tally()
        withObservationTracking {
            _ = model.callParticipants
        } onChange: {
            changes.note(1)
        }
        #expect(changes.noted.isEmpty)
        try model.call.play([ann, bob])
        #expect(changes.noted == [1] && model.callParticipants == ["PA-ann": ann, "PA-bob": bob])
        #expect(model.localParticipant == ann)
        try model.call.play([ann])
        #expect(model.callParticipants == ["PA-ann": ann])
    }

    @Test("S4 S9 joining at once, then in the call, or idle with the error; a second wish is ignored")
    func joining() throws {
        let model = try model()
        model.startCall("show", members: ["bob"])
        #expect(model.callingState == .joining)
        model.joinCall("other")
        model.call.handle(.joinFailed(request: 1, .roomFull))
        #expect(model.callingState == .idle && model.error == .roomFull)
        model.joinCall("show")
        #expect(model.callingState == .joining && model.error == nil)
        try model.call.playJoined([ann], request: 2)
        #expect(model.callingState == .inCall && model.screen == .waiting, "S12: alone")
        model.joinCall("other")
        #expect(model.callingState == .inCall)
    }

    @Test("S5 ringing goes out; the first yes joins, every no ends it, and so does hanging up")
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

    @Test("S6 S7 a call comes in when idle; accepted it is joined, and whatever else ends it leads back")
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

    @Test("S5 S6 what rings in vain ends by itself, here and there; the end of the room ends it, too")
    func inVain() async throws {
        let clock = ManualClientClock()
        let model = CallingModel(call: try Played.call(clock), capture: capture)
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

    @Test("S8 hanging up while joining: it never becomes a call")
    func cancelled() throws {
        let model = try model()
        model.joinCall("show")
        model.hangUp()
        #expect(model.callingState == .idle)
        model.call.handle(.joinSucceeded(request: 1, mode: .sendAndReceive))
        #expect(model.callingState == .idle)
    }

    @Test("S10 a lost connection reconnects and comes back; who comes and goes changes no state")
    func reconnecting() throws {
        let model = try model()
        model.joinCall("show")
        model.call.handle(.restored(.resume))
        #expect(model.callingState == .joining)
        try model.call.playJoined([ann, bob])
        model.call.handle(.connectionLost(.signalling))
        #expect(model.callingState == .reconnecting && model.screen == .reconnecting)
        try model.call.play([ann])
        #expect(model.callingState == .reconnecting)
        model.call.handle(.restored(.resume))
        #expect(model.callingState == .inCall)
    }

    @Test("S11 S12 the end of a call takes everything back: participants, settings, size, layout, sound")
    func end() async throws {
        let model = try model()
        model.call.handle(.invitationReceived(invitation))
        #expect(try await soon { model.isRinging })
        var ringing = model.ringing.makeAsyncIterator()
        #expect(await ringing.next() == true)
        model.acceptCall()
        model.call.handle(.acceptConfirmed(sid: "IN1"))
        try model.call.playJoined([ann, bob])
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

    @Test("V26 the controls follow one's mode, until the app sets its own")
    func controlsByMode() throws {
        let model = try model()
        model.joinCall("show")
        try model.call.playJoined([ann, bob])
        #expect(model.controls == CallControl.standard)
        try model.call.play([Played.participant("ann", mode: .receiveOnly), bob])
        #expect(model.controls == [.joinStage, .audioOutput, .hangUp])
        model.controls = [.hangUp, .custom("applause")]
        try model.call.play([ann, bob])
        #expect(model.controls == [.hangUp, .custom("applause")])
    }

    @Test("L11 the controls, and capturing when the call's screen is seen")
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

    @Test("L12 L13 a screen that is shared makes a spotlight of the grid; what is in view is known")
    func presentation() async throws {
        let model = try model()
        model.joinCall("show")
        try model.call.playJoined([ann, bob])
        model.changeTrackVisibility("PA-bob", isVisible: true)
        model.updateTrackSize("PA-bob", .init(width: 640, height: 360))
        #expect(model.visibleTracks.shown == ["PA-bob"])
        try model.call.play([ann, Played.participant("bob", on: [.screen])])
        #expect(try await soon { model.layout == .spotlight })
        try model.call.play([ann])
        #expect(try await soon { model.layout == .grid && model.visibleTracks.shown.isEmpty })
    }
}
