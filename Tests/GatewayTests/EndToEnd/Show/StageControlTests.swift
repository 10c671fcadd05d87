import FootlightTesting
import Foundation
import Media
import Stage
import TestSupport
import Testing

/// Controls a room with HTTP requests only.
///
/// The program is recorded; each command has a window that starts one second after it.
@Suite("Control of a room by HTTP", .enabled(if: TestRun.isFull), .serialized, .timeLimit(.minutes(3)))
struct StageControlTests {
    /// The left and right tile of two hosts.
    private static let left = TileRectangle(x: 0, y: 0, width: 636, height: 720)
    private static let right = TileRectangle(x: 644, y: 0, width: 636, height: 720)

    @Test("mute, camera, screen, pin, layout, promotion, demotion and the end take effect within a second")
    func show() async throws {
        let stage = try await RoomFixture(room: "stage")
        let (gateway, folder) = (stage.gateway, stage.folder)
        let log = try EventLog(of: stage.room, on: gateway)
        _ = try await log.wait(for: "room.snapshot")
        try await stage.expect(200, "PUT", stage.path("layout"), ["auto_switch_on_screen_share": false])
        let (red, blue) = (try await stage.join("red"), try await stage.join("blue"))
        let carol = try await audience("carol", of: stage)
        let redHost = try stage.publish(try await clip(.red, tone: 330, stage), as: red)
        let blueHost = try stage.publish(try await clip(.blue, tone: 500, stage), as: blue)
        let greenClip = try await clip(.green, tone: 700, stage)
        try await stage.waitUntilOnAir()
        try await Task.sleep(for: .seconds(2))

        let path = folder.file("program.flv")
        let recorder = try StreamRecorder.curl(gateway.flvURL(room: stage.room), seconds: 70, to: path)
        let tail = FLVFollower(path: path)
        var show = CommandTimeline()
        try await show.window("both on air", of: 2)

        try await stage.expect(200, "PATCH", stage.path("participants/red/tracks/mic"), ["enabled": false])
        try await show.window("red muted", of: 2)
        #expect(try await overlay(of: red, in: stage) == false)
        try await stage.expect(200, "PATCH", stage.path("participants/red/tracks/mic"), ["enabled": true])
        try await show.window("red unmuted", of: 2)
        #expect(try await overlay(of: red, in: stage) == true)

        #expect(try await gateway.api("DELETE", stage.path("participants/blue/tracks/camera")).status < 300)
        try await show.window("blue without camera", of: 2)
        // The camera returns at the encoder's next keyframe, within two seconds.
        try await stage.expect(200, "PUT", stage.path("participants/blue/tracks/camera"), ["kind": "video"])
        try await Task.sleep(for: .seconds(2))
        try await show.window("blue with camera", of: 1)

        let screen = try FFmpeg.host(file: greenClip, to: gateway.ingestURL(key: red.key + ".screen"))
        try await onAir("screen", of: red, in: stage)
        try await show.window("red shares", of: 2)
        screen.end()
        try await onAir("camera", of: red, in: stage)
        try await show.window("red with camera", of: 1)

        try await stage.expect(200, "PUT", stage.path("participants/blue/pin"), ["pin_type": "CAM"])
        try await stage.expect(
            200,
            "PUT",
            stage.path("layout"),
            ["type": "SIDEBAR", "priority": "PIN", "auto_switch_on_screen_share": false]
        )
        try await show.window("blue large", of: 2)
        try await stage.expect(200, "PUT", stage.path("layout"), ["type": "GRID", "priority": "SPEAKER"])
        try await show.window("the grid again", of: 1)

        let green = try await promote(carol, in: stage)
        // For a participant with a session only published tracks are used.
        for (name, kind) in [("mic", "audio"), ("camera", "video")] {
            let path = stage.path("participants/carol/tracks/\(name)")
            #expect(try await gateway.api("PUT", path, ["kind": .string(kind)]).status < 300)
        }
        let greenHost = try stage.publish(greenClip, as: green)
        try await onAir("camera", of: green, in: stage)
        try await show.window("three on air", of: 2)

        let before = try #require(log.entries.last).id
        let demoted = try await stage.expect(200, "POST", stage.path("participants/blue/mode"), ["mode": "RECV_ONLY"])
        #expect(demoted["ingest"] == .null && demoted["participant"]["mode"].string == "RECV_ONLY")
        try await show.window("blue demoted", of: 2)
        #expect(try await blueHost.wait(.seconds(20)) != nil, "who was demoted can go on publishing")
        checkDemotion(log.entries.filter { $0.id > before })

        try await stage.expect(200, "POST", "/v1/rooms/\(stage.room)", ["status": "completed"])
        _ = try await log.wait(for: "room.ended")
        #expect(try await eventually { !log.isOpen && !carol.stream.isOpen })
        for host in [redHost, greenHost] { #expect(try await host.wait(.seconds(20)) != nil) }
        recorder.child.end()

        let recording = try await Recording(path: path)
        let program = TimedRecording(recording: recording, arrivals: tail.all, times: show)
        try await checkFrames(program)
        try await checkAudio(program)
        #expect(recording.backwardSteps == 0 && recording.largestGap(.video) < 0.1)
        checkLog(log)
    }

    // MARK: Steps

    /// Encodes a host's clip with an explicit colour matrix.
    private func clip(_ colour: Colour, tone: Double, _ stage: RoomFixture) async throws -> String {
        var script = HostScript(colour, tone: tone)
        script.video?.isBT709 = true
        return try await stage.clip(script)
    }

    /// A participant of the audience with a token, an event stream and heartbeats.
    private struct Spectator {
        let participant: RoomFixture.Participant
        let token: String
        let stream: EventLog
        let heartbeats: ChildProcess
    }

    private func audience(_ identity: String, of stage: RoomFixture) async throws -> Spectator {
        let token = try await ChildProcess.run([
            GatewayProcess.findBinary(), "token", "--data-dir", stage.gateway.dataFolder, "--room", stage.room,
            "--identity", identity, "--mode", "RECV_ONLY",
        ]).trimmingCharacters(in: .whitespacesAndNewlines)
        let reply = try await stage.gateway.api(
            "POST",
            stage.path("participants"),
            ["mode": "RECV_ONLY"],
            token: token
        )
        #expect(reply.status == 201 && reply.json["ingest"] == .null, "\(reply.text)")
        let session = reply.json["session_id"].string ?? ""
        let stream = try EventLog(
            of: stage.room,
            query: "?participant=\(identity)&session_id=\(session)",
            token: token,
            on: stage.gateway
        )
        _ = try await stream.wait(for: "room.snapshot")
        let path = stage.path("participants/\(identity)/heartbeat")
        let url = "http://127.0.0.1:\(stage.gateway.endpoints.httpPort)\(path)"
        let beat = "curl -sS -H 'Authorization: Bearer \(token)' -d '{\"session_id\":\"\(session)\"}' \(url)"
        return Spectator(
            participant: RoomFixture.Participant(
                identity: identity,
                sid: reply.json["participant"]["sid"].string ?? "",
                key: ""
            ),
            token: token,
            stream: stream,
            heartbeats: try ChildProcess(["sh", "-c", "while \(beat); do sleep 5; done"])
        )
    }

    /// Invites a participant of the audience, who accepts and changes the mode.
    private func promote(_ spectator: Spectator, in stage: RoomFixture) async throws -> RoomFixture.Participant {
        let (participant, token) = (spectator.participant, spectator.token)
        let mode: JSONValue = ["mode": "SEND_AND_RECV"]
        let modePath = stage.path("participants/\(participant.identity)/mode")
        let early = try await stage.gateway.api("POST", modePath, mode, token: token)
        #expect(early.status == 403 && early.json["error"]["code"].int == 4065, "\(early.text)")
        let invited = try await stage.expect(
            201,
            "POST",
            stage.path("invitations"),
            ["identities": [.string(participant.identity)], "mode": "SEND_AND_RECV", "timeout": 30]
        )
        let sid = try #require(invited["invitations"][0]["sid"].string ?? invited["sid"].string, "\(invited.text)")
        let accepted = try await stage.gateway.api("POST", "/v1/invitations/\(sid)/accept", token: token)
        #expect(accepted.status == 200, "\(accepted.text)")
        let changed = try await stage.gateway.api("POST", modePath, mode, token: token)
        #expect(changed.status == 200, "\(changed.text)")
        let key = try #require(changed.json["ingest"]["rtmp"]["stream_key"].string, "\(changed.text)")
        return RoomFixture.Participant(identity: participant.identity, sid: participant.sid, key: key)
    }

    private func overlay(of participant: RoomFixture.Participant, in stage: RoomFixture) async throws -> Bool? {
        let tiles = try await stage.expect(200, "GET", stage.path("layout"))["tiles"].elements
        return tiles.first { $0["participant_sid"].string == participant.sid }?["mic_on"].bool
    }

    private func onAir(_ source: String, of participant: RoomFixture.Participant, in stage: RoomFixture) async throws {
        let isShown = try await eventually(every: .milliseconds(50)) {
            let tiles = try await stage.expect(200, "GET", stage.path("layout"))["tiles"].elements
            return tiles.contains {
                $0["participant_sid"].string == participant.sid && $0["source"].string == source
            }
        }
        #expect(isShown, "\(participant.identity) never shows a \(source)")
    }

    // MARK: Checks

    private func checkFrames(_ show: TimedRecording) async throws {
        typealias Expectation = (window: String, tiles: [(TileRectangle, Colour)])
        let large = TileRectangle(x: 320, y: 60, width: 640, height: 400)
        let screen = TileRectangle(x: 40, y: 220, width: 556, height: 280)
        let three = GridLayout.rectangles(count: 3, width: 1280, height: 720)
        let expectations: [Expectation] = [
            ("both on air", [(Self.left, .red), (Self.right, .blue)]),
            ("red muted", [(Self.left, .red), (Self.right, .blue)]),
            ("blue without camera", [(Self.left, .red), (Self.right, .emptyTile)]),
            ("blue with camera", [(Self.left, .red), (Self.right, .blue)]),
            ("red shares", [(screen, .green), (Self.right, .blue)]),
            ("red with camera", [(Self.left, .red), (Self.right, .blue)]),
            ("blue large", [(large, .blue)]),
            ("the grid again", [(Self.left, .red), (Self.right, .blue)]),
            ("three on air", [(three[0], .red), (three[1], .blue), (three[2], .green)]),
            ("blue demoted", [(Self.left, .red), (Self.right, .green)]),
        ]
        for (window, tiles) in expectations {
            let range = try show.range(of: window)
            for frame in try await show.recording.frames(at: [range.lowerBound, range.upperBound]) {
                for (tile, colour) in tiles {
                    for part in Self.parts(of: tile, showing: colour) {
                        let seen = frame.colour(of: part)
                        let allowed = colour == .emptyTile ? 8 : 20
                        #expect(
                            seen.distance(to: colour) < allowed,
                            "\(window), at \(frame.time) s: \(seen) at \(part)"
                        )
                    }
                    guard colour == .emptyTile else { continue }
                    // The card's disc, left of its letter.
                    let disc = frame.averageColour(x: tile.x + 205, y: tile.y + 290, width: 40, height: 40)
                    #expect(disc.distance(to: .emptyTile) > 30 && disc.distance(to: .blue) > 30, "\(window): \(disc)")
                }
            }
        }
    }

