import FootlightTesting
import Foundation
import FootlightModel
import Stage
import Testing

@testable import FootlightClient

@MainActor
@Suite("The model of hosts and audience")
struct MeetingModelTests {
    /// Records the callbacks.
    private final class Listener: MeetingListener {
        var received: [String] = []

        func onMeetingJoined() { received.append("joined") }
        func onMeetingLeft(_ error: StageError?) { received.append("left \(error?.code.description ?? "nil")") }
        func onParticipantJoined(_ participant: ParticipantResource) { received.append("in \(participant.identity)") }
        func onParticipantLeft(_ participant: ParticipantResource) { received.append("out \(participant.identity)") }
        func onStreamEnabled(_ kind: StreamTransitions.Kind, _ participant: ParticipantResource) {
            received.append("on \(kind)")
        }
        func onStreamDisabled(_ kind: StreamTransitions.Kind, _ participant: ParticipantResource) {
            received.append("off \(kind)")
        }
        func onSpeakerChanged(_ participant: ParticipantResource?) {
            received.append("floor \(participant?.identity ?? "nobody")")
        }
        func onHandRaised(_ hand: HandResource) { received.append("hand of \(hand.identity)") }
        func onHandLowered(_ hand: HandResource) { received.append("no hand of \(hand.identity)") }
        func onCustomEvent(_ event: CustomEventResource) { received.append("\(event.type) \(event.reaction ?? "-")") }
    }

    private let host = SampleParticipants.participant("bob", on: [.mic, .camera])
    private let viewer = SampleParticipants.participant("eve", mode: .receiveOnly, on: [.mic, .camera])

    @Test("V4 V5 a host's streams are stored by id; unknown participants are off, and others than hosts have none")
    func enabled() {
        var maps = StreamMaps()
        #expect(maps.videoTrack(of: "x") == nil && !maps.isMicOn("x") && !maps.isCameraOn("x"))
        maps.streamEnabled(.video, of: host)
        #expect(maps.videoTrack(of: host.sid)?.name == "camera" && maps.isCameraOn(host.sid) && !maps.isMicOn(host.sid))
        maps.streamEnabled(.audio, of: host)
        #expect(maps.isMicOn(host.sid))
        maps.streamEnabled(.audio, of: SampleParticipants.participant("bob", mode: .receiveOnly))
        #expect(maps.videoTrack(of: host.sid) == nil && !maps.isMicOn(host.sid) && !maps.isCameraOn(host.sid))
        maps.streamEnabled(.video, of: viewer)
        #expect(maps.videoTrack(of: viewer.sid) == nil && !maps.isCameraOn(viewer.sid))
    }

    @Test("V6 a stream that ends is off in any mode")
    func disabled() {
        var maps = StreamMaps()
        maps.streamEnabled(.video, of: host)
        maps.streamEnabled(.audio, of: host)
        maps.streamDisabled(.video, of: host.sid)
        #expect(maps.videoTrack(of: host.sid) == nil && !maps.isCameraOn(host.sid) && maps.isMicOn(host.sid))
        maps.streamDisabled(.audio, of: host.sid)
        #expect(!maps.isMicOn(host.sid))
        maps.streamDisabled(.audio, of: viewer.sid)
        #expect(!maps.isMicOn(viewer.sid))
    }

    @Test("V18 a participant that steps down is removed from all maps")
    func demoted() {
        var maps = StreamMaps()
        let down = SampleParticipants.participant("bob", mode: .receiveOnly)
        for change in RoomChange.changes(from: [], to: [host]) { maps.apply(change) }
        #expect(maps.isCameraOn(host.sid) && maps.isMicOn(host.sid))
        for change in RoomChange.changes(from: [host], to: [down]) { maps.apply(change) }
        #expect(maps == StreamMaps())
    }

    @Test("V2 V10 V15 only hosts are on stage; the view follows the local mode, at first the requested one")
    func views() throws {
        let model = MeetingModel(call: try SampleParticipants.call(), capture: FakeCapture())
        #expect(!model.isAudienceMode && model.meetingState == nil)
        model.join("show", mode: .receiveOnly)
        #expect(model.isAudienceMode && model.meetingState == .connecting)
        try model.call.simulateJoined([SampleParticipants.participant("ann"), host, viewer])
        #expect(!model.isAudienceMode && model.hosts.map(\.identity) == ["ann", "bob"])
        try model.call.play([SampleParticipants.participant("ann", mode: .receiveOnly), host])
        #expect(model.isAudienceMode && model.hosts.map(\.identity) == ["bob"])
        #expect(model.tile(of: host).content == .video(.camera) && model.activeSpeaker == nil, "V25")
    }

    @Test("V26 each mode has its own controls, which change with it; the app may set both")
    func controls() throws {
        let model = MeetingModel(call: try SampleParticipants.call(), capture: FakeCapture())
        let ofHosts: [CallControl] = [.video, .microphone, .toggleCamera, .screen, .leaveStage, .hangUp]
        #expect(model.controls == ofHosts)
        model.join("show", mode: .receiveOnly)
        #expect(model.controls == [.joinStage, .audioOutput, .hangUp], "by the mode asked for")
        try model.call.simulateJoined([SampleParticipants.participant("ann"), host])
        #expect(model.controls == ofHosts)
        model.audienceControls.insert(.custom("applause"), at: 0)
        #expect(model.controls == ofHosts)
        try model.call.play([SampleParticipants.participant("ann", mode: .receiveOnly), host])
        #expect(model.controls == [.custom("applause"), .joinStage, .audioOutput, .hangUp])
        model.hostControls = [.microphone, .hangUp]
        try model.call.play([SampleParticipants.participant("ann"), host])
        #expect(model.controls == [.microphone, .hangUp])
        try model.call.play([SampleParticipants.participant("ann", mode: .signallingOnly), host])
        #expect(model.controls == [.hangUp] && !model.isAudienceMode)
    }

