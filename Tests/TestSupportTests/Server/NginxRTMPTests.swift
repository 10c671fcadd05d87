import FootlightTesting
import TestSupport
import Testing

@Suite("nginx as a platform", .enabled(if: TestRun.isFull), .serialized) struct NginxRTMPTests {
    @Test("records what a host publishes and plays it")
    func roundTrip() async throws {
        let folder = try TemporaryFolder("nginx")
        let nginx = try await NginxRTMP()
        var script = HostScript(.yellow, tone: 880)
        script.video?.width = 320
        script.video?.height = 180
        script.video?.keyInterval = 30
        let host = try FFmpeg.host(script, to: nginx.url(stream: "show"), seconds: 6)
        #expect(try await eventually { try nginx.recordings.count == 1 })
        let url = nginx.url(stream: "show")
        let players = [
            try FFmpeg.record(url, seconds: 1.5, to: folder.file("ffmpeg.flv")),
            try StreamRecorder.rtmpdump(url, seconds: 3, to: folder.file("rtmpdump.flv")),
        ]
        for player in players {
            let recording = try await player.finish()
            #expect(recording.backwardSteps == 0)
            let frame = try await recording.frame(at: 1.2)
            #expect(frame.averageColour(x: 0, y: 0, width: 320, height: 90).distance(to: .yellow) < 8)
            #expect(try await recording.decodedAudio().toneLevel(frequency: 880, from: 0.5, to: 1.2) > -14)
        }
        #expect(try await host.wait(.seconds(20)) == .code(0), "\(host.standardError)")
        let recording = try await Recording(path: try #require(try nginx.recordings.first))
        #expect(abs(recording.frameRate - 30) < 0.1)
        #expect(recording.packets(.video).count >= 175)
    }

    @Test("stops, pauses and restarts on the same port")
    func comesAndGoes() async throws {
        let nginx = try await NginxRTMP(isRecording: false)
        let first = try #require(nginx.pid)
        nginx.stop()
        #expect(nginx.pid == nil && !FreePort.isListening(nginx.port) && !RunningProcess.isAlive(first))
        try await nginx.start()
        #expect(FreePort.isListening(nginx.port) && nginx.pid != first)
        nginx.pause()
        let host = try FFmpeg.host(HostScript(video: nil, audio: .tone(440)), to: nginx.url(stream: "a"), seconds: 1)
        // The kernel accepts connections of a paused server; the handshake waits.
        #expect(try await host.wait(.milliseconds(1500)) == nil)
        nginx.resume()
        #expect(try await host.wait(.seconds(20)) == .code(0), "\(host.standardError)")
    }

    @Test("refuses publishers")
    func refuses() async throws {
        let nginx = try await NginxRTMP(refusesPublishers: true)
        let host = try FFmpeg.host(HostScript(video: nil, audio: .tone(440)), to: nginx.url(stream: "a"), seconds: 20)
        let exit = try await host.wait(.seconds(20))
        #expect(exit != nil && exit != .code(0))
        #expect(try nginx.recordings.isEmpty)
    }
}
