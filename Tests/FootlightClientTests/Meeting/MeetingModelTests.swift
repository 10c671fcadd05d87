import FootlightTesting
import Foundation
import GatewayModel
import Stage
import Testing

@testable import FootlightClient

@MainActor
@Suite("Hosts and their audience")
struct MeetingModelTests {
    /// Notes down what it hears.
    private final class Listener: MeetingListening {
        var heard: [String] = []

        func onMeetingJoined() { heard.append("joined") }
        func onMeetingLeft(_ error: StageError?) { heard.append("left \(error?.code.description ?? "nil")") }
        func onParticipantJoined(_ participant: ParticipantResource) { heard.append("in \(participant.identity)") }
        func onParticipantLeft(_ participant: ParticipantResource) { heard.append("out \(participant.identity)") }
        func onStreamEnabled(_ kind: StreamEdges.Kind, _ participant: ParticipantResource) {
            heard.append("on \(kind)")
        }
        func onStreamDisabled(_ kind: StreamEdges.Kind, _ participant: ParticipantResource) {
            heard.append("off \(kind)")
        }
        func onSpeakerChanged(_ participant: ParticipantResource?) {
            heard.append("floor \(participant?.identity ?? "nobody")")
        }
        func onHandRaised(_ hand: HandResource) { heard.append("hand of \(hand.identity)") }
        func onHandLowered(_ hand: HandResource) { heard.append("no hand of \(hand.identity)") }
        func onCustomEvent(_ event: CustomEventResource) { heard.append("\(event.type) \(event.reaction ?? "-")") }
    }

    private let host = Played.participant("bob", on: [.mic, .camera])
    private let viewer = Played.participant("eve", mode: .receiveOnly, on: [.mic, .camera])

    @Test("V4 V5 a host's streams are kept by id; who is unknown is off, and who is no host has none")
    func enabled() {
        var maps = StreamMaps()
        #expect(maps.videoTrack(of: "x") == nil && !maps.isMicOn("x") && !maps.isCameraOn("x"))
        maps.streamEnabled(.video, of: host)
        #expect(maps.videoTrack(of: host.sid)?.name == "camera" && maps.isCameraOn(host.sid) && !maps.isMicOn(host.sid))
        maps.streamEnabled(.audio, of: host)
        #expect(maps.isMicOn(host.sid))
        maps.streamEnabled(.audio, of: Played.participant("bob", mode: .receiveOnly))
        #expect(maps.videoTrack(of: host.sid) == nil && !maps.isMicOn(host.sid) && !maps.isCameraOn(host.sid))
        maps.streamEnabled(.video, of: viewer)
        #expect(maps.videoTrack(of: viewer.sid) == nil && !maps.isCameraOn(viewer.sid))
    }

    @Test("V6 a stream that ends is off, whatever the mode")
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

    @Test("V18 who steps down is in none of the maps any more")
    func demoted() {
        var maps = StreamMaps()
        let down = Played.participant("bob", mode: .receiveOnly)
        for news in RoomNews.changes(from: [], to: [host]) { maps.take(news) }
        #expect(maps.isCameraOn(host.sid) && maps.isMicOn(host.sid))
        for news in RoomNews.changes(from: [host], to: [down]) { maps.take(news) }
        #expect(maps == StreamMaps())
    }

    @Test("V2 V10 V15 hosts alone are on stage; the audience's view goes by one's mode, at first by the one asked for")
    func views() throws {
        let model = MeetingModel(call: try Played.call(), capture: FakeCapture())
        #expect(!model.isAudienceMode && model.meetingState == nil)
        model.join("show", mode: .receiveOnly)
        #expect(model.isAudienceMode && model.meetingState == .connecting)
        try model.call.playJoined([Played.participant("ann"), host, viewer])
        #expect(!model.isAudienceMode && model.hosts.map(\.identity) == ["ann", "bob"])
        try model.call.play([Played.participant("ann", mode: .receiveOnly), host])
        #expect(model.isAudienceMode && model.hosts.map(\.identity) == ["bob"])
        #expect(model.tile(of: host).picture == .video(.camera) && model.activeSpeaker == nil, "V25")
    }

    @Test("V26 each mode has its own controls, which change with it; the app may set both sets")
    func controls() throws {
        let model = MeetingModel(call: try Played.call(), capture: FakeCapture())
        let ofHosts: [CallControl] = [.video, .microphone, .toggleCamera, .screen, .leaveStage, .hangUp]
        #expect(model.controls == ofHosts)
        model.join("show", mode: .receiveOnly)
        #expect(model.controls == [.joinStage, .audioOutput, .hangUp], "by the mode asked for")
        try model.call.playJoined([Played.participant("ann"), host])
        #expect(model.controls == ofHosts)
        model.audienceControls.insert(.custom("applause"), at: 0)
        #expect(model.controls == ofHosts)
        try model.call.play([Played.participant("ann", mode: .receiveOnly), host])
        #expect(model.controls == [.custom("applause"), .joinStage, .audioOutput, .hangUp])
        model.hostControls = [.microphone, .hangUp]
        try model.call.play([Played.participant("ann"), host])
        #expect(model.controls == [.microphone, .hangUp])
        try model.call.play([Played.participant("ann", mode: .signallingOnly), host])
        #expect(model.controls == [.hangUp] && !model.isAudienceMode)
    }