    @Test("V7 V21 V25 listeners receive stream changes in order; the end of a meeting removes all participants")
    func listening() async throws {
        let model = MeetingModel(call: try SampleParticipants.call(), capture: FakeCapture())
        let listener = Listener()
        model.listener = listener
        model.join("show", mode: .receiveOnly)
        let own = SampleParticipants.participant("ann", mode: .receiveOnly)
        try model.call.simulateJoined([own, host])
        #expect(try await soon { listener.received.count >= 5 })
        #expect(listener.received.filter { $0 != "joined" } == ["in ann", "in bob", "on audio", "on video"])
        #expect(model.streams.isCameraOn(host.sid))
        try model.call.play([own, SampleParticipants.participant("bob", on: [.mic], isDominant: true)])
        #expect(try await soon { listener.received.count >= 7 })
        #expect(listener.received.suffix(2) == ["off video", "floor bob"])
        try model.call.play([own, SampleParticipants.participant("bob", on: [.mic])])
        #expect(try await soon { listener.received.last == "floor nobody" })
        model.call.handle(.sessionDisconnected(.roomCompleted))
        #expect(model.hosts.isEmpty && model.meetingState == .failed && model.error == .roomCompleted)
        #expect(try await soon { listener.received.contains("left 53118") })
        #expect(model.streams == StreamMaps())
    }

    @Test("S15 listeners receive raised hands and custom events once each, and the model contains the raised hands")
    func hands() async throws {
        let model = MeetingModel(call: try SampleParticipants.call(), capture: FakeCapture())
        let listener = Listener()
        model.listener = listener
        model.join("show", mode: .receiveOnly)
        try model.call.simulateJoined([SampleParticipants.participant("ann", mode: .receiveOnly), host])
        #expect(try await soon { listener.received.contains("joined") })
        func play(_ type: WireEnum<StageEvent.Name>, _ change: (inout EventResource) -> Void) {
            var event = EventResource(
                type: type,
                roomSID: "RM1",
                rev: (model.call.room?.revision ?? 0) + 1,
                ts: Timestamp(0)
            )
            change(&event)
            model.call.apply(event)
        }
        let hand = HandResource(
            sid: "HA1",
            participantSID: "PA-ann",
            identity: "ann",
            raisedAt: Timestamp(0),
            expiresAt: Timestamp(60)
        )
        #expect(!model.isHandRaised)
        play("hand.raised") { $0.hand = hand }
        #expect(model.raisedHands == [hand] && model.isHandRaised)
        #expect(try await soon { listener.received.last == "hand of ann" })
        play("hand.rejected") { $0.hand = hand }
        #expect(model.raisedHands.isEmpty && !model.isHandRaised)
        #expect(try await soon { listener.received.last == "no hand of ann" })
        play("custom.event") {
            $0.custom = CustomEventResource(
                type: "reaction",
                data: ["emoji": .string("x")],
                participantSID: "PA-bob",
                identity: "bob"
            )
        }
        #expect(try await soon { listener.received.last == "reaction x" })
        await #expect(throws: StageError.notJoined) { try await model.setHandRaised(true) }
    }

    @Test("V18 V19 after a quick mode change down and up, the late event of the first changes nothing")
    func late() throws {
        let call = try SampleParticipants.call()
        let changed = { (rev: Int, mode: ParticipantMode) in
            let own = WireFixtures.participant("ann", mode: mode.rawValue, revision: UInt64(rev))
            return try EventResource(
                wire: WireFixtures.event("participant.mode_changed", rev: rev, ",\"participant\":\(own)")
            )
        }
        call.join(CallJoin(room: "show"))
        try call.simulateJoined([SampleParticipants.participant("ann")])
        let answer = try WireJSON.decode(JoinAnswer.self, from: Data(WireFixtures.joinAnswer().utf8))
        call.session = CallSession(answer, of: "show")
        // The response to the second change arrives before the event of the first.
        call.apply(try #require(try changed(3, .sendAndReceive).participant))
        call.ingest = RTMPIngestResource(url: "rtmp://gateway/live", streamKey: "a", screenStreamKey: "b")
        call.apply(try changed(2, .receiveOnly))
        #expect(call.localParticipant?.isHost == true && call.ingest?.streamKey == "a")
        call.apply(try changed(3, .sendAndReceive))
        #expect(call.localParticipant?.isHost == true && call.ingest?.streamKey == "a")
        call.apply(try changed(4, .receiveOnly))
        #expect(call.localParticipant?.isHost == false && call.ingest == nil)
    }

    @Test("V19 the local mode is changed only in a meeting")
    func outside() async throws {
        let model = MeetingModel(call: try SampleParticipants.call(), capture: FakeCapture())
        await #expect(throws: StageError.notJoined) { try await model.changeMode(.sendAndReceive) }
        await #expect(throws: StageError.notJoined) { try await model.startHLS() }
    }
}
