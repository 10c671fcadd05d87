import FootlightTesting
import Foundation
import Media
import TestSupport
import Testing

@Suite("Audio mix by API", .enabled(if: TestRun.isFull), .serialized, .timeLimit(.minutes(1)))
struct AudioMixTests {
    /// The expected levels of the hosts' tones in dB; nil for silence.
    private struct Mix {
        let name: String
        let red: Double?
        let blue: Double?
    }

    @Test("gain, mute and ducking take effect within a second on the right host only")
    func gainsAndDucking() async throws {
        let stage = try await RoomFixture(room: "mixed")
        let (red, blue) = (try await stage.join("red"), try await stage.join("blue"))
        let hosts = [
            try stage.publish(try await stage.clip(script(.red, 330)), as: red),
            try stage.publish(try await stage.clip(script(.blue, 500)), as: blue),
        ]
        let path = stage.folder.file("program.flv")
        let recorder = try StreamRecorder.curl(stage.gateway.flvURL(room: stage.room), seconds: 40, to: path)
        let tail = FLVFollower(path: path)
        let isAudible = try await eventually {
            let participants = try await stage.expect(200, "GET", stage.path("participants"))["participants"].elements
            let tracks = participants.flatMap { $0["tracks"].elements }
            return tracks.count == 4 && tracks.allSatisfy { $0["subscribed"].bool == true }
        }
        try #require(isAudible)
        var times = CommandTimeline()
        try await times.window("as sent", of: 0.8)
        try await stage.expect(200, "PUT", stage.path("participants/blue/sound"), ["gain_db": -12])
        try await times.window("gain", of: 0.8)
        try await stage.expect(200, "PATCH", stage.path("participants/blue/tracks/mic"), ["enabled": false])
        try await times.window("muted", of: 0.8)
        try await stage.expect(200, "PUT", stage.path("participants/blue/sound"), ["gain_db": 0])
        try await stage.expect(200, "PATCH", stage.path("participants/blue/tracks/mic"), ["enabled": true])
        try await times.window("back", of: 0.8)
        try await stage.expect(200, "PUT", stage.path("participants/red/sound"), ["priority": true])
        try await stage.expect(200, "PUT", stage.path("sound"), ["duck": "priority", "duck_db": -9])
        try await times.window("ducked", of: 0.8)
        try await stage.expect(200, "PATCH", stage.path("participants/red/tracks/mic"), ["enabled": false])
        try await times.window("let go", of: 0.8)
        recorder.child.end()

        let recording = try await Recording(path: path)
        let audio = try await recording.decodedAudio()
        let show = TimedRecording(recording: recording, arrivals: tail.all, times: times)
        let mixes = [
            Mix(name: "as sent", red: -12, blue: -12),
            Mix(name: "gain", red: -12, blue: -24),
            Mix(name: "muted", red: -12, blue: nil),
            Mix(name: "back", red: -12, blue: -12),
            Mix(name: "ducked", red: -12, blue: -21),
            Mix(name: "let go", red: nil, blue: -12),
        ]
        for mix in mixes {
            let range = try show.range(of: mix.name)
            for (host, tone, expected) in [("red", 330.0, mix.red), ("blue", 500, mix.blue)] {
                let level = audio.toneLevel(frequency: tone, from: range.lowerBound, to: range.upperBound)
                #expect(expected.map { abs(level - $0) < 1 } ?? (level < -60), "\(mix.name): \(host) at \(level) dB")
            }
        }
        #expect(recording.backwardSteps == 0 && recording.largestGap(.audio) < 0.0235)
        let isPublishing = hosts.allSatisfy(\.isRunning)
        #expect(isPublishing)
    }

    /// A small video, which is not measured.
    private func script(_ colour: Colour, _ tone: Double) -> HostScript {
        var video = HostVideoScript(colour)
        (video.width, video.height, video.bitRate) = (320, 180, 200)
        return HostScript(video: video, audio: .tone(tone))
    }
}

@Suite("Jitter buffer target", .enabled(if: TestRun.isFull), .serialized, .timeLimit(.minutes(1)))
struct JitterTargetTests {
    @Test("applies the host's target, else the room's, else the program's, while on air and in the API")
    func targets() async throws {
        let stage = try await RoomFixture(room: "near")
        let red = try await stage.join("red")
        let host = try stage.publish(try await stage.clip(HostScript(.red, tone: 330)), as: red)
        try await stage.waitUntilOnAir()
        let usual = try await buffer(at: 300, of: stage)
        try await stage.expect(200, "PUT", stage.path("sound"), ["jitter_target": 250])
        _ = try await buffer(at: 250, of: stage)
        let response = try await stage.expect(200, "PUT", stage.path("participants/red/sound"), ["jitter_target": 60])
        #expect(response["sound"]["jitter_target"].int == 60)
        let changed = ContinuousClock.now
        let begin = try await buffer(at: 60, of: stage)
        // The buffer changes at two percent of real time, which is inaudible.
        try await Task.sleep(for: .seconds(2.5))
        let later = try await buffer(at: 60, of: stage)
        print("buffer \(usual) ms, after the command \(begin) ms, \(ContinuousClock.now - changed) later \(later) ms")
        #expect(later < usual - 25, "\(usual) ms, \(later) ms")
        #expect(host.isRunning)
    }

    /// Returns the buffer of the host in milliseconds once the target is applied.
    private func buffer(at target: Double, of stage: RoomFixture) async throws -> Double {
        var sync = JSONValue.null
        let isInForce = try await eventually(every: .milliseconds(50)) {
            sync = try await stage.expect(200, "GET", stage.path("participants/red"))["sync"]
            return sync["target_ms"].double == target && (sync["buffer_ms"].double ?? 0) != 0
        }
        #expect(isInForce, "\(target) ms: \(sync.text)")
        return sync["buffer_ms"].double ?? 0
    }
}
