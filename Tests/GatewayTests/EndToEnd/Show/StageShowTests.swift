import FootlightTesting
import Foundation
import Media
import Stage
import Testing

/// A whole show run with nothing but HTTP requests, as an operator with curl would.
///
/// The program is recorded all the while; each command has a window in it that begins one second after the command.
@Suite("A show run by hand", .serialized, .timeLimit(.minutes(3)))
struct StageShowTests {
    /// Left and right of two.
    private static let left = TileRectangle(x: 0, y: 0, width: 636, height: 720)
    private static let right = TileRectangle(x: 644, y: 0, width: 636, height: 720)

    @Test("Mute, camera off, screen, pin, layout, promotion, demotion and the end, each on air within a second")
    func show() async throws {
        let stage = try await FaultStage(room: "stage")
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
        let recorder = try Recorder.curl(gateway.flvURL(room: stage.room), seconds: 70, to: path)
        let tail = FLVTail(path: path)
        var show = ShowTimes()
        try await show.window("both on air", of: 2)

        try await stage.expect(200, "PATCH", stage.path("participants/red/tracks/mic"), ["enabled": false])
        try await show.window("red muted", of: 2)
        #expect(try await overlay(of: red, in: stage) == false)
        try await stage.expect(200, "PATCH", stage.path("participants/red/tracks/mic"), ["enabled": true])
        try await show.window("red heard", of: 2)
        #expect(try await overlay(of: red, in: stage) == true)

        #expect(try await gateway.api("DELETE", stage.path("participants/blue/tracks/camera")).status < 300)
        try await show.window("blue without camera", of: 2)
        // The picture comes back with the encoder's next key picture, two seconds apart at most.
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
        // Of somebody with a session only what is published is taken.
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
        let program = RecordedShow(recording: recording, arrivals: tail.all, times: show)
        try await checkPictures(program)
        try await checkSound(program)
        #expect(recording.backwardSteps == 0 && recording.largestGap(.video) < 0.1)
        checkLog(log)
    }

    // MARK: Steps

    /// A host that says how its colours are made, so that they can be told exactly.
    private func clip(_ colour: Colour, tone: Double, _ stage: FaultStage) async throws -> String {
        var script = HostScript(colour, tone: tone)
        script.picture?.isBT709 = true
        return try await stage.clip(script)
    }

    /// Somebody in the audience with a token, an event stream and heartbeats of their own.
    private struct Spectator {
        let seat: FaultStage.Seat
        let token: String
        let stream: EventLog
        let heartbeats: ChildProcess
    }

