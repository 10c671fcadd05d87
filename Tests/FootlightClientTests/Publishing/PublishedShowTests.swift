import FootlightClient
import FootlightTesting
import GatewayModel
import Media
import Stage
import Testing

@MainActor
@Suite("A host of the library, in the program of a real gateway", .serialized, .timeLimit(.minutes(2)))
struct PublishedShowTests {
    @Test("The host's colour and tone are in the program, and again after a cut, by the same key")
    func show() async throws {
        let show = try await Show(isAlone: true)
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
        #expect(publisher.currentStatistics.dropped.sounds == 0)
        await publisher.stop()
        #expect(publisher.currentStatistics.state == .ended(nil))
    }

    /// Waits until the host is seen, and looks and listens.
    private func check(_ show: Show, _ name: String) async throws {
        let isSeen = try await soon(every: .milliseconds(100)) {
            let host = try await show.operatorClient.participants(of: show.room).participants.first
            return host?.isCameraOn == true && host?.isMicOn == true
        }
        #expect(isSeen)
        // A player begins up to two seconds back, and the host is to be there from the first picture.
        try await Task.sleep(for: .seconds(2))
        let folder = try TemporaryFolder("program")
        let path = folder.file(name)
        let recording = try await FFmpeg.record(show.gateway.flvURL(room: show.room), seconds: 1.5, to: path).finish()
        let picture = try await recording.picture(at: 1)
        let colour = picture.averageColour(x: picture.width / 2 - 40, y: picture.height / 2 - 20, width: 80, height: 40)
        #expect(colour.red > 200 && colour.green < 60 && colour.blue < 60, "\(colour)")
        let sound = try await recording.sound()
        #expect(sound.toneLevel(frequency: PatternMediaSource.frequency, from: 0.3, to: 1.3) > -35)
    }
}
