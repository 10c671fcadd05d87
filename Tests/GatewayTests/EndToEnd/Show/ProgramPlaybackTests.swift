import FootlightTesting
import Foundation
import Stage
import TestSupport
import Testing

@Suite(
    "Program of two hosts by RTMP, HTTP-FLV, HLS and output",
    .enabled(if: TestRun.isFull),
    .serialized,
    .timeLimit(.minutes(2))
)
struct ProgramPlaybackTests {
    private static let seconds = 30.0
    /// The golden tiles of two hosts in 1280x720.
    private static let tiles = [
        TileRectangle(x: 0, y: 0, width: 636, height: 720), TileRectangle(x: 644, y: 0, width: 636, height: 720),
    ]
    private static let key = "live_4711_not-to-be-seen-wxyz"

    @Test("all four carry the same program for half a minute without gaps")
    func program() async throws {
        // A room with default settings: loudness normalization, names on tiles, animated tiles.
        let stage = try await RoomFixture(room: "show", isUnprocessed: false)
        let (gateway, folder) = (stage.gateway, stage.folder)
        let (red, blue) = (try await stage.join("red"), try await stage.join("blue"))
        let hosts = [
            try stage.publish(try await stage.clip(host(.red, tone: 440)), as: red),
            try stage.publish(try await stage.clip(host(.blue, tone: 880)), as: blue),
        ]
        try await stage.waitUntilOnAir()
        try await waitForCameras(of: 2, on: stage)
        #expect(try await stage.tile(of: red) == Self.tiles[0])
        #expect(try await stage.tile(of: blue) == Self.tiles[1])

        let nginx = try await NginxRTMP()
        let output: JSONValue = ["name": "nginx", "url": .string(nginx.url), "stream_key": .string(Self.key)]
        try await stage.expect(202, "POST", stage.path("livestream/start"), ["outputs": [output]])
        let recorders = [
            "RTMP": try FFmpeg.record(
                gateway.rtmpURL(room: stage.room),
                seconds: Self.seconds,
                to: folder.file("rtmp.mkv")
            ),
            "HTTP-FLV": try FFmpeg.record(
                gateway.flvURL(room: stage.room),
                seconds: Self.seconds,
                to: folder.file("flv.mkv")
            ),
            "HLS": try FFmpeg.record(
                gateway.hlsURL(room: stage.room),
                seconds: Self.seconds,
                to: folder.file("hls.mkv")
            ),
        ]
        #expect(try await stage.waitForOutput("nginx", ["connected"]))
        try await Task.sleep(for: .seconds(Self.seconds))
        try await checkEgress(of: stage, since: Self.seconds - 2)
        try await stage.expect(202, "POST", stage.path("livestream/stop"))
        #expect(hosts.allSatisfy { $0.isRunning })

        var recordings: [String: Recording] = [:]
        for (name, recorder) in recorders { recordings[name] = try await recorder.finish() }
        let isRecorded = try await eventually { try nginx.recordings.count == 1 }
        #expect(isRecorded)
        recordings["output"] = try await Recording(path: try #require(try nginx.recordings.first))
        for (name, recording) in recordings {
            checkTiming(of: recording, name: name)
            try await checkFrame(of: recording, name: name)
            try await checkAudio(of: recording, name: name)
        }
        for secret in [Self.key, red.key, blue.key, try gateway.operatorToken] {
            #expect(!gateway.log.contains(secret), "a secret is in the log")
        }
    }

    // MARK: Steps

    /// Makes a host with an explicit colour matrix, so that the result is unambiguous.
    private func host(_ colour: Colour, tone: Double) -> HostScript {
        var script = HostScript(colour, tone: tone)
        script.video?.isBT709 = true
        return script
    }

    private func waitForCameras(of count: Int, on stage: RoomFixture) async throws {
        let isThere = try await eventually {
            let tiles = try await stage.expect(200, "GET", stage.path("layout"))["tiles"].elements
            return tiles.count { $0["source"].string == "camera" } == count
        }
        #expect(isThere, "the layout has no \(count) cameras")
        // HLS players start three segments back, where both hosts must be visible already.
        try await Task.sleep(for: .seconds(9))
    }

    private func checkEgress(of stage: RoomFixture, since seconds: Double) async throws {
        let egress = try await stage.expect(200, "GET", stage.path("egress"))
        #expect(egress["broadcasting"].bool == true)
        #expect(egress["livestream"]["state"].string == "LIVESTREAM_STARTED")
        let output = egress["livestream"]["outputs"][0]
        #expect(output["state"].string == "connected" && output["last_error"] == .null, "\(output.text)")
        #expect(output["reconnects"].int == 0 && output["dropped_frames"].int == 0, "\(output.text)")
        // 3000 kbit/s of video and 128 kbit/s of audio; plain video needs less.
        #expect(output["bytes_sent"].double ?? 0 > seconds * 20_000, "\(output.text)")
        #expect(output["stream_key"].string == "****wxyz")
        #expect(!egress.text.contains(Self.key))
    }

    private func checkTiming(of recording: Recording, name: String) {
        let comment: Comment = "\(name)"
        #expect(recording.duration(.video) > Self.seconds - 2.5, comment)
        #expect(recording.video?.codec == "h264" && recording.audio?.codec == "aac", comment)
        #expect(recording.video?.width == 1280 && recording.video?.height == 720, comment)
        #expect(recording.video?.colourMatrix == "bt709" && recording.video?.reorderedFrames == 0, comment)
        #expect(recording.audio?.sampleRate == 48_000 && recording.audio?.channels == 2, comment)

        #expect(abs(recording.frameRate - 30) < 0.005, "\(name): \(recording.frameRate) frames a second")
        let groups = recording.completeGOPs
        #expect(groups.count >= 12, "\(name): \(groups.count) whole groups")
        for group in groups {
            // RTMP timestamps have millisecond precision.
            #expect(group.frames == 60 && abs(group.seconds - 2) < 0.0011, "\(name): \(group)")
        }
        #expect(recording.backwardSteps == 0, comment)
        #expect(recording.largestGap(.video) < 0.040, "\(name): \(recording.largestGap(.video)) s between frames")
        // An audio packet has 1024 samples, 21.3 ms.
        #expect(recording.largestGap(.audio) < 0.0235, "\(name): \(recording.largestGap(.audio)) s between packets")
        let expected = Double(recording.packets(.audio).count - 1) * 1024 / 48_000
        #expect(abs(recording.duration(.audio) - expected) < 0.003, "\(name): \(recording.duration(.audio)) s of audio")
        print(
            "\(name):",
            recording.packets(.video).count,
            "frames,",
            recording.frameRate,
            "a second, largest gap",
            recording.largestGap(.video),
            "s,",
            groups.count,
            "groups of 60"
        )
    }

    private func checkFrame(of recording: Recording, name: String) async throws {
        let frames = try await recording.frames(at: [1, 2, 10, 20, 27])
        for frame in frames {
            for (tile, colour) in zip(Self.tiles, [Colour.red, .blue]) {
                // The marker moves at three quarters of the height; above it the host has one colour.
                let seen = frame.averageColour(x: tile.x + 4, y: 4, width: tile.width - 8, height: 500)
                #expect(seen.distance(to: colour) <= 6, "\(name), \(frame.time) s: \(seen) instead of \(colour)")
                for x in [tile.x + 2, tile.x + tile.width - 8] {
                    let edge = frame.averageColour(x: x, y: 100, width: 6, height: 400)
                    #expect(edge.distance(to: colour) <= 24, "\(name): \(edge) at x \(x) instead of \(colour)")
                }
            }
            for (tile, colour) in zip(Self.tiles, [Colour.red, .blue]) {
                // Name and microphone are on a dark panel in the lower left corner.
                let panel = frame.averageColour(x: tile.x + 26, y: tile.y + 644, width: 60, height: 48)
                #expect(panel.distance(to: colour) > 40, "\(name), \(frame.time) s: no name at \(tile)")
            }
            let gap = frame.averageColour(x: 638, y: 100, width: 4, height: 500)
            #expect(gap.distance(to: .background) <= 16, "\(name): \(gap) between the tiles")
        }
        // The host's sides are cropped, so that the marker is visible for about half of its four seconds.
        let run = try await recording.frames(at: stride(from: 10, to: 14, by: 0.5).map { $0 })
        for tile in Self.tiles {
            let places = run.compactMap { marker(in: tile, of: $0) }
            #expect(places.count >= 3 && Set(places).count == places.count, "\(name): the marker was at \(places)")
        }
    }

    /// Returns the centre of the white marker in a tile in pixels; nil without one.
    private func marker(in tile: TileRectangle, of frame: RGBFrame) -> Int? {
        let white = (tile.x..<tile.x + tile.width).filter { frame.colour(x: $0, y: 580).luma > 200 }
        return white.count > 20 ? white.reduce(0, +) / white.count : nil
    }

    private func checkAudio(of recording: Recording, name: String) async throws {
        let audio = try await recording.decodedAudio()
        for (from, to) in [(1.0, 9.0), (10, 18), (19, 27)] {
            for tone in [440.0, 880] {
                // Each host's tone is at -12 dBFS and is normalized to -16 LUFS: by BS.1770 a stereo tone measures 0.7
                // below its level, and up to 0.5 dB more at these frequencies.
                let level = audio.toneLevel(frequency: tone, from: from, to: to)
                #expect(abs(level + 15.5) < 1, "\(name): \(tone) Hz at \(level) dB")
            }
            #expect(audio.toneLevel(frequency: 1500, from: from, to: to) < -50, "\(name)")
        }
        let silences = audio.silences().filter { $0.lowerBound > 0.1 && $0.upperBound < audio.duration - 0.1 }
        #expect(silences.isEmpty, "\(name): silent in \(silences)")
        #expect(audio.peak < -0.9, "\(name): \(audio.peak) dB")
    }
}
