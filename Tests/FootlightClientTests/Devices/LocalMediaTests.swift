import FootlightTesting
import FootlightModel
import Stage
import Testing

@testable import FootlightClient

@MainActor
@Suite("The local microphone and camera")
struct LocalMediaTests {
    private let tracks = RecordingTrackPublisher()
    private let capture = FakeCapture()

    /// Devices of a host in a call, both on; delays pass only when the clock is moved.
    private func onStage() async -> LocalMedia {
        let media = LocalMedia(publisher: tracks, capture: capture, clock: ManualClientClock().clock)
        await media.entered(isHost: true)
        #expect(tracks.drainLog() == ["publish mic", "publish camera"])
        return media
    }

    @Test("T1 turning the microphone off unpublishes it, on publishes a new track; the same value has no effect")
    func mic() async throws {
        let media = await onStage()
        try await media.setMic(false)
        #expect(tracks.drainLog() == ["unpublish mic"] && !media.isMicOn && !capture.running.contains(.mic))
        try await media.setMic(false)
        #expect(tracks.drainLog().isEmpty)
        try await media.setMic(true)
        try await media.setMic(true)
        #expect(tracks.drainLog() == ["publish mic"] && media.isMicOn && capture.running.contains(.mic))
    }

    @Test("T1 before a join only the state changes, and the tracks are published at the join")
    func beforeJoin() async throws {
        let media = LocalMedia(publisher: tracks, capture: capture)
        try await media.setMic(false)
        #expect(tracks.drainLog().isEmpty && !media.isMicOn && tracks.callSettings.isAudioOn == false)
        await media.entered(isHost: true)
        #expect(tracks.drainLog() == ["publish camera"])
    }

    @Test("T2 turning the camera off stops its capture; one that cannot start stays off and unpublished")
    func camera() async throws {
        let media = await onStage()
        try await media.setCamera(false)
        #expect(tracks.drainLog() == ["unpublish camera"] && capture.running == [.mic])
        capture.failures[.camera] = .internalError
        await #expect(throws: StageError.internalError) { try await media.setCamera(true) }
        #expect(!media.isCameraOn && tracks.drainLog().isEmpty && media.problem == .internalError)
        capture.failures = [:]
        try await media.setCamera(true)
        #expect(media.isCameraOn && tracks.drainLog() == ["publish camera"])
    }

    @Test("T2 at the join too, a camera that cannot start is not published")
    func cameraAtJoin() async throws {
        capture.failures[.camera] = .internalError
        let media = LocalMedia(publisher: tracks, capture: capture)
        await media.entered(isHost: true)
        #expect(tracks.drainLog() == ["publish mic"] && !media.isCameraOn && media.isMicOn)
    }

    @Test("T8 switching the camera does not republish the track")
    func flip() async throws {
        let media = await onStage()
        try await media.flipCamera()
        #expect(tracks.drainLog().isEmpty && media.cameraPosition == .back && capture.log.last == "use back")
        capture.failures[.camera] = .internalError
        await #expect(throws: StageError.internalError) { try await media.flipCamera() }
        #expect(media.cameraPosition == .back)
    }

    @Test("T9 a call on hold disables both tracks, and enables them afterwards")
    func hold() async {
        let media = await onStage()
        await media.setOnHold(true)
        #expect(tracks.drainLog() == ["disable mic", "disable camera"] && media.isOnHold)
        await media.setOnHold(true)
        #expect(tracks.drainLog().isEmpty)
        await media.setOnHold(false)
        #expect(tracks.drainLog() == ["enable mic", "enable camera"] && media.isMicOn && media.isCameraOn)
    }

    @Test("T10 D32 an interrupted camera is disabled, not unpublished; the background counts as an interruption")
    func interruption() async {
        let media = await onStage()
        await media.cameraInterruptionBegan()
        #expect(tracks.drainLog() == ["disable camera"] && media.isCameraOn && media.isCameraInterrupted)
        await media.cameraInterruptionEnded()
        #expect(tracks.drainLog() == ["enable camera"] && !media.isCameraInterrupted)
        await media.enteredBackground()
        #expect(tracks.drainLog() == ["disable camera"], "the microphone goes on")
        await media.cameraInterruptionBegan()
        await media.cameraInterruptionEnded()
        #expect(tracks.drainLog().isEmpty, "still out of sight")
        await media.enteredForeground()
        #expect(tracks.drainLog() == ["enable camera"])
    }

    @Test("T11 repeated interruptions count once; changes during one apply at its end")
    func interruptedTwice() async throws {
        let media = await onStage()
        await media.cameraInterruptionBegan()
        await media.cameraInterruptionBegan()
        #expect(tracks.drainLog() == ["disable camera"])
        try await media.setCamera(false)
        await media.cameraInterruptionEnded()
        await media.cameraInterruptionEnded()
        #expect(tracks.drainLog() == ["unpublish camera"] && !media.isCameraOn)
        await media.cameraInterruptionBegan()
        try await media.setCamera(true)
        #expect(tracks.drainLog() == ["publish camera disabled"])
        await media.cameraInterruptionEnded()
        #expect(tracks.drainLog() == ["enable camera"])
    }

