import FootlightTesting
import Foundation
import Media
import Stage
import TestSupport
import Testing

@Suite("Preview of a room that is backstage", .enabled(if: TestRun.isFull), .serialized, .timeLimit(.minutes(3)))
struct PreviewTests {
    @Test("shows its director what will be on air, the hosts each other, and the audience nothing before it is live")
    func preview() async throws {
        let stage = try await RoomFixture(room: "talk")
        let (gateway, folder) = (stage.gateway, stage.folder)
        try await stage.expect(200, "POST", "/v1/rooms/talk/stop_live")
        let (red, blue) = (try await stage.join("red"), try await stage.join("blue"))
        try await stage.expect(200, "PUT", stage.path("participants/red/sound"), ["return_feed": true])
        let hosts = [
            try stage.publish(try await stage.clip(HostScript(.red, tone: 440)), as: red),
            try stage.publish(try await stage.clip(HostScript(.blue, tone: 660)), as: blue),
        ]
        try await stage.waitUntilOnAir()
        let tiles = [try #require(try await stage.tile(of: red)), try #require(try await stage.tile(of: blue))]
        func monitor(_ room: String) async throws -> String {
            let body: JSONValue = ["identity": "director", "role": "monitor", "room": .string(room), "expires_in": 600]
            return try #require(try await stage.expect(201, "POST", "/v1/tokens", body)["token"].string)
        }
        let token = try await monitor("talk")

        // The director, by every protocol.
        let preview = gateway.rtmpURL(room: "talk.preview") + "?token=\(token)"
        let rtmp = try FFmpeg.record(preview, seconds: 6, to: folder.file("preview.mkv"))
        let flv = gateway.flvURL(room: "talk.preview") + "?token=\(token)"
        let curl = try StreamRecorder.curl(flv, seconds: 8, to: folder.file("preview.flv"))
        let program = try FFmpeg.record(gateway.rtmpURL(room: "talk"), seconds: 6, to: folder.file("program.mkv"))
        let own = try await gateway.issueToken(room: "talk", identity: "red", mode: "SEND_AND_RECV")
        let feed = gateway.rtmpURL(room: "talk.return.red") + "?token=\(own)"
        let returned = try FFmpeg.record(feed, seconds: 6, to: folder.file("return.mkv"))

        let watched = try await rtmp.finish()
        #expect(watched.video?.width == 640 && watched.video?.height == 360)
        try await expect(watched, tiles, [.red, .blue], at: 5.5)
        try await expectTones(watched, [440: true, 660: true], from: 2, to: 5.5)
        try await expect(try await curl.finish(), tiles, [.red, .blue], at: 5.5)

        // The audience has the slate in silence, and the host the other one beside itself, without its own tone.
        let seen = try await program.finish()
        let (left, right) = (
            try await seen.frame(at: 5.5).colour(of: tiles[0]), try await seen.frame(at: 5.5).colour(of: tiles[1])
        )
        #expect(left.distance(to: .background) < 30 && right.distance(to: .background) < 30, "\(left) \(right)")
        try await expectTones(seen, [440: false, 660: false], from: 0.5, to: 5.5)
        let other = try await returned.finish()
        try await expect(other, tiles, [.red, .blue], at: 5.5)
        try await expectTones(other, [440: false, 660: true], from: 2, to: 5.5)

        // By HLS, which the dashboard plays.
        let playlist = "/live/talk.preview/index.m3u8?token=\(token)"
        let port = gateway.endpoints.httpPort
        let isPlayable = try await eventually(within: .seconds(20), every: .milliseconds(300)) {
            try await gateway.request("GET", port: port, playlist).status == 200
        }
        #expect(isPlayable)
        let hls = try FFmpeg.record("http://127.0.0.1:\(port)\(playlist)", seconds: 4, to: folder.file("hls.mkv"))
        let streamed = try await hls.finish()
        try await expect(
            streamed,
            tiles,
            [.red, .blue],
            at: (streamed.packets(.video).last?.presentationTime ?? 0) - 0.5
        )
        try await expectTones(streamed, [440: true, 660: true])

        // As an image.
        let image = try await image(of: stage)
        for (tile, colour) in zip(tiles, [Colour.red, .blue]) {
            let shown = try #require(image).colour(of: tile)
            #expect(shown.distance(to: colour) < 40, "the image: \(shown)")
        }

        try await expectRefusals(in: stage, others: [own, try await monitor("other")])
        let watching = try await stage.expect(200, "GET", "/v1/rooms/talk")["counts"]["audience"].int
        #expect(watching ?? 9 <= 1, "the preview is counted")

        try await expectTakeover(in: stage, preview: preview, feed: feed, tiles: tiles)
        let isPublishing = hosts.allSatisfy(\.isRunning)
        #expect(isPublishing)
    }

    /// Expects that going live ends the preview, and that the program and the return feed go on with the hosts.
    private func expectTakeover(
        in stage: RoomFixture,
        preview: String,
        feed: String,
        tiles: [TileRectangle]
    ) async throws {
        let (gateway, folder) = (stage.gateway, stage.folder)
        let last = try FFmpeg.record(preview, seconds: 30, to: folder.file("last.mkv"))
        let returned = try StreamRecorder.rtmpdump(feed, seconds: 7, to: folder.file("through.flv"))
        try await Task.sleep(for: .seconds(3))
        try await stage.expect(200, "POST", "/v1/rooms/talk/go_live")
        #expect(try await last.child.wait(.seconds(10)) != nil, "the preview goes on")
        let program = try FFmpeg.record(gateway.rtmpURL(room: "talk"), seconds: 4, to: folder.file("live.mkv"))
        let live = try await program.finish()
        try await expect(live, tiles, [.red, .blue], at: 3.5)
        try await expectTones(live, [440: true, 660: true], from: 2, to: 3.8)
        #expect(live.video?.width == 1280)
        // The feed changes to the program's video, and goes on with the other host's audio.
        let through = try await returned.finish()
        #expect(through.backwardSteps == 0 && through.largestGap(.audio) < 0.1 && through.largestGap(.video) < 0.3)
        #expect(try await through.decodedAudio().silences(below: -40, longerThan: 0.1).allSatisfy { $0.upperBound < 1 })
        try await expect(through, tiles, [.red, .blue], at: through.duration(.video) - 0.5)
        #expect(try await isRefused(preview, in: stage))
        let image = try await gateway.api("GET", stage.path("preview.jpg"))
        #expect(image.status == 404)
    }

    /// Expects that nobody but an operator or monitor of the room gets the preview.
    private func expectRefusals(in stage: RoomFixture, others: [String]) async throws {
        let gateway = stage.gateway
        let queries = [""] + others.map { "?token=\($0)" }
        for query in queries {
            #expect(try await isRefused(gateway.rtmpURL(room: "talk.preview") + query, in: stage), "\(query)")
            for path in ["/live/talk.preview.flv", "/live/talk.preview/index.m3u8"] {
                let reply = try await gateway.request("GET", port: gateway.endpoints.httpPort, path + query)
                #expect(reply.status == 403, "\(path)\(query): \(reply.status)")
            }
        }
        let sid = "media.m3u8?sid=AAAAAAAAAAAAAAAAAAAAAAAA"
        let reply = try await gateway.request("GET", port: gateway.endpoints.httpPort, "/live/talk.preview/\(sid)")
        #expect(reply.status == 403)
        let image = try await gateway.request("GET", port: gateway.endpoints.httpPort, stage.path("preview.jpg"))
        #expect(image.status == 401)
    }

    /// Returns the image of the preview, as soon as there is one.
    private func image(of stage: RoomFixture) async throws -> RGBFrame? {
        let url = "http://127.0.0.1:\(stage.gateway.endpoints.httpPort)" + stage.path("preview.jpg?width=640")
        let bearer = "Authorization: Bearer " + (try stage.gateway.operatorToken)
        let file = stage.folder.file("preview.jpg")
        let isThere = try await eventually(within: .seconds(15), every: .milliseconds(300)) {
            let child = try ChildProcess(["curl", "-sS", "--fail", "-o", file, "-H", bearer, url])
            return try await child.wait(.seconds(10)) == .code(0)
        }
        guard isThere else { return nil }
        return try await Recording(path: file).frame(at: 0)
    }

    private func expect(
        _ recording: Recording,
        _ tiles: [TileRectangle],
        _ colours: [Colour],
        at time: Double
    ) async throws {
        let frame = try await recording.frame(at: time)
        for (tile, colour) in zip(tiles, colours) {
            let shown = frame.colour(of: tile)
            #expect(shown.distance(to: colour) < 40, "\(recording.path) at \(time) s: \(shown)")
        }
    }

    private func expectTones(
        _ recording: Recording,
        _ tones: [Double: Bool],
        from: Double = 1,
        to: Double? = nil
    ) async throws {
        let audio = try await recording.decodedAudio()
        for (tone, isHeard) in tones {
            let level = audio.toneLevel(frequency: tone, from: from, to: to)
            #expect(isHeard ? abs(level + 12) < 1.5 : level < -50, "\(recording.path): \(level) dB of \(tone) Hz")
        }
    }

    /// Returns whether a player of the URL is refused.
    private func isRefused(_ url: String, in stage: RoomFixture) async throws -> Bool {
        let player = try FFmpeg.record(url, seconds: 1, to: stage.folder.file("\(UUID().uuidString).mkv"))
        let exit = try await player.child.wait(.seconds(20))
        player.child.end()
        return exit != nil && exit != .code(0)
    }
}
