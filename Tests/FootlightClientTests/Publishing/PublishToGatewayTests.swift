import FootlightClient
import FootlightModel
import Media
import Stage
import TestSupport
import Testing

@MainActor
@Suite(
    "A published host in the program of a real gateway",
    .enabled(if: TestRun.isFull),
    .serialized,
    .timeLimit(.minutes(2))
)
struct PublishToGatewayTests {
    @Test("The host's colour and tone are in the program, and again after a connection loss, with the same key")
    func show() async throws {
        let show = try await GatewayFixture(isAlone: true)
        let line = try FaultProxy(to: show.gateway.endpoints.rtmpPort)
        let call = try await show.call("ann", .sendAndReceive)
        call.callSettings = CallSettings(isAudioOn: true, isVideoOn: true)
        call.join(CallJoin(room: show.room))
        try await call.reach(.joined)
        var ingest = try #require(call.ingest)
        ingest.url = "rtmp://127.0.0.1:\(line.port)/live"
        let publisher = RTMPPublisher(ingest)
        let source = Task { try await publisher.publish(from: PatternMediaSource()) }
        defer { source.cancel() }
        let following = Task { await call.follow(publisher) }
        defer { following.cancel() }
        try await check(show, "before.mkv")

        line.mode = .cut
        #expect(try await soon { call.status.phase == .reconnecting(.media) })
        #expect(publisher.currentStatistics.state != .publishing && call.status.callState == .joined)
        line.mode = .pass
        #expect(try await soon { publisher.currentStatistics.reconnects == 1 })
        try await call.reach(.joined)
        try await check(show, "after.mkv")
        #expect(call.status.phase == .joined)
        #expect(publisher.currentStatistics.dropped.audioFrames == 0)
        await publisher.stop()
        #expect(publisher.currentStatistics.state == .ended(nil))
    }

    /// Waits until the host is on air, and checks video and audio.
    private func check(_ show: GatewayFixture, _ name: String) async throws {
        let isSeen = try await soon(every: .milliseconds(100)) {
            let host = try await show.operatorClient.participants(of: show.room).participants.first
            return host?.isCameraOn == true && host?.isMicOn == true
        }
        #expect(isSeen)
        // A player begins up to two seconds back, and the host must be in the first frame.
        try await Task.sleep(for: .seconds(2))
        let folder = try TemporaryFolder("program")
        let path = folder.file(name)
        let recording = try await FFmpeg.record(show.gateway.flvURL(room: show.room), seconds: 1.5, to: path).finish()
        let image = try await recording.frame(at: 1)
        let colour = image.averageColour(x: image.width / 2 - 40, y: image.height / 2 - 20, width: 80, height: 40)
        #expect(colour.red > 200 && colour.green < 60 && colour.blue < 60, "\(colour)")
        let audio = try await recording.decodedAudio()
        #expect(audio.toneLevel(frequency: PatternMediaSource.frequency, from: 0.3, to: 1.3) > -35)
    }
}
