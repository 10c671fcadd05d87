import FootlightTesting
import Foundation
import Media
import Testing

@Suite("Hosts are mixed by the API while people listen", .serialized, .timeLimit(.minutes(1)))
struct MixedSoundTests {
    /// How loud a tone of each host is to be in decibels; nil for not at all.
    private struct Mix {
        let name: String
        let red: Double?
        let blue: Double?
    }

    @Test("Gain, a muted microphone and ducking are heard within a second, to the decibel, and of nobody else")
    func mix() async throws {
        let stage = try await FaultStage(room: "mixed")
        let (red, blue) = (try await stage.join("red"), try await stage.join("blue"))
        let hosts = [
            try stage.publish(try await stage.clip(script(.red, 330)), as: red),
            try stage.publish(try await stage.clip(script(.blue, 500)), as: blue),
        ]
        let path = stage.folder.file("program.flv")
        let recorder = try Recorder.curl(stage.gateway.flvURL(room: stage.room), seconds: 40, to: path)
        let tail = FLVTail(path: path)
        let isHeard = try await eventually {
            let seats = try await stage.expect(200, "GET", stage.path("participants"))["participants"].elements
            let tracks = seats.flatMap { $0["tracks"].elements }
            return tracks.count == 4 && tracks.allSatisfy { $0["subscribed"].bool == true }
        }
        try #require(isHeard)
        var times = ShowTimes()
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
        let sound = try await recording.sound()
        let show = RecordedShow(recording: recording, arrivals: tail.all, times: times)
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
            for (host, tone, wanted) in [("red", 330.0, mix.red), ("blue", 500, mix.blue)] {
                let level = sound.toneLevel(frequency: tone, from: range.lowerBound, to: range.upperBound)
                #expect(wanted.map { abs(level - $0) < 1 } ?? (level < -60), "\(mix.name): \(host) at \(level) dB")
            }
        }
        #expect(recording.backwardSteps == 0 && recording.largestGap(.audio) < 0.0235)
        let isPublishing = hosts.allSatisfy(\.isRunning)
        #expect(isPublishing)
    }

    /// A small picture: it is not what is looked at.
    private func script(_ colour: Colour, _ tone: Double) -> HostScript {
        var picture = HostPicture(colour)
        (picture.width, picture.height, picture.bitRate) = (320, 180, 200)
        return HostScript(picture: picture, sound: .tone(tone))
    }
}