    /// The areas of a tile with one colour: above the marker, or around a card's disc and name.
    private static func parts(of tile: TileRectangle, showing colour: Colour) -> [TileRectangle] {
        guard colour == .emptyTile else {
            return [TileRectangle(x: tile.x, y: tile.y, width: tile.width, height: tile.height * 2 / 3)]
        }
        let (width, height) = (tile.width / 4, tile.height / 5)
        return [
            TileRectangle(x: tile.x, y: tile.y, width: tile.width, height: height),
            TileRectangle(x: tile.x, y: tile.y, width: width, height: tile.height),
            TileRectangle(x: tile.x + tile.width - width, y: tile.y, width: width, height: tile.height),
            TileRectangle(x: tile.x, y: tile.y + tile.height - height / 2, width: tile.width, height: height / 2),
        ]
    }

    private func checkAudio(_ show: TimedRecording) async throws {
        let audio = try await show.recording.decodedAudio()
        let expectations: [(window: String, audible: [Double], silent: [Double])] = [
            ("both on air", [330, 500], [700]), ("red muted", [500], [330]), ("red unmuted", [330, 500], []),
            ("blue without camera", [330, 500], []), ("three on air", [330, 500, 700], []),
            ("blue demoted", [330, 700], [500]),
        ]
        for (window, audible, silent) in expectations {
            let range = try show.range(of: window)
            for (tones, isAudible) in [(audible, true), (silent, false)] {
                for tone in tones {
                    let level = audio.toneLevel(frequency: tone, from: range.lowerBound, to: range.upperBound)
                    #expect(isAudible ? abs(level + 12) < 1 : level < -50, "\(window): \(tone) Hz at \(level) dB")
                }
            }
        }
        let clicks = audio.clicks().filter { $0 > 0.5 }
        #expect(clicks.isEmpty, "clicks at \(clicks)")

        // The fade-out time of the tone.
        let muted = try show.command("red muted")
        let levels = stride(from: muted - 0.2, to: muted + 1.2, by: 0.01).map { time in
            (time, audio.toneLevel(frequency: 330, from: time, to: time + 0.02))
        }
        let last = try #require(levels.last { $0.1 > -14 }).0
        let first = try #require(levels.first { $0.0 > last && $0.1 < -35 }).0
        print("the tone leaves", Int((last - muted) * 1000), "ms after the command, within", Int((first - last) * 1000))
        #expect(last - muted < 1 && first - last <= 0.06, "\(levels)")
    }

