import FootlightTesting
import Foundation
import Media
import Stage
import TestSupport
import Testing

@Suite("Stream keys", .enabled(if: TestRun.isFull), .serialized, .timeLimit(.minutes(2)))
struct StreamKeyTests {
    @Test("refuses wrong keys, revoked keys and unsupported codecs with a status, and closes the connection")
    func refusals() async throws {
        let stage = try await RoomFixture(room: "door")
        let port = stage.gateway.endpoints.rtmpPort
        let host = try await stage.join("host")
        let audience = try await stage.join("audience", mode: "RECV_ONLY")
        #expect(audience.key.isEmpty && !host.key.isEmpty)

        // A well-formed key that was never issued.
        let wrong = "sk_00000000_" + String(repeating: "A", count: 43)
        let unknown = try RawPublisher.attempt(port: port, key: wrong)
        #expect(unknown.text.contains("NetStream.Publish.BadName"), "\(unknown.text)")
        #expect(unknown.text.contains("not known") && unknown.isClosed, "\(unknown.text)")

        // The right key with its last character changed.
        let forged = host.key.dropLast() + (host.key.hasSuffix("B") ? "C" : "B")
        let guess = try RawPublisher.attempt(port: port, key: String(forged))
        #expect(guess.text.contains("NetStream.Publish.BadName") && guess.isClosed, "\(guess.text)")

        // An encoder shows the reason.
        let clip = try await stage.clip(HostScript(.red, tone: 440), seconds: 2)
        let encoder = try FFmpeg.host(file: clip, to: stage.gateway.ingestURL(key: wrong))
        let exit = try await encoder.wait(.seconds(20))
        #expect(exit != nil && exit != .code(0))
        #expect(encoder.standardError.contains("this stream key is not known"), "\(encoder.standardError)")

        // 53404. Enhanced RTMP: a sequence start of HEVC with its FourCC.
        let events = try EventLog(of: stage.room, on: stage.gateway)
        _ = try await events.wait(for: "room.snapshot")
        let hevc = try RawPublisher.attempt(port: port, key: host.key, video: [[0x90] + Array("hvc1".utf8) + [1, 2]])
        #expect(hevc.text.contains("NetStream.Publish.Start"), "\(hevc.text)")
        #expect(hevc.text.contains("NetStream.Publish.Rejected") && hevc.isClosed, "\(hevc.text)")
        #expect(hevc.text.contains("HEVC is not supported") && hevc.text.contains("(53404)"), "\(hevc.text)")
        let failed = try await events.wait(for: "participant.media_failed")
        #expect(failed.data["participant"]["identity"].string == "host")
        #expect(failed.data["error"]["code"].int == 53404)
        #expect(failed.data["error"]["message"].string == "HEVC is not supported")
        #expect(stage.gateway.log.contains("53404"))
        // HEVC by the legacy codec id 12; the same error is not reported again at once.
        let legacy = try RawPublisher.attempt(port: port, key: host.key, video: [[0x1C, 0, 0, 0, 0, 1, 2]])
        #expect(legacy.text.contains("HEVC is not supported") && legacy.isClosed, "\(legacy.text)")
        // Sorenson H.263 by its codec id 2.
        let sorenson = try RawPublisher.attempt(port: port, key: host.key, video: [[0x12, 0, 0, 0, 0]])
        #expect(sorenson.text.contains("Sorenson H.263 is not supported") && sorenson.isClosed, "\(sorenson.text)")
        #expect(try await eventually { events.names(after: failed.id).contains(failed.name) })
        #expect(events.entries.filter { $0.name == failed.name }.count == 2)

        // The key is still valid.
        let good = try stage.publish(clip, as: host)
        #expect(try await eventually { try await isPublishing(host, stage) })

        // A removed host loses its connection and its key.
        try await stage.gateway.api("DELETE", stage.path("participants/\(host.sid)"))
        #expect(try await good.wait(.seconds(20)) != nil)
        let removed = try RawPublisher.attempt(port: port, key: host.key)
        #expect(removed.text.contains("NetStream.Publish.") && removed.isClosed, "\(removed.text)")
        #expect(!removed.text.contains("NetStream.Publish.Start"))

        // An ended room refuses its hosts.
        let second = try await stage.join("second")
        try await stage.expect(200, "POST", "/v1/rooms/\(stage.room)", ["status": "completed"])
        let late = try RawPublisher.attempt(port: port, key: second.key)
        #expect(late.text.contains("NetStream.Publish.Denied") && late.text.contains("ended"), "\(late.text)")
        #expect(late.isClosed)
    }