    private func audience(_ identity: String, of stage: FaultStage) async throws -> Spectator {
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
            seat: FaultStage.Seat(identity: identity, sid: reply.json["participant"]["sid"].string ?? "", key: ""),
            token: token,
            stream: stream,
            heartbeats: try ChildProcess(["sh", "-c", "while \(beat); do sleep 5; done"])
        )
    }

    /// Invites somebody of the audience on stage, who accepts and changes the mode.
    private func promote(_ spectator: Spectator, in stage: FaultStage) async throws -> FaultStage.Seat {
        let (seat, token) = (spectator.seat, spectator.token)
        let mode: JSONValue = ["mode": "SEND_AND_RECV"]
        let modePath = stage.path("participants/\(seat.identity)/mode")
        let early = try await stage.gateway.api("POST", modePath, mode, token: token)
        #expect(early.status == 403 && early.json["error"]["code"].int == 4065, "\(early.text)")
        let invited = try await stage.expect(
            201,
            "POST",
            stage.path("invitations"),
            ["identities": [.string(seat.identity)], "mode": "SEND_AND_RECV", "timeout": 30]
        )
        let sid = try #require(invited["invitations"][0]["sid"].string ?? invited["sid"].string, "\(invited.text)")
        let accepted = try await stage.gateway.api("POST", "/v1/invitations/\(sid)/accept", token: token)
        #expect(accepted.status == 200, "\(accepted.text)")
        let changed = try await stage.gateway.api("POST", modePath, mode, token: token)
        #expect(changed.status == 200, "\(changed.text)")
        let key = try #require(changed.json["ingest"]["rtmp"]["stream_key"].string, "\(changed.text)")
        return FaultStage.Seat(identity: seat.identity, sid: seat.sid, key: key)
    }

    private func overlay(of seat: FaultStage.Seat, in stage: FaultStage) async throws -> Bool? {
        let tiles = try await stage.expect(200, "GET", stage.path("layout"))["tiles"].elements
        return tiles.first { $0["participant_sid"].string == seat.sid }?["mic_on"].bool
    }

    private func onAir(_ source: String, of seat: FaultStage.Seat, in stage: FaultStage) async throws {
        let isShown = try await eventually(every: .milliseconds(50)) {
            let tiles = try await stage.expect(200, "GET", stage.path("layout"))["tiles"].elements
            return tiles.contains {
                $0["participant_sid"].string == seat.sid && $0["source"].string == source
            }
        }
        #expect(isShown, "\(seat.identity) never shows a \(source)")
    }

    // MARK: Checks

    private func checkPictures(_ show: RecordedShow) async throws {
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
            for picture in try await show.recording.pictures(at: [range.lowerBound, range.upperBound]) {
                for (tile, colour) in tiles {
                    for part in Self.parts(of: tile, showing: colour) {
                        let seen = picture.colour(of: part)
                        let allowed = colour == .emptyTile ? 8 : 20
                        #expect(
                            seen.distance(to: colour) < allowed,
                            "\(window), at \(picture.time) s: \(seen) at \(part)"
                        )
                    }
                    guard colour == .emptyTile else { continue }
                    // The disc of the card, left of the letter in its middle.
                    let disc = picture.averageColour(x: tile.x + 205, y: tile.y + 290, width: 40, height: 40)
                    #expect(disc.distance(to: .emptyTile) > 30 && disc.distance(to: .blue) > 30, "\(window): \(disc)")
                }
            }
        }
    }

    /// Where a tile has one colour: above the marker, which crosses the lower part; or all around a card's disc and name.
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

    private func checkSound(_ show: RecordedShow) async throws {
        let sound = try await show.recording.sound()
        let expectations: [(window: String, heard: [Double], silent: [Double])] = [
            ("both on air", [330, 500], [700]), ("red muted", [500], [330]), ("red heard", [330, 500], []),
            ("blue without camera", [330, 500], []), ("three on air", [330, 500, 700], []),
            ("blue demoted", [330, 700], [500]),
        ]
        for (window, heard, silent) in expectations {
            let range = try show.range(of: window)
            for (tones, isHeard) in [(heard, true), (silent, false)] {
                for tone in tones {
                    let level = sound.toneLevel(frequency: tone, from: range.lowerBound, to: range.upperBound)
                    #expect(isHeard ? abs(level + 12) < 1 : level < -50, "\(window): \(tone) Hz at \(level) dB")
                }
            }
        }
        let clicks = sound.clicks().filter { $0 > 0.5 }
        #expect(clicks.isEmpty, "clicks at \(clicks)")

        // How long the tone takes to leave: from a level that was all there to one that is no more.
        let muted = try show.command("red muted")
        let levels = stride(from: muted - 0.2, to: muted + 1.2, by: 0.01).map { time in
            (time, sound.toneLevel(frequency: 330, from: time, to: time + 0.02))
        }
        let last = try #require(levels.last { $0.1 > -14 }).0
        let first = try #require(levels.first { $0.0 > last && $0.1 < -35 }).0
        print("the tone leaves", Int((last - muted) * 1000), "ms after the command, within", Int((first - last) * 1000))
        #expect(last - muted < 1 && first - last <= 0.06, "\(levels)")
    }

    private func checkDemotion(_ entries: [EventLog.Entry]) {
        // A pin and the floor, which the demoted host had, are lost on the way.
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
