import FootlightTesting
import Foundation
import Glibc
import Media
import Stage
import Testing

@Suite("A mixer that is killed, and a room that empties and ends", .serialized, .timeLimit(.minutes(2)))
struct KilledMixerTests {
    /// Promised: pushing again within this many seconds.
    private static let promise = 2.0
    /// Milliseconds from one picture to the next where none was left out.
    private static let step: Int64 = 40
    /// Milliseconds between two pictures that a slow machine makes by leaving out one or two of them; a death may be
    /// as short.
    private static let stop: Int64 = 110

    @Test("Killed twice, the program is back within two seconds each time, and whoever watches stays connected")
    func killed() async throws {
        let stage = try await FaultStage(room: "kill")
        let (gateway, folder) = (stage.gateway, stage.folder)
        // Before anybody joins: encoding takes all of the machine, and the first host starts the mixer.
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
        let pushed = FLVTail(path: try #require(try nginx.recordings.first))
        let rectangles = (try #require(try await stage.tile(of: red)), try #require(try await stage.tile(of: blue)))
        try await Task.sleep(for: .seconds(3))

        for round in 1...2 {
            let pid = try #require(gateway.mixers(of: stage.room).first)
            let token = try token(ofMixer: pid)
            kill(pid, SIGKILL)
            let killed = MonotonicTime.now()
            // What was under way when it died still comes; the new mixer begins with a key picture.
            let floor = killed.advanced(seconds: 0.1)
            var waits: [String] = []
            for (name, tail) in [("RTMP", rtmp.tail), ("FLV", flv.tail), ("output", pushed)] {
                let next = try await tail.keyPicture(after: floor, within: .seconds(6))
                let wait = try #require(next, "\(name): no picture").time.seconds(since: killed)
                waits.append("\(name) \(Int(wait * 1000)) ms")
                #expect(wait < Self.promise, "round \(round): \(name) waited \(wait) s")
            }
            print("mixer killed, round \(round): next picture after", waits.joined(separator: ", "))
            try await Task.sleep(for: .seconds(4))
            #expect(gateway.mixers(of: stage.room).count == 1 && !gateway.mixers(of: stage.room).contains(pid))
            // A mixer that was only thought dead has nothing to say any more.
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

        // Everybody leaves: the show goes on without them, from the same process.
        let mixers = gateway.mixers(of: stage.room)
        for seat in [red, blue] { try await gateway.api("DELETE", stage.path("participants/\(seat.sid)")) }
        let emptied = MonotonicTime.now()
        try await Task.sleep(for: .seconds(4))
        #expect(gateway.mixers(of: stage.room) == mixers)
        #expect(encoders.allSatisfy { !$0.isRunning })

        // The room ends: so does everything that hangs on it.
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
            let complaints = try await Players.complaints(about: path)
            #expect(complaints.isEmpty, "\(complaints)")
        }
    }

    /// What a mixer proves itself with; it is handed over in the environment.
    private func token(ofMixer pid: Int32) throws -> String {
        let data = FileManager.default.contents(atPath: "/proc/\(pid)/environ") ?? Data()
        let variables = data.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
        let name = "FOOTLIGHT_MIXER_TOKEN="
        return String(try #require(variables.first { $0.hasPrefix(name) }).dropFirst(name.count))
    }

    /// Timestamps rise through both deaths, and stand still at none but the deaths.
    private func checkTimestamps(_ tails: [(name: String, tail: FLVTail)], until emptied: MonotonicTime) throws {
        for (name, tail) in tails {
            let pictures = tail.steps(\.isPicture)
            let sounds = tail.steps { $0.kind == .sound }
            #expect(pictures.count > 300 && sounds.count > 500, "\(name) has \(pictures.count) pictures")
            #expect((pictures.min() ?? 0) > 0 && (sounds.min() ?? 0) > 0, "\(name): a timestamp does not rise")
            let stops = pictures.filter { $0 > Self.step }
            #expect(stops.count >= 2 && pictures.count { $0 > Self.stop } <= 2, "\(name): \(stops)")
            #expect(sounds.count { $0 > Self.step } == 2, "\(name): \(sounds.filter { $0 > Self.step })")
            #expect(Double(pictures.max() ?? 0) < Self.promise * 1000)
            print("mixer killed: \(name) stood still for \(stops) ms")
            let later = tail.all.filter { $0.time > emptied && $0.isPicture }
            #expect(later.count > 60, "\(name): \(later.count) pictures after the last host left")
        }
    }

    private func checkHLS(_ recorder: Recorder, rectangles: (TileRectangle, TileRectangle)) async throws {
        #expect(!recorder.child.standardError.contains("Non-monoton"), "\(recorder.child.standardError)")
        let recording = try await Recording(path: recorder.path)
        #expect(recording.backwardSteps == 0)
        let pictures = recording.packets(.video).map(\.decodeTime)
        #expect(zip(pictures, pictures.dropFirst()).allSatisfy { $0 < $1 })
        #expect(recording.largestGap(.video) < Self.promise)
        #expect(recording.duration(.video) > 12)
        let complaints = try await Players.complaints(about: recorder.path)
        #expect(complaints.isEmpty, "\(complaints)")
        let steps = zip(pictures, pictures.dropFirst()).sorted { $0.1 - $0.0 > $1.1 - $1.0 }
        let lengths = steps.prefix(3).map { Int64(($0.1 - $0.0) * 1000) }
        #expect(lengths.count == 3 && lengths[1] > Self.step && lengths[2] <= Self.stop, "\(lengths)")
        // The picture is whole again two seconds behind each death.
        for (_, back) in steps.prefix(2) {
            let frame = try await recording.picture(at: back + 2)
            #expect(frame.colour(of: rectangles.0).red > 150 && frame.colour(of: rectangles.1).blue > 150)
        }
    }

    /// The last seconds show nobody and sound like nobody.
    private func checkEmptyProgram(_ path: String) async throws {
        let recording = try await Recording(path: path)
        let end = recording.duration(.video)
        let frame = try await recording.picture(at: end - 0.5)
        #expect(frame.averageColour(x: 0, y: 0, width: 1280, height: 720).distance(to: .background) <= 8)
        let sound = try await recording.sound()
        #expect(sound.toneLevel(frequency: 440, from: end - 7, to: end - 5) > -20)
        #expect(sound.level(from: end - 2, to: end - 0.2) < -70)
        #expect(recording.largestGap(.audio) < Self.promise)
    }
}
