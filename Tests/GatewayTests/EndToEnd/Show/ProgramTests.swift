import FootlightTesting
import Foundation
import Stage
import Testing

@Suite("Two hosts, one program, watched in four ways", .serialized, .timeLimit(.minutes(2)))
struct ProgramTests {
    private static let seconds = 30.0
    /// The golden tiles of two hosts in 1280x720.
    private static let tiles = [
        TileRectangle(x: 0, y: 0, width: 636, height: 720), TileRectangle(x: 644, y: 0, width: 636, height: 720),
    ]
    private static let key = "live_4711_not-to-be-seen-wxyz"

    @Test("RTMP, HTTP-FLV, HLS and an output carry the same program for half a minute without a flaw")
    func program() async throws {
        // As rooms are that nobody has changed: levelled, with names on the tiles, and tiles that move slowly.
        let stage = try await FaultStage(room: "show", isPlain: false)
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
            try await checkPicture(of: recording, name: name)
            try await checkSound(of: recording, name: name)
        }
        for secret in [Self.key, red.key, blue.key, try gateway.operatorToken] {
            #expect(!gateway.log.contains(secret), "a secret is in the log")
        }
    }

    // MARK: Steps

    /// A host whose stream says by which matrix its colours are made, so that there is one right answer.
    private func host(_ colour: Colour, tone: Double) -> HostScript {
        var script = HostScript(colour, tone: tone)
        script.picture?.isBT709 = true
        return script
    }

    private func waitForCameras(of count: Int, on stage: FaultStage) async throws {
        let isThere = try await eventually {
            let tiles = try await stage.expect(200, "GET", stage.path("layout"))["tiles"].elements
            return tiles.count { $0["source"].string == "camera" } == count
        }
        #expect(isThere, "the layout has no \(count) cameras")
        // HLS players begin three segments back, and both hosts are to be seen there.
        try await Task.sleep(for: .seconds(9))
    }

    private func checkEgress(of stage: FaultStage, since seconds: Double) async throws {
        let egress = try await stage.expect(200, "GET", stage.path("egress"))
        #expect(egress["broadcasting"].bool == true)
        #expect(egress["livestream"]["state"].string == "LIVESTREAM_STARTED")
        let output = egress["livestream"]["outputs"][0]
        #expect(output["state"].string == "connected" && output["last_error"] == .null, "\(output.text)")
        #expect(output["reconnects"].int == 0 && output["dropped_frames"].int == 0, "\(output.text)")
        // 3000 kb/s of pictures and 128 kb/s of sound; a plain picture needs less than it may have.
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
        let groups = recording.pictureGroups
        #expect(groups.count >= 12, "\(name): \(groups.count) whole groups")
        for group in groups {
            // Timestamps of RTMP are whole milliseconds.
            #expect(group.frames == 60 && abs(group.seconds - 2) < 0.0011, "\(name): \(group)")
        }
        #expect(recording.backwardSteps == 0, comment)
        #expect(recording.largestGap(.video) < 0.040, "\(name): \(recording.largestGap(.video)) s between pictures")
        // A packet of sound is 1024 samples, 21.3 ms.
        #expect(recording.largestGap(.audio) < 0.0235, "\(name): \(recording.largestGap(.audio)) s between sounds")
        let sounds = Double(recording.packets(.audio).count - 1) * 1024 / 48_000
        #expect(abs(recording.duration(.audio) - sounds) < 0.003, "\(name): \(recording.duration(.audio)) s of sound")
        print(
            "\(name):",
            recording.packets(.video).count,
            "pictures,",
            recording.frameRate,
            "a second, largest gap",
            recording.largestGap(.video),
            "s,",
            groups.count,
            "groups of 60"
        )
    }

    private func checkPicture(of recording: Recording, name: String) async throws {
        let pictures = try await recording.pictures(at: [1, 2, 10, 20, 27])
        for picture in pictures {
            for (tile, colour) in zip(Self.tiles, [Colour.red, .blue]) {
                // The marker runs at three quarters of the height; above it the host has one colour, up to the edges.
                let seen = picture.averageColour(x: tile.x + 4, y: 4, width: tile.width - 8, height: 500)
                #expect(seen.distance(to: colour) <= 6, "\(name), \(picture.time) s: \(seen) instead of \(colour)")
                for x in [tile.x + 2, tile.x + tile.width - 8] {
                    let edge = picture.averageColour(x: x, y: 100, width: 6, height: 400)
                    #expect(edge.distance(to: colour) <= 24, "\(name): \(edge) at x \(x) instead of \(colour)")
                }
            }
            for (tile, colour) in zip(Self.tiles, [Colour.red, .blue]) {
                // The name and the microphone lie on a dark panel in the lower left corner, 20 pixels from the edges.
                let panel = picture.averageColour(x: tile.x + 26, y: tile.y + 644, width: 60, height: 48)
                #expect(panel.distance(to: colour) > 40, "\(name), \(picture.time) s: no name at \(tile)")
            }
            let gap = picture.averageColour(x: 638, y: 100, width: 4, height: 500)
            #expect(gap.distance(to: .background) <= 16, "\(name): \(gap) between the tiles")
        }
        // The host's sides are cropped, so the marker is in the tile for about half of its run of four seconds.
        let run = try await recording.pictures(at: stride(from: 10, to: 14, by: 0.5).map { $0 })
        for tile in Self.tiles {
            let places = run.compactMap { marker(in: tile, of: $0) }
            #expect(places.count >= 3 && Set(places).count == places.count, "\(name): the marker was at \(places)")
        }
    }

    /// The middle of the white marker in a tile, in pixels from the left; nil where there is none.
    private func marker(in tile: TileRectangle, of picture: PictureFrame) -> Int? {
        let white = (tile.x..<tile.x + tile.width).filter { picture.colour(x: $0, y: 580).luma > 200 }
        return white.count > 20 ? white.reduce(0, +) / white.count : nil
    }

    private func checkSound(of recording: Recording, name: String) async throws {
        let sound = try await recording.sound()
        for (from, to) in [(1.0, 9.0), (10, 18), (19, 27)] {
            for tone in [440.0, 880] {
                // Each host sends a quarter of full scale, 12 dB down, and is brought to -16 LUFS: a tone on two channels
                // measures 0.7 less than its level, by BS.1770, and up to half a decibel more at these frequencies.
                let level = sound.toneLevel(frequency: tone, from: from, to: to)
                #expect(abs(level + 15.5) < 1, "\(name): \(tone) Hz at \(level) dB")
            }
            #expect(sound.toneLevel(frequency: 1500, from: from, to: to) < -50, "\(name)")
        }
        let silences = sound.silences().filter { $0.lowerBound > 0.1 && $0.upperBound < sound.duration - 0.1 }
        #expect(silences.isEmpty, "\(name): silent in \(silences)")
        #expect(sound.peak < -0.9, "\(name): \(sound.peak) dB")
    }
}