    @Test("T21 interrupted audio is neither captured nor played, its track is disabled; the end restores all, once")
    func audioInterruption() async {
        let media = await onStage()
        await media.audioInterruptionBegan()
        await media.audioInterruptionBegan()
        #expect(tracks.drainLog() == ["disable mic"] && media.isMicOn && media.isAudioInterrupted)
        #expect(capture.running == [.camera] && capture.log.suffix(2) == ["pause audio", "stop mic"])
        await media.audioInterruptionEnded()
        await media.audioInterruptionEnded()
        #expect(tracks.drainLog() == ["enable mic"] && !media.isAudioInterrupted && !media.isCameraInterrupted)
        #expect(capture.running == [.mic, .camera] && capture.log.suffix(2) == ["resume audio", "start mic"])
    }

    @Test("T21 T11 turning the microphone off or on during an audio interruption takes effect at its end")
    func audioInterruptionAndUser() async throws {
        let media = await onStage()
        await media.audioInterruptionBegan()
        try await media.setMic(false)
        #expect(tracks.drainLog() == ["disable mic", "unpublish mic"])
        await media.audioInterruptionEnded()
        #expect(tracks.drainLog().isEmpty && !media.isMicOn)
        #expect(capture.running == [.camera] && capture.log.last == "resume audio")
        await media.audioInterruptionBegan()
        try await media.setMic(true)
        #expect(tracks.drainLog() == ["publish mic disabled"] && capture.running == [.camera])
        await media.audioInterruptionEnded()
        #expect(tracks.drainLog() == ["enable mic"] && capture.running == [.mic, .camera])
    }

    @Test("T21 without a call, a preview pauses and resumes; the end of a call does not end an interruption")
    func audioInterruptionWithoutCall() async throws {
        let media = LocalMedia(publisher: tracks, capture: capture)
        await media.audioInterruptionBegan()
        await media.audioInterruptionEnded()
        #expect(capture.running.isEmpty, "nothing was recorded before")
        await media.beginCapture()
        await media.audioInterruptionBegan()
        #expect(capture.running == [.camera])
        await media.audioInterruptionEnded()
        #expect(capture.running == [.mic, .camera] && tracks.drainLog().isEmpty)

        await media.entered(isHost: true)
        await media.audioInterruptionBegan()
        await media.left()
        #expect(media.isAudioInterrupted && capture.running.isEmpty)
        await media.audioInterruptionEnded()
        #expect(!media.isAudioInterrupted && capture.running.isEmpty && capture.log.last == "resume audio")
    }

    @Test("T9 T10 a camera that is on hold and interrupted is enabled when both are over")
    func both() async {
        let media = await onStage()
        await media.setOnHold(true)
        await media.cameraInterruptionBegan()
        await media.setOnHold(false)
        #expect(tracks.drainLog() == ["disable mic", "disable camera", "enable mic"])
        await media.cameraInterruptionEnded()
        #expect(tracks.drainLog() == ["enable camera"])
    }

