import FootlightTesting
import Foundation
import Stage
import Testing

@testable import FootlightClient

@MainActor
@Suite("A live call for the join screens")
struct LiveCallTests {
    private func url() throws -> URL { try #require(URL(string: "https://live.example/show")) }

    @Test("D1 D3 initialized at first; joining before the call returns, with the URL published")
    func joining() async throws {
        let live = LiveCall(call: try SampleParticipants.call(), capture: FakeCapture())
        #expect(live.callState == .initialized && live.participants.count == 1)
        #expect(CallState.allCases == [.initialized, .joining, .joined, .leaving, .left])
        let model = JoinModel(call: live, hosts: ["live.example"])
        model.meetingURL = "live.example/show"
        model.join()
        let address = try url()
        #expect(live.callState == .joining && live.url == address && model.isJoinButtonDisabled, "D6: at once")
        #expect(live.call.displayName == "Guest", "D8")
        var states = live.callStates.makeAsyncIterator()
        #expect(await states.next() == .joining)
    }

    @Test("D4 accepted is joined; refused, or ended by an error, is left with the error")
    func outcome() throws {
        let live = LiveCall(call: try SampleParticipants.call(), capture: FakeCapture())
        live.join(url: try url())
        live.call.handle(.joinFailed(request: 1, .roomFull))
        #expect(live.callState == .left && live.error == .roomFull)
        live.join(url: try url())
        live.call.handle(.joinSucceeded(request: 2, mode: .sendAndReceive))
        #expect(live.callState == .joined && live.error == nil)
        live.call.handle(.sessionDisconnected(.duplicateIdentity))
        #expect(live.callState == .left && live.error == .duplicateIdentity)
    }

    @Test("D5 D12 before each call the microphone is off, the camera on if authorized; no participant remains")
    func defaults() async throws {
        let capture = FakeCapture()
        let live = LiveCall(call: try SampleParticipants.call(), capture: capture)
        await live.prepare()
        #expect(live.camera.muteState == .unmuted && live.microphone.muteState == .muted)
        #expect(live.call.callSettings.isVideoOn == true && live.call.callSettings.isAudioOn == false)
        live.join(url: try url())
        try live.call.simulateJoined([
            SampleParticipants.participant("ann"), SampleParticipants.participant("bob", on: [.camera]),
        ])
        #expect(try await soon { live.participants.count == 2 })
        live.leave()
        #expect(live.callState == .left)
        #expect(try await soon { live.participants.count == 1 && live.camera.isEnabled })
        #expect(!live.microphone.isEnabled && live.call.callSettings.isAudioOn == false)
        let shy = FakeCapture()
        shy.authorized = [.mic]
        let other = LiveCall(call: try SampleParticipants.call(), capture: shy)
        await other.prepare()
        #expect(other.camera.muteState == .muted && other.call.callSettings.isVideoOn == false)
        #expect(shy.log.isEmpty)
    }

    @Test("D13 toggles before a call change the settings of the join")
    func toggles() async throws {
        let live = LiveCall(call: try SampleParticipants.call(), capture: FakeCapture())
        await live.prepare()
        await live.toggleMicrophone(live.microphone.isEnabled)
        await live.toggleCamera(live.camera.isEnabled)
        await live.flipCamera()
        #expect(live.audioRoutes == [.speaker] && live.audioRoute == .speaker)
        await live.choose(AudioRoute(id: "h", name: "Headset", kind: .wireless))
        #expect(
            live.audioRoute == .speaker && live.call.problem?.code == 3073 && live.call.callSettings.isSpeakerOn == nil
        )
        let settings = live.call.callSettings
        #expect(settings.isAudioOn == true && settings.isVideoOn == false)
        #expect(settings.cameraPosition == .back && !live.camera.isFacingUser && live.microphone.muteState == .unmuted)
    }

    @Test("D13 the audio output is an available one, and another replaces a headset that is disconnected")
    func routes() async throws {
        let capture = FakeCapture()
        let live = LiveCall(call: try SampleParticipants.call(), capture: capture)
        var received = live.currentAudioRoutes.makeAsyncIterator()
        #expect(await received.next() == .speaker)
        let headset = AudioRoute(id: "h", name: "Headset", kind: .wireless)
        // The system reports it later.
        capture.audioRoutes = [.speaker, AudioRoute(id: "r", name: "Ear", kind: .receiver), headset]
        #expect(try await soon { live.audioRoutes.count == 3 } && live.audioRoute == .speaker)
        await live.choose(headset)
        #expect(live.audioRoute == headset && live.call.callSettings.isSpeakerOn == false)
        #expect(await received.next() == headset && capture.log == ["choose h"])
        capture.audioRoutes = [.speaker]
        #expect(try await soon { live.audioRoute == .speaker } && live.audioRoutes == [.speaker])
        #expect(await received.next() == .speaker)
    }
}
