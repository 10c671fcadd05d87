import ControlAPI
import FootlightTesting
import Foundation
import Glibc
import Media
import Stage
import TestSupport
import Testing

@testable import Gateway

@Suite("Crash of a mixer, and the end of a room", .enabled(if: TestRun.isFull), .serialized, .timeLimit(.minutes(2)))
struct MixerCrashTests {
    /// The recovery time in seconds that the documentation promises.
    private static let promise = 2.0
    /// The longest frame interval in milliseconds without dropped frames.
    private static let step: Int64 = 40
    /// The longest frame interval in milliseconds with one or two dropped frames; a crash may be as short.
    private static let stop: Int64 = 110

    @Test("recovers the program within two seconds of each of two kills, with all viewers connected")
    func killed() async throws {
        let stage = try await RoomFixture(room: "kill")
        let (gateway, folder) = (stage.gateway, stage.folder)
        // Encoded before the first join, because encoding takes all processors and the first host starts the mixer.
        let clips = [
            try await stage.clip(HostScript(.red, tone: 440)), try await stage.clip(HostScript(.blue, tone: 880)),
        ]
        let (red, blue) = (try await stage.join("red"), try await stage.join("blue"))
        let encoders = [try stage.publish(clips[0], as: red), try stage.publish(clips[1], as: blue)]
        try await stage.waitUntilOnAir()
        let nginx = try await NginxRTMP()
        try await stage.expect(
            202,
            "POST",
            stage.path("livestream/start"),
            ["outputs": [["name": "good", "url": .string(nginx.url), "stream_key": "good"]]]
        )
        let rtmp = try Players.rtmp(gateway.rtmpURL(room: stage.room))
        let flv = try Players.flv(gateway.flvURL(room: stage.room))
        let hls = try FFmpeg.record(gateway.hlsURL(room: stage.room), seconds: 90, to: folder.file("hls.mkv"))
        #expect(try await stage.waitForOutput("good", ["connected"]))
        _ = try await eventually { try !nginx.recordings.isEmpty }
        let pushed = FLVFollower(path: try #require(try nginx.recordings.first))
        let rectangles = (try #require(try await stage.tile(of: red)), try #require(try await stage.tile(of: blue)))
        try await Task.sleep(for: .seconds(3))

        for round in 1...2 {
            let pid = try #require(gateway.mixers(of: stage.room).first)
            let token = try await token(ofMixer: pid, of: gateway, room: stage.room)
            kill(pid, SIGKILL)
            let killed = MonotonicTime.now()
            // Packets under way at the crash still arrive; the new mixer starts with a keyframe.
            let floor = killed.advanced(seconds: 0.1)
            var waits: [String] = []
            for (name, tail) in [("RTMP", rtmp.tail), ("FLV", flv.tail), ("output", pushed)] {
                let next = try await tail.keyframe(after: floor, within: .seconds(6))
                let wait = try #require(next, "\(name): no frame").time.seconds(since: killed)
                waits.append("\(name) \(Int(wait * 1000)) ms")
                #expect(wait < Self.promise, "round \(round): \(name) waited \(wait) s")
            }
            print("mixer killed, round \(round): next frame after", waits.joined(separator: ", "))
            try await Task.sleep(for: .seconds(4))
            #expect(gateway.mixers(of: stage.room).count == 1 && !gateway.mixers(of: stage.room).contains(pid))
            // A mixer with a lower epoch is refused.
            let ghost = try RawPublisher.attempt(port: gateway.endpoints.rtmpPort, key: "\(stage.room)?token=\(token)")
            #expect(ghost.text.contains("NetStream.Publish.Denied") && ghost.isClosed, "\(ghost.text)")
            #expect(ghost.text.contains("a newer mixer publishes this program"), "\(ghost.text)")
        }
        #expect(rtmp.child.isRunning && flv.child.isRunning && hls.child.isRunning)
        #expect(encoders.allSatisfy { $0.isRunning })
        let good = try await stage.output("good")
        #expect(good["state"].string == "connected" && good["reconnects"].int == 0, "\(good.text)")
        let watched = try await stage.expect(200, "GET", stage.path("viewership"))
        #expect(watched["joins"].int == 3 && watched["concurrent_viewers"].int == 3, "\(watched.text)")

        // All hosts leave: the same process continues the program.
        let mixers = gateway.mixers(of: stage.room)
        for participant in [red, blue] {
            try await gateway.api("DELETE", stage.path("participants/\(participant.sid)"))
        }
        let emptied = MonotonicTime.now()
        try await Task.sleep(for: .seconds(4))
        #expect(gateway.mixers(of: stage.room) == mixers)
        #expect(encoders.allSatisfy { !$0.isRunning })

        // The room ends with its mixer, viewers and outputs.
        try await stage.expect(200, "POST", "/v1/rooms/\(stage.room)", ["status": "completed"])
        let ended = MonotonicTime.now()
        #expect(try await eventually { gateway.mixers(of: stage.room).isEmpty })
        print("room ended: mixer gone after \(Int(MonotonicTime.now().seconds(since: ended) * 1000)) ms")
        #expect(try await rtmp.child.wait(.seconds(20)) != nil, "the RTMP viewer was not ended")
        #expect(try await flv.child.wait(.seconds(20)) != nil, "the FLV viewer was not ended")
        #expect(try await hls.child.wait(.seconds(20)) == .code(0), "the HLS player did not see the end")

        try checkTimestamps([("RTMP", rtmp.tail), ("FLV", flv.tail), ("output", pushed)], until: emptied)
        try await checkHLS(hls, rectangles: rectangles)
        try await checkEmptyProgram(flv.child.outputPath)
        for path in [rtmp.child.outputPath, flv.child.outputPath] {
            let complaints = try await Players.decodeErrors(about: path)
            #expect(complaints.isEmpty, "\(complaints)")
        }
    }

    /// Makes a token as that of a running mixer, which wipes its own from its environment.
    private func token(ofMixer pid: Int32, of gateway: GatewayProcess, room: String) async throws -> String {
        let data = FileManager.default.contents(atPath: "/proc/\(pid)/cmdline") ?? Data()
        let arguments = data.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
        let name = try #require(arguments.firstIndex(of: "--epoch"))
        let epoch = try #require(UInt64(arguments[name + 1]))
        let secrets = try GatewaySecrets(DataDirectory(gateway.dataFolder))
        let tokens = await AccessTokens(signingKey: secrets.signingKey, kid: secrets.signingKeyName)
        return try await tokens.issue(identity: "mixer", room: room, role: .mixer, epoch: epoch, expiresIn: 60)
    }

    /// Expects increasing timestamps, with gaps at the two crashes only.
    private func checkTimestamps(_ tails: [(name: String, tail: FLVFollower)], until emptied: MonotonicTime) throws {
        for (name, tail) in tails {
            let videoSteps = tail.steps(\.isVideo)
            let audioSteps = tail.steps { $0.kind == .audio }
            #expect(videoSteps.count > 300 && audioSteps.count > 500, "\(name) has \(videoSteps.count) frames")
            #expect((videoSteps.min() ?? 0) > 0 && (audioSteps.min() ?? 0) > 0, "\(name): a timestamp does not rise")
            let stops = videoSteps.filter { $0 > Self.step }
            #expect(stops.count >= 2 && videoSteps.count { $0 > Self.stop } <= 2, "\(name): \(stops)")
            #expect(audioSteps.count { $0 > Self.step } == 2, "\(name): \(audioSteps.filter { $0 > Self.step })")
            #expect(Double(videoSteps.max() ?? 0) < Self.promise * 1000)
            print("mixer killed: \(name) stood still for \(stops) ms")
            let later = tail.all.filter { $0.time > emptied && $0.isVideo }
            #expect(later.count > 60, "\(name): \(later.count) frames after the last host left")
        }
    }

    private func checkHLS(_ recorder: StreamRecorder, rectangles: (TileRectangle, TileRectangle)) async throws {
        #expect(!recorder.child.standardError.contains("Non-monoton"), "\(recorder.child.standardError)")
        let recording = try await Recording(path: recorder.path)
        #expect(recording.backwardSteps == 0)
        let frameTimes = recording.packets(.video).map(\.decodeTime)
        #expect(zip(frameTimes, frameTimes.dropFirst()).allSatisfy { $0 < $1 })
        #expect(recording.largestGap(.video) < Self.promise)
        #expect(recording.duration(.video) > 12)
        let complaints = try await Players.decodeErrors(about: recorder.path)
        #expect(complaints.isEmpty, "\(complaints)")
        let steps = zip(frameTimes, frameTimes.dropFirst()).sorted { $0.1 - $0.0 > $1.1 - $1.0 }
        let lengths = steps.prefix(3).map { Int64(($0.1 - $0.0) * 1000) }
        #expect(lengths.count == 3 && lengths[1] > Self.step && lengths[2] <= Self.stop, "\(lengths)")
        // The video is complete again two seconds after each crash.
        for (_, back) in steps.prefix(2) {
            let frame = try await recording.frame(at: back + 2)
            #expect(frame.colour(of: rectangles.0).red > 150 && frame.colour(of: rectangles.1).blue > 150)
        }
    }

    /// Expects the last seconds to be empty and silent.
    private func checkEmptyProgram(_ path: String) async throws {
        let recording = try await Recording(path: path)
        let end = recording.duration(.video)
        let frame = try await recording.frame(at: end - 0.5)
        #expect(frame.averageColour(x: 0, y: 0, width: 1280, height: 720).distance(to: .background) <= 8)
        let audio = try await recording.decodedAudio()
        #expect(audio.toneLevel(frequency: 440, from: end - 7, to: end - 5) > -20)
        #expect(audio.level(from: end - 2, to: end - 0.2) < -70)
        #expect(recording.largestGap(.audio) < Self.promise)
    }
}