    private func checkDemotion(_ entries: [EventLog.Entry]) {
        // The demoted host also loses its pin and its role as dominant speaker.
        let names = entries.map(\.name).filter { !["pin.changed", "dominant_speaker.changed"].contains($0) }
        let expected = [
            "track.unpublished", "track.unpublished", "participant.mode_changed", "viewership.updated",
            "layout.changed",
        ]
        #expect(Array(names.prefix(expected.count)) == expected, "\(names)")
        #expect(entries.prefix(2).allSatisfy { $0.data["reason"].string == "mode_changed" })
    }

    private func checkLog(_ log: EventLog) {
        let entries = log.entries
        #expect(entries.first?.name == "room.snapshot" && entries.last?.name == "room.ended")
        #expect(zip(entries, entries.dropFirst()).allSatisfy { $0.id < $1.id }, "\(entries.map(\.id))")
        let names = entries.map(\.name)
        for name in [
            "participant.joined", "track.published", "track.subscribed", "track.disabled", "track.enabled",
            "track.unpublished", "pin.changed", "layout.changed", "invitation.created", "invitation.accepted",
            "participant.mode_changed", "viewership.updated",
        ] {
            #expect(names.contains(name), "no \(name) among \(names)")
        }
    }
}

@Suite("Backstage", .enabled(if: TestRun.isFull), .serialized, .timeLimit(.minutes(1)))
struct BackstageTests {
    @Test("replaces video by a slate and mutes the program within a second, and keeps the hosts connected")
    func backstage() async throws {
        let stage = try await RoomFixture(room: "green")
        let (gateway, folder) = (stage.gateway, stage.folder)
        let red = try await stage.join("red")
        let host = try stage.publish(try await stage.clip(HostScript(.red, tone: 330)), as: red)
        try await stage.waitUntilOnAir()
        try await Task.sleep(for: .seconds(2))

        let path = folder.file("program.flv")
        let recorder = try StreamRecorder.curl(gateway.flvURL(room: stage.room), seconds: 40, to: path)
        let tail = FLVFollower(path: path)
        var times = CommandTimeline()
        try await times.window("on air", of: 1)
        let hidden = try await stage.expect(200, "POST", "/v1/rooms/\(stage.room)/stop_live")
        #expect(hidden["backstage"].bool == true)
        try await times.window("backstage", of: 2)
        let shown = try await stage.expect(200, "POST", "/v1/rooms/\(stage.room)/go_live")
        #expect(shown["backstage"].bool == false)
        try await times.window("on air again", of: 2)
        recorder.child.end()

        let recording = try await Recording(path: path)
        let audio = try await recording.decodedAudio()
        let show = TimedRecording(recording: recording, arrivals: tail.all, times: times)
        let upper = TileRectangle(x: 0, y: 0, width: 1280, height: 480)
        for (window, isOnAir) in [("on air", true), ("backstage", false), ("on air again", true)] {
            let range = try show.range(of: window)
            for frame in try await recording.frames(at: [range.lowerBound, range.upperBound]) {
                let seen = frame.colour(of: upper)
                #expect(seen.distance(to: isOnAir ? .red : .background) < 30, "\(window): \(seen)")
            }
            let level = audio.toneLevel(frequency: 330, from: range.lowerBound, to: range.upperBound)
            #expect(isOnAir ? abs(level + 12) < 1 : level < -50, "\(window): \(level) dB")
        }
        #expect(recording.backwardSteps == 0 && recording.largestGap(.video) < 0.1)
        #expect(host.isRunning)
        #expect(try await stage.expect(200, "GET", stage.path("participants/red"))["status"].string == "connected")
    }
}