    @Test("S13 in a call the value changes only after the gateway's confirmation, and stays if it refuses")
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
        _ = tracks.drainLog()
        tracks.failure = nil
        await media.entered(isHost: true)
        #expect(tracks.drainLog().isEmpty, "what was refused is not done later")
    }

    @Test(
        "S10 a connection loss while a track is published keeps it wanted: the reconnected call publishes it",
        arguments: [StageError.callNotConnected, .callConnectionLost, .reconnecting, .requestCancelled]
    )
    func brokenLine(_ error: StageError) async throws {
        let clock = ManualClientClock()
        let media = LocalMedia(publisher: tracks, capture: capture, clock: clock.clock)
        tracks.refusals = ["publish camera": error]
        await media.entered(isHost: true)
        #expect(tracks.drainLog() == ["publish mic", "publish camera"])
        #expect(media.isCameraOn && capture.running == [.mic, .camera] && media.problem == error)
        tracks.refusals = [:]
        await media.entered(isHost: true)
        #expect(tracks.drainLog() == ["publish camera"] && media.isCameraOn && media.isMicOn)
        await media.entered(isHost: true)
        clock.advance(.seconds(10))
        #expect(tracks.drainLog().isEmpty, "once")
    }

    @Test("S10 if the call itself stayed connected, the track is retried with growing delays")
    func triedAgain() async throws {
        let clock = ManualClientClock()
        let media = LocalMedia(publisher: tracks, capture: capture, clock: clock.clock)
        tracks.failure = .callNotConnected
        await media.entered(isHost: true)
        _ = tracks.drainLog()
        let began = clock.now
        let isRepeated = try await soon(every: .milliseconds(1)) {
            clock.advance(.milliseconds(10))
            return tracks.log.count { $0 == "publish camera" } == 4
        }
        #expect(isRepeated && clock.now - began >= .milliseconds(80 + 120 + 180 + 270), "\(clock.now - began)")
        tracks.failure = nil
        _ = tracks.drainLog()
        let isThere = try await soon(every: .milliseconds(1)) {
            clock.advance(.milliseconds(10))
            return tracks.log.sorted() == ["publish camera", "publish mic"]
        }
        #expect(isThere && media.isCameraOn && media.isMicOn)
        await media.left()
        clock.advance(.seconds(60))
        #expect(tracks.log.count == 2 && capture.running.isEmpty)
    }

    @Test("S13 a change requested during a connection loss is reverted, including its effect on the gateway")
    func changeOnBrokenLine() async throws {
        let media = await onStage()
        tracks.failure = .callNotConnected
        await #expect(throws: StageError.callNotConnected) { try await media.setCamera(false) }
        #expect(media.isCameraOn && capture.running == [.mic, .camera])
        tracks.failure = nil
        // The request may have succeeded: then the track is unpublished, otherwise it is published.
        tracks.refusals = ["publish camera": .trackNameDuplicated]
        _ = tracks.drainLog()
        await media.entered(isHost: true)
        #expect(tracks.drainLog() == ["publish camera", "enable camera"] && media.isCameraOn)
        tracks.refusals = [:]
        try await media.setMic(false)
        tracks.failure = .callNotConnected
        await #expect(throws: StageError.callNotConnected) { try await media.setMic(true) }
        #expect(!media.isMicOn && capture.running == [.camera])
        tracks.failure = nil
        _ = tracks.drainLog()
        await media.entered(isHost: true)
        #expect(tracks.drainLog() == ["unpublish mic"] && !media.isMicOn && tracks.callSettings.isAudioOn == false)
    }

    @Test("S13 without a call only the values change; with the camera off a flip calls no device")
    func withoutCall() async throws {
        let media = LocalMedia(publisher: tracks, capture: capture)
        #expect(media.isMicOn && media.isCameraOn && media.cameraPosition == .front && media.shouldPublish)
        try await media.setMic(false)
        try await media.setCamera(false)
        try await media.flipCamera()
        #expect(!media.shouldPublish && capture.log.isEmpty && tracks.drainLog().isEmpty)
        #expect(tracks.callSettings == CallSettings(isAudioOn: false, isVideoOn: false, cameraPosition: .back))
    }

    @Test("S14 S3 the user's choice applies, otherwise the gateway's defaults")
    func defaults() async throws {
        let media = LocalMedia(publisher: tracks, capture: capture)
        try await media.setMic(false)
        media.applyDefaults(CallSettings(isAudioOn: true, isVideoOn: false, cameraPosition: .back))
        #expect(!media.isMicOn && !media.isCameraOn && media.cameraPosition == .back)
        #expect(tracks.callSettings.isVideoOn == nil, "untouched")
    }

    @Test("V18 stepping down ends both devices, returning to the stage restores the settings")
    func modes() async throws {
        let media = await onStage()
        try await media.setMic(false)
        _ = tracks.drainLog()
        await media.follow(isHost: false)
        #expect(!media.isMicOn && !media.isCameraOn && capture.running.isEmpty)
        #expect(tracks.drainLog().isEmpty, "the gateway has unpublished them")
        await media.follow(isHost: true)
        #expect(tracks.drainLog() == ["publish camera"] && !media.isMicOn && media.isCameraOn)
    }

    @Test("Taps in quick succession end in the last wanted state")
    func quick() async throws {
        let media = await onStage()
        tracks.meanwhile = { _ = Task { try? await media.setMic(true) } }
        let first = Task { try? await media.setMic(false) }
        _ = await first.value
        #expect(try await soon { self.tracks.callSettings.isAudioOn == true })
        #expect(media.isMicOn)
        #expect(tracks.drainLog() == ["unpublish mic", "publish mic"])
    }

    @Test("D5 S11 the end of a call stops all captures and resets the devices")
    func end() async {
        let media = await onStage()
        await media.cameraInterruptionBegan()
        tracks.callSettings = CallSettings()
        await media.left()
        #expect(capture.running.isEmpty && media.isCameraOn && media.isMicOn && !media.isCameraInterrupted)
    }

    @Test("A track that is published already is kept, one that is unpublished already is accepted")
    func differences() async throws {
        tracks.refusals = ["publish mic": .trackNameDuplicated, "unpublish camera": .trackNotFound]
        let media = LocalMedia(publisher: tracks, capture: capture)
        await media.entered(isHost: true)
        #expect(tracks.drainLog() == ["publish mic", "enable mic", "publish camera"] && media.isMicOn)
        try await media.setCamera(false)
        #expect(!media.isCameraOn)
    }
}
