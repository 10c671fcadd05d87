import FootlightTesting
import GatewayModel
import Stage
import Testing

@testable import FootlightClient

@MainActor
@Suite("The user's microphone and camera")
struct LocalMediaTests {
    private let tracks = PlayedTracks()
    private let capture = FakeCapture()

    /// Devices of a host in a call, both on; delays are over when the clock is moved, and not before.
    private func onStage() async -> LocalMedia {
        let media = LocalMedia(publisher: tracks, capture: capture, clock: ManualClientClock().clock)
        await media.entered(isHost: true)
        #expect(tracks.takeLog() == ["publish mic", "publish camera"])
        return media
    }

    @Test("T1 the microphone off is unpublished, on it is a new track; the same value twice does nothing")
    func mic() async throws {
        let media = await onStage()
        try await media.setMic(false)
        #expect(tracks.takeLog() == ["unpublish mic"] && !media.isMicOn && !capture.running.contains(.mic))
        try await media.setMic(false)
        #expect(tracks.takeLog().isEmpty)
        try await media.setMic(true)
        try await media.setMic(true)
        #expect(tracks.takeLog() == ["publish mic"] && media.isMicOn && capture.running.contains(.mic))
    }

    @Test("T1 before a join only the state changes, and the tracks are published at the join")
    func beforeJoin() async throws {
        let media = LocalMedia(publisher: tracks, capture: capture)
        try await media.setMic(false)
        #expect(tracks.takeLog().isEmpty && !media.isMicOn && tracks.callSettings.isAudioOn == false)
        await media.entered(isHost: true)
        #expect(tracks.takeLog() == ["publish camera"])
    }

    @Test("T2 the camera off ends its capture; one that cannot start stays off, and nothing is published")
    func camera() async throws {
        let media = await onStage()
        try await media.setCamera(false)
        #expect(tracks.takeLog() == ["unpublish camera"] && capture.running == [.mic])
        capture.failures[.camera] = .internalFault
        await #expect(throws: StageError.internalFault) { try await media.setCamera(true) }
        #expect(!media.isCameraOn && tracks.takeLog().isEmpty && media.problem == .internalFault)
        capture.failures = [:]
        try await media.setCamera(true)
        #expect(media.isCameraOn && tracks.takeLog() == ["publish camera"])
    }

    @Test("T2 at the join, too: a camera that cannot start is not published")
    func cameraAtJoin() async throws {
        capture.failures[.camera] = .internalFault
        let media = LocalMedia(publisher: tracks, capture: capture)
        await media.entered(isHost: true)
        #expect(tracks.takeLog() == ["publish mic"] && !media.isCameraOn && media.isMicOn)
    }

    @Test("T8 the other camera does not publish the track again")
    func flip() async throws {
        let media = await onStage()
        try await media.flipCamera()
        #expect(tracks.takeLog().isEmpty && media.cameraPosition == .back && capture.log.last == "use back")
        capture.failures[.camera] = .internalFault
        await #expect(throws: StageError.internalFault) { try await media.flipCamera() }
        #expect(media.cameraPosition == .back)
    }

    @Test("T9 a call on hold disables both tracks, and enables them after it")
    func hold() async {
        let media = await onStage()
        await media.setOnHold(true)
        #expect(tracks.takeLog() == ["disable mic", "disable camera"] && media.isOnHold)
        await media.setOnHold(true)
        #expect(tracks.takeLog().isEmpty)
        await media.setOnHold(false)
        #expect(tracks.takeLog() == ["enable mic", "enable camera"] && media.isMicOn && media.isCameraOn)
    }

    @Test("T10 D32 an interrupted camera is disabled, not unpublished; out of sight counts as interrupted")
    func interruption() async {
        let media = await onStage()
        await media.cameraInterruptionBegan()
        #expect(tracks.takeLog() == ["disable camera"] && media.isCameraOn && media.isCameraInterrupted)
        await media.cameraInterruptionEnded()
        #expect(tracks.takeLog() == ["enable camera"] && !media.isCameraInterrupted)
        await media.enteredBackground()
        #expect(tracks.takeLog() == ["disable camera"], "the microphone goes on")
        await media.cameraInterruptionBegan()
        await media.cameraInterruptionEnded()
        #expect(tracks.takeLog().isEmpty, "still out of sight")
        await media.enteredForeground()
        #expect(tracks.takeLog() == ["enable camera"])
    }

    @Test("T11 twice in a row is once; what was turned off meanwhile stays off, what was turned on comes disabled")
    func interruptedTwice() async throws {
        let media = await onStage()
        await media.cameraInterruptionBegan()
        await media.cameraInterruptionBegan()
        #expect(tracks.takeLog() == ["disable camera"])
        try await media.setCamera(false)
        await media.cameraInterruptionEnded()
        await media.cameraInterruptionEnded()
        #expect(tracks.takeLog() == ["unpublish camera"] && !media.isCameraOn)
        await media.cameraInterruptionBegan()
        try await media.setCamera(true)
        #expect(tracks.takeLog() == ["publish camera disabled"])
        await media.cameraInterruptionEnded()
        #expect(tracks.takeLog() == ["enable camera"])
    }