    @Test("V7 V21 V25 listeners hear of edges, in order; the end of a meeting forgets everybody")
    func listening() async throws {
        let model = MeetingModel(call: try Played.call(), capture: FakeCapture())
        let listener = Listener()
        model.listener = listener
        model.join("show", mode: .receiveOnly)
        let own = Played.participant("ann", mode: .receiveOnly)
        try model.call.playJoined([own, host])
        #expect(try await soon { listener.heard.count >= 5 })
        #expect(listener.heard.filter { $0 != "joined" } == ["in ann", "in bob", "on audio", "on video"])
        #expect(model.streams.isCameraOn(host.sid))
        try model.call.play([own, Played.participant("bob", on: [.mic], isDominant: true)])
        #expect(try await soon { listener.heard.count >= 7 })
        #expect(listener.heard.suffix(2) == ["off video", "floor bob"])
        try model.call.play([own, Played.participant("bob", on: [.mic])])
        #expect(try await soon { listener.heard.last == "floor nobody" })
        model.call.handle(.sessionDisconnected(.roomCompleted))
        #expect(model.hosts.isEmpty && model.meetingState == .failed && model.error == .roomCompleted)
        #expect(try await soon { listener.heard.contains("left 53118") })
        #expect(model.streams == StreamMaps())
    }

    @Test("S15 listeners hear of raised hands and of custom events, each once, and the model shows whose hands are up")
    func hands() async throws {
        let model = MeetingModel(call: try Played.call(), capture: FakeCapture())
        let listener = Listener()
        model.listener = listener
        model.join("show", mode: .receiveOnly)
        try model.call.playJoined([Played.participant("ann", mode: .receiveOnly), host])
        #expect(try await soon { listener.heard.contains("joined") })
        func play(_ type: String, _ change: (inout EventResource) -> Void) {
            var event = EventResource(
                type: type,
                roomSID: "RM1",
                rev: (model.call.room?.revision ?? 0) + 1,
                ts: Timestamp(0)
            )
            change(&event)
            model.call.take(event)
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
        #expect(try await soon { listener.heard.last == "hand of ann" })
        play("hand.rejected") { $0.hand = hand }
        #expect(model.raisedHands.isEmpty && !model.isHandRaised)
        #expect(try await soon { listener.heard.last == "no hand of ann" })
        play("custom.event") {
            $0.custom = CustomEventResource(
                type: "reaction",
                data: ["emoji": .string("x")],
                participantSID: "PA-bob",
                identity: "bob"
            )
        }
        #expect(try await soon { listener.heard.last == "reaction x" })
        await #expect(throws: StageError.notJoined) { try await model.setHandRaised(true) }
    }

    @Test("V18 V19 down and up again: the word of stepping down that comes late takes nothing back")
    func late() throws {
        let call = try Played.call()
        let changed = { (rev: Int, mode: ParticipantMode) in
            let own = WireFixtures.participant("ann", mode: mode.rawValue, revision: UInt64(rev))
            return try EventResource(
                wire: WireFixtures.event("participant.mode_changed", rev: rev, ",\"participant\":\(own)")
            )
        }
        call.join(CallJoin(room: "show"))
        try call.playJoined([Played.participant("ann")])
        let answer = try WireJSON.decode(JoinAnswer.self, from: Data(WireFixtures.joinAnswer().utf8))
        call.session = CallSession(answer, of: "show")
        // The answer to the second change has come before the event of the first.
        call.take(try #require(try changed(3, .sendAndReceive).participant))
        call.ingest = RTMPIngestResource(url: "rtmp://gateway/live", streamKey: "a", screenStreamKey: "b")
        call.take(try changed(2, .receiveOnly))
        #expect(call.localParticipant?.isHost == true && call.ingest?.streamKey == "a")
        call.take(try changed(3, .sendAndReceive))
        #expect(call.localParticipant?.isHost == true && call.ingest?.streamKey == "a")
        call.take(try changed(4, .receiveOnly))
        #expect(call.localParticipant?.isHost == false && call.ingest == nil)
    }

    @Test("V19 a mode is changed for oneself, and only in a meeting")
    func outside() async throws {
        let model = MeetingModel(call: try Played.call(), capture: FakeCapture())
        await #expect(throws: StageError.notJoined) { try await model.changeMode(.sendAndReceive) }
        await #expect(throws: StageError.notJoined) { try await model.startHLS() }
    }
}