@Suite("Published tracks of a host with a session", .enabled(if: TestRun.isFull), .serialized, .timeLimit(.minutes(2)))
struct PublishedTracksTests {
    @Test("T3b plays the published microphone and discards the unpublished camera")
    func published() async throws {
        let stage = try await RoomFixture(room: "taken")
        let gateway = stage.gateway
        let token = try await gateway.issueToken(room: stage.room, identity: "ada", mode: "SEND_AND_RECV")
        let body: JSONValue = ["identity": "ada", "mode": "SEND_AND_RECV"]
        let joined = try await gateway.api("POST", stage.path("participants"), body, token: token).json
        let session = "participant=ada&session_id=\(joined["session_id"].string ?? "")"
        let events = try ChildProcess([
            "curl", "-sN", "-H", "Authorization: Bearer \(token)",
            "http://127.0.0.1:\(gateway.endpoints.httpPort)" + stage.path("events?" + session),
        ])
        let hasSession = try await eventually(within: .seconds(5)) { !events.standardOutput.isEmpty }
        #expect(hasSession)
        let key = joined["ingest"]["rtmp"]["stream_key"].string ?? ""
        let clip = try await stage.clip(HostScript(.red, tone: 440))
        let host = try FFmpeg.host(file: clip, to: gateway.ingestURL(key: key), isLooped: true)

        let isReported = try await eventually(within: .seconds(10), every: .milliseconds(200)) {
            let ada = try await stage.expect(200, "GET", stage.path("participants/ada"))
            return ada["discarded"].elements.compactMap(\.string) == ["mic", "camera"] && ada["tracks"].elements.isEmpty
        }
        #expect(isReported && events.standardOutput.contains(#""discarded":["mic","camera"]"#))
        let mic = try await gateway.api(
            "PUT",
            stage.path("participants/ada/tracks/mic"),
            ["kind": "audio"],
            token: token
        )
        #expect(mic.status < 300, "\(mic.text)")
        try await stage.waitUntilOnAir()
        try await Task.sleep(for: .seconds(2))
        let audioOnly = try await record(stage, "audio-only.flv")
        #expect(try await audioOnly.decodedAudio().toneLevel(frequency: 440, from: 1, to: 3) > -40)
        let audioOnlyFrame = try #require(try await audioOnly.frames(at: [2]).first)
        let middle = TileRectangle(x: 100, y: 60, width: 1080, height: 160)
        #expect(audioOnlyFrame.colour(of: middle).distance(to: .red) > 100, "\(audioOnlyFrame.colour(of: middle))")

        // After its publication the camera appears at the next keyframe.
        let path = stage.path("participants/ada/tracks/camera")
        #expect(try await gateway.api("PUT", path, ["kind": "video"], token: token).status < 300)
        try await Task.sleep(for: .seconds(4))
        let shown = try #require(try await record(stage, "with-video.flv").frames(at: [2]).first)
        #expect(shown.colour(of: middle).distance(to: .red) < 80, "\(shown.colour(of: middle))")
        let ada = try await stage.expect(200, "GET", stage.path("participants/ada"))
        #expect(ada["discarded"].elements.isEmpty && ada["tracks"].elements.count == 2)
        host.end()
        events.end()
    }

    private func record(_ stage: RoomFixture, _ name: String) async throws -> Recording {
        try await FFmpeg.record(stage.gateway.flvURL(room: stage.room), seconds: 4, to: stage.folder.file(name))
            .finish()
    }
}