    @Test("T21 interrupted sound is neither recorded nor played, its track is disabled; the end brings all back, once")
    func audioInterruption() async {
        let media = await onStage()
        await media.audioInterruptionBegan()
        await media.audioInterruptionBegan()
        #expect(tracks.takeLog() == ["disable mic"] && media.isMicOn && media.isAudioInterrupted)
        #expect(capture.running == [.camera] && capture.log.suffix(2) == ["pause audio", "stop mic"])
        await media.audioInterruptionEnded()
        await media.audioInterruptionEnded()
        #expect(tracks.takeLog() == ["enable mic"] && !media.isAudioInterrupted && !media.isCameraInterrupted)
        #expect(capture.running == [.mic, .camera] && capture.log.suffix(2) == ["resume audio", "start mic"])
    }

    @Test("T21 T11 what was turned off while sound was interrupted stays off, what was turned on comes with its end")
    func audioInterruptionAndUser() async throws {
        let media = await onStage()
        await media.audioInterruptionBegan()
        try await media.setMic(false)
        #expect(tracks.takeLog() == ["disable mic", "unpublish mic"])
        await media.audioInterruptionEnded()
        #expect(tracks.takeLog().isEmpty && !media.isMicOn)
        #expect(capture.running == [.camera] && capture.log.last == "resume audio")
        await media.audioInterruptionBegan()
        try await media.setMic(true)
        #expect(tracks.takeLog() == ["publish mic disabled"] && capture.running == [.camera])
        await media.audioInterruptionEnded()
        #expect(tracks.takeLog() == ["enable mic"] && capture.running == [.mic, .camera])
    }

    @Test("T21 without a call, too: a preview stops recording and goes on; a call's end does not end an interruption")
    func audioInterruptionWithoutCall() async throws {
        let media = LocalMedia(publisher: tracks, capture: capture)
        await media.audioInterruptionBegan()
        await media.audioInterruptionEnded()
        #expect(capture.running.isEmpty, "nothing was recorded before")
        await media.beginCapture()
        await media.audioInterruptionBegan()
        #expect(capture.running == [.camera])
        await media.audioInterruptionEnded()
        #expect(capture.running == [.mic, .camera] && tracks.takeLog().isEmpty)

        await media.entered(isHost: true)
        await media.audioInterruptionBegan()
        await media.left()
        #expect(media.isAudioInterrupted && capture.running.isEmpty)
        await media.audioInterruptionEnded()
        #expect(!media.isAudioInterrupted && capture.running.isEmpty && capture.log.last == "resume audio")
    }

    @Test("T9 T10 held and interrupted, a camera comes back when both are over")
    func both() async {
        let media = await onStage()
        await media.setOnHold(true)
        await media.cameraInterruptionBegan()
        await media.setOnHold(false)
        #expect(tracks.takeLog() == ["disable mic", "disable camera", "enable mic"])
        await media.cameraInterruptionEnded()
        #expect(tracks.takeLog() == ["enable camera"])
    }