    @Test("a newer connection replaces the older, and a lost host keeps its tile and its key")
    func sameKey() async throws {
        let stage = try await RoomFixture(room: "keys")
        var clips: [String] = []
        for (colour, tone) in [(Colour.red, 440.0), (.blue, 660), (.green, 880), (.yellow, 1000)] {
            var video = HostVideoScript(colour)
            (video.width, video.height, video.hasMarker) = (640, 360, false)
            clips.append(try await stage.clip(HostScript(video: video, audio: .tone(tone))))
        }
        let (host, other) = (try await stage.join("host"), try await stage.join("other"))
        let steady = try stage.publish(clips[3], as: other)
        let first = try stage.publish(clips[0], as: host)
        try await stage.waitUntilOnAir()
        #expect(try await eventually { try await isPublishing(host, stage) })
        // Longer than the mixer's jitter buffer.
        try await Task.sleep(for: .seconds(1))
        let path = stage.folder.file("program.flv")
        let began = MonotonicTime.now()
        let player = try Players.flv(stage.gateway.flvURL(room: stage.room))
        try await Task.sleep(for: .seconds(2))
        let tile = try #require(try await stage.tile(of: host))
        let steadyTile = try #require(try await stage.tile(of: other))

        let taken = MonotonicTime.now().seconds(since: began)
        let second = try stage.publish(clips[1], as: host)
        #expect(try await first.wait(.seconds(20)) != nil, "the older connection was not ended")
        try await Task.sleep(for: .seconds(2.5))
        #expect(second.isRunning)

        // The connection is lost without an unpublish.
        second.end()
        let lost = MonotonicTime.now().seconds(since: began)
        try await Task.sleep(for: .seconds(4))
        #expect(try await stage.tile(of: host) == tile, "the place on stage was lost")

        let third = try stage.publish(clips[2], as: host)
        let back = MonotonicTime.now().seconds(since: began)
        try await Task.sleep(for: .seconds(3))
        #expect(try await stage.tile(of: host) == tile)
        #expect(third.isRunning && steady.isRunning)
        player.child.end()
        let length = MonotonicTime.now().seconds(since: began)
        try FileManager.default.copyItem(atPath: player.child.outputPath, toPath: path)

        // The recording starts with the cached GOP, ahead of this clock.
        let recording = try await Recording(path: path)
        let lead = recording.duration(.video) - length
        #expect(recording.largestGap(.video) < 0.04 && recording.backwardSteps == 0)
        let frames = try await recording.allFrames(width: 320, height: 180)
        let colours = frames.map { (time: $0.time - lead, colour: $0.colour(of: tile)) }
        // Above the disc of a card.
        let top = TileRectangle(x: tile.x, y: tile.y, width: tile.width, height: tile.height / 5)
        let tops = frames.map { (time: $0.time - lead, colour: $0.colour(of: top)) }
        for frame in frames where frame.time > lead {
            let colour = frame.colour(of: steadyTile)
            #expect(colour.distance(to: .yellow) <= 12, "the other host is \(colour) at \(frame.time - lead) s")
        }
        try checkColours(colours, tops: tops, from: taken, lost: lost, back: back)
    }

    /// Expects red, then the newer connection's blue, which is dimmed two seconds after the loss, then the card, then
    /// green.
    private func checkColours(
        _ colours: [(time: Double, colour: Colour)],
        tops: [(time: Double, colour: Colour)],
        from taken: Double,
        lost: Double,
        back: Double
    ) throws {
        func first(_ colour: Colour, after time: Double) throws -> Double {
            try #require(
                colours.first { $0.time > time && $0.colour.distance(to: colour) <= 12 }?.time,
                "\(colour) does not come after \(time) s"
            )
        }
        let blue = try first(.blue, after: taken)
        // The last frame is dimmed to two fifths.
        let dimmed = try first(Colour(red: 12, green: 20, blue: 80), after: lost)
        let green = try first(.green, after: back)
        print(
            "keys: new frame after \(blue - taken) s, dimmed after \(dimmed - lost) s, back after \(green - back) s"
        )
        #expect(blue - taken < 2)
        #expect((1.5...3).contains(dimmed - lost))
        #expect(green - back < 2)
        // The old frame stays until the new connection's first one.
        let change = colours.filter { $0.time > taken - 1 && $0.time < blue - 0.1 }
        #expect(change.allSatisfy { $0.colour.distance(to: .red) <= 12 })
        #expect(colours.filter { $0.time > green }.allSatisfy { $0.colour.distance(to: .green) <= 12 })
        // The last frame of the lost connection: unchanged, then darkening monotonically, then dark, then the card.
        let left = colours.filter { $0.time > lost && $0.time < green - 0.4 }
        let lastBright = try #require(left.last { $0.colour.distance(to: .blue) <= 12 }?.time)
        #expect((0.1...0.5).contains(dimmed - lastBright), "it dims within \(dimmed - lastBright) s")
        #expect(left.filter { $0.time <= lastBright }.allSatisfy { $0.colour.distance(to: .blue) <= 12 })
        let blues = left.filter { $0.time >= lastBright && $0.time <= dimmed }.map(\.colour.blue)
        #expect(zip(blues, blues.dropFirst()).allSatisfy { Int($1) <= Int($0) + 4 }, "\(blues)")
        let dark = Colour(red: 12, green: 20, blue: 80)
        let card = try #require(
            tops.first { $0.time > dimmed && $0.colour.distance(to: .emptyTile) <= 8 }?.time,
            "no card comes"
        )
        print("keys: card after \(card - lost) s, \(card - lastBright) s after the last unchanged frame")
        #expect((0.7...1.3).contains(card - lastBright))
        let old = left.filter { $0.time > dimmed && $0.time < card - 0.3 }
        #expect(old.allSatisfy { $0.colour.distance(to: dark) <= 12 })
        let waiting = tops.filter { $0.time > card && $0.time < green - 0.4 }
        #expect(!waiting.isEmpty && waiting.allSatisfy { $0.colour.distance(to: .emptyTile) <= 8 })
    }

    private func isPublishing(_ participant: RoomFixture.Participant, _ stage: RoomFixture) async throws -> Bool {
        let participants = try await stage.expect(200, "GET", stage.path("participants"))["participants"].elements
        return participants.contains { $0["sid"].string == participant.sid && $0["is_camera_on"].bool == true }
    }
}