    @Test("S13 in a call the value changes only after the gateway agreed, and stays when it refuses")
    func refused() async throws {
        let media = await onStage()
        tracks.meanwhile = { #expect(media.isMicOn && self.tracks.callSettings.isAudioOn == nil) }
        try await media.setMic(false)
        #expect(!media.isMicOn && tracks.callSettings.isAudioOn == false)
        tracks.failure = .reconnecting
        await #expect(throws: StageError.reconnecting) { try await media.setMic(true) }
        #expect(!media.isMicOn && !capture.running.contains(.mic))
        await #expect(throws: StageError.reconnecting) { try await media.setCamera(false) }
        #expect(media.isCameraOn && capture.running == [.camera])
        _ = tracks.takeLog()
        tracks.failure = nil
        await media.entered(isHost: true)
        #expect(tracks.takeLog().isEmpty, "what was refused is not done later")
    }

    @Test(
        "S10 a line that breaks while a track is published leaves it wanted: the call's return brings it on the air",
        arguments: [StageError.callNotConnected, .callConnectionLost, .reconnecting, .requestCancelled]
    )
    func brokenLine(_ error: StageError) async throws {
        let clock = ManualClientClock()
        let media = LocalMedia(publisher: tracks, capture: capture, clock: clock.clock)
        tracks.refusals = ["publish camera": error]
        await media.entered(isHost: true)
        #expect(tracks.takeLog() == ["publish mic", "publish camera"])
        #expect(media.isCameraOn && capture.running == [.mic, .camera] && media.problem == error)
        tracks.refusals = [:]
        await media.entered(isHost: true)
        #expect(tracks.takeLog() == ["publish camera"] && media.isCameraOn && media.isMicOn)
        await media.entered(isHost: true)
        clock.advance(.seconds(10))
        #expect(tracks.takeLog().isEmpty, "once")
    }

    @Test("S10 where the call itself stood through it, the track is tried again, later and later, until it is there")
    func triedAgain() async throws {
        let clock = ManualClientClock()
        let media = LocalMedia(publisher: tracks, capture: capture, clock: clock.clock)
        tracks.failure = .callNotConnected
        await media.entered(isHost: true)
        _ = tracks.takeLog()
        let began = clock.now
        let isRepeated = try await soon(every: .milliseconds(1)) {
            clock.advance(.milliseconds(10))
            return tracks.log.count { $0 == "publish camera" } == 4
        }
        #expect(isRepeated && clock.now - began >= .milliseconds(80 + 120 + 180 + 270), "\(clock.now - began)")
        tracks.failure = nil
        _ = tracks.takeLog()
        let isThere = try await soon(every: .milliseconds(1)) {
            clock.advance(.milliseconds(10))
            return tracks.log.sorted() == ["publish camera", "publish mic"]
        }
        #expect(isThere && media.isCameraOn && media.isMicOn)
        await media.left()
        clock.advance(.seconds(60))
        #expect(tracks.log.count == 2 && capture.running.isEmpty)
    }

    @Test("S13 a change that was asked for on a line that broke is taken back, and what the gateway did of it, too")
    func changeOnBrokenLine() async throws {
        let media = await onStage()
        tracks.failure = .callNotConnected
        await #expect(throws: StageError.callNotConnected) { try await media.setCamera(false) }
        #expect(media.isCameraOn && capture.running == [.mic, .camera])
        tracks.failure = nil
        // The request may have come through: then the track is gone, and otherwise it is there.
        tracks.refusals = ["publish camera": .trackNameDuplicated]
        _ = tracks.takeLog()
        await media.entered(isHost: true)
        #expect(tracks.takeLog() == ["publish camera", "enable camera"] && media.isCameraOn)
        tracks.refusals = [:]
        try await media.setMic(false)
        tracks.failure = .callNotConnected
        await #expect(throws: StageError.callNotConnected) { try await media.setMic(true) }
        #expect(!media.isMicOn && capture.running == [.camera])
        tracks.failure = nil
        _ = tracks.takeLog()
        await media.entered(isHost: true)
        #expect(tracks.takeLog() == ["unpublish mic"] && !media.isMicOn && tracks.callSettings.isAudioOn == false)
    }

    @Test("S13 without a call only the values change; with the camera off a flip asks no device")
    func withoutCall() async throws {
        let media = LocalMedia(publisher: tracks, capture: capture)
        #expect(media.isMicOn && media.isCameraOn && media.cameraPosition == .front && media.shouldPublish)
        try await media.setMic(false)
        try await media.setCamera(false)
        try await media.flipCamera()
        #expect(!media.shouldPublish && capture.log.isEmpty && tracks.takeLog().isEmpty)
        #expect(tracks.callSettings == CallSettings(isAudioOn: false, isVideoOn: false, cameraPosition: .back))
    }

    @Test("S14 S3 what the user touched counts, for the rest the gateway's defaults do")
    func defaults() async throws {
        let media = LocalMedia(publisher: tracks, capture: capture)
        try await media.setMic(false)
        media.takeDefaults(CallSettings(isAudioOn: true, isVideoOn: false, cameraPosition: .back))
        #expect(!media.isMicOn && !media.isCameraOn && media.cameraPosition == .back)
        #expect(tracks.callSettings.isVideoOn == nil, "untouched")
    }

    @Test("V18 stepping down ends both, coming back brings what the settings say")
    func modes() async throws {
        let media = await onStage()
        try await media.setMic(false)
        _ = tracks.takeLog()
        await media.follow(isHost: false)
        #expect(!media.isMicOn && !media.isCameraOn && capture.running.isEmpty)
        #expect(tracks.takeLog().isEmpty, "the gateway has unpublished them")
        await media.follow(isHost: true)
        #expect(tracks.takeLog() == ["publish camera"] && !media.isMicOn && media.isCameraOn)
    }

    @Test("Taps in quick succession end where the last one wanted it")
    func quick() async throws {
        let media = await onStage()
        tracks.meanwhile = { _ = Task { try? await media.setMic(true) } }
        let first = Task { try? await media.setMic(false) }
        _ = await first.value
        #expect(try await soon { self.tracks.callSettings.isAudioOn == true })
        #expect(media.isMicOn)
        #expect(tracks.takeLog() == ["unpublish mic", "publish mic"])
    }

    @Test("D5 S11 the end of a call ends all captures and begins anew")
    func end() async {
        let media = await onStage()
        await media.cameraInterruptionBegan()
        tracks.callSettings = CallSettings()
        await media.left()
        #expect(capture.running.isEmpty && media.isCameraOn && media.isMicOn && !media.isCameraInterrupted)
    }

    @Test("A track that is there already is taken over, one that is gone already is gone")
    func differences() async throws {
        tracks.refusals = ["publish mic": .trackNameDuplicated, "unpublish camera": .trackNotFound]
        let media = LocalMedia(publisher: tracks, capture: capture)
        await media.entered(isHost: true)
        #expect(tracks.takeLog() == ["publish mic", "enable mic", "publish camera"] && media.isMicOn)
        try await media.setCamera(false)
        #expect(!media.isCameraOn)
    }
}
