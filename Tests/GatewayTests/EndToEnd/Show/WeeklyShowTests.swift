import FootlightTesting
import Foundation
import TestSupport
import Testing

/// A weekly show by the API, with encoders and an output of their own.
@Suite("A weekly show", .enabled(if: TestRun.isFull), .serialized, .timeLimit(.minutes(3)))
struct WeeklyShowTests {
    @Test("two episodes with the same keys: backstage unseen, live, over a restart, recorded, and looked back on")
    func twoEpisodes() async throws {
        let gateway = try await GatewayProcess()
        defer { gateway.end() }
        let folder = try TemporaryFolder("weekly")
        let clip = folder.file("ann.flv")
        try await FFmpeg.encode(HostScript(.red, tone: 440), seconds: 40, to: clip)
        let platform = try await NginxRTMP()
        let show: JSONValue = [
            "name": "weekly", "title": "The weekly", "recording": true, "replay": true,
            "scenes": [["name": "Close up", "layout": ["type": "SPOTLIGHT", "background": ["colour": "#00ff00"]]]],
            "seats": [["identity": "ann", "display_name": "Ann"]],
            "outputs": [["name": "one", "url": .string(platform.url), "stream_key": "platform-key"]],
            "room": ["linger": 1, "program": ["width": 640, "height": 360]],
        ]
        let made = try await gateway.api("POST", "/v1/shows", show)
        try #require(made.status == 201, "\(made.text)")
        let key = try #require(made.json["seats"].elements.first?["ingest"]["rtmp"]["stream_key"].string)

        // A host who comes when nothing is open reads why.
        let early = try FFmpeg.host(file: clip, to: gateway.ingestURL(key: key))
        #expect(try await early.wait(.seconds(20)) != .code(0))
        #expect(early.standardError.contains("No episode of this show is open"), "\(early.standardError)")

        var rooms: Set<String> = []
        for number in 1...2 {
            let planned = try await gateway.api(
                "POST",
                "/v1/shows/weekly/episodes",
                ["title": .string("No. \(number)")]
            )
            #expect(planned.status == 201 && planned.json["number"].int == number)
            try await ask(gateway, "open", state: "backstage")
            var encoder = try FFmpeg.host(file: clip, to: gateway.ingestURL(key: key))
            defer { encoder.end() }
            try await waitForHost(gateway)

            // Backstage: the mixer makes a picture for the hosts, and the audience sees a slate.
            let unseen = try await FFmpeg.record(
                gateway.rtmpURL(room: "weekly"),
                seconds: 3,
                to: folder.file("backstage-\(number).flv")
            ).finish()
            let slate = try await unseen.frame(at: unseen.duration(.video) - 0.2)
            #expect(slate.colour(x: 320, y: 90).distance(to: .red) > 100)
            #expect(try await unseen.decodedAudio().toneLevel(frequency: 440) < -60)
            #expect(try await status(gateway) == "upcoming")
            // The director sees the host; the audience cannot ask for it.
            let image = folder.file("ann-\(number).jpg")
            let address =
                "http://127.0.0.1:\(gateway.endpoints.httpPort)"
                + "/v1/rooms/weekly/participants/ann/snapshot.jpg?width=160&fresh"
            let bearer = "Authorization: Bearer \(try gateway.operatorToken)"
            try await ChildProcess.run(["curl", "-sSf", "--retry", "3", "-o", image, "-H", bearer, address])
            let host = try await Recording(path: image).frame(at: 0)
            #expect(host.width == 160 && host.colour(x: 80, y: 20).distance(to: .red) < 60)
            #expect(
                try await gateway.api("GET", "/v1/rooms/weekly/participants/ann/snapshot.jpg", token: "").status == 401
            )

            let live = try await ask(gateway, "go_live", state: "live")
            let sid = try #require(live["room_sid"].string)
            #expect(rooms.insert(sid).inserted)
            #expect(try await status(gateway) == "live")
            // What was recorded before is not offered now.
            #expect(try await replays(gateway).isEmpty)
            let taken = try await gateway.api("POST", "/v1/shows/weekly/scenes/Close%20up/take")
            #expect(taken.json["type"].string == "SPOTLIGHT", "\(taken.text)")
            try await expectRed(gateway, folder.file("live-\(number).flv"))
            #expect(try await eventually(within: .seconds(15)) { try await output(gateway) == "connected" })
            let doctor = try ChildProcess([GatewayProcess.findBinary(), "doctor", "--data-dir", gateway.dataFolder])
            _ = try await doctor.wait(.seconds(30))
            #expect(
                doctor.standardOutput.contains("1 room, and every host is heard and seen"),
                "\(doctor.standardOutput)"
            )

            if number == 1 {
                #expect(try await gateway.terminate() == .code(0))
                encoder.end()
                try await gateway.start(reusesPorts: true)
                encoder = try FFmpeg.host(file: clip, to: gateway.ingestURL(key: key))
                try await waitForHost(gateway)
                let current = try await gateway.api("GET", "/v1/shows/weekly/episodes/current").json
                #expect(current["state"].string == "live" && current["room_sid"].string == sid)
                try await expectRed(gateway, folder.file("again.flv"))
                #expect(try await eventually(within: .seconds(15)) { try await output(gateway) == "connected" })
            }

            let id = try #require(live["id"].string)
            let end = try await gateway.api("POST", "/v1/shows/weekly/episodes/\(id)/end")
            #expect(end.json["state"].string == "ended" && end.json["end_reason"].string == "ended")
            #expect(try await encoder.wait(.seconds(20)) != nil)
            #expect(try await status(gateway) == "ended")

            // A late viewer may watch the recording, without a token.
            #expect(try await eventually(within: .seconds(10)) { try await !replays(gateway).isEmpty })
            let replay = try await Recording(path: try #require(try await replays(gateway).first))
            #expect(try await replay.frame(at: 6).colour(x: 320, y: 90).distance(to: .red) < 60)

            // What there is to look back on belongs to this episode alone.
            let recorded = try await eventually(within: .seconds(10)) {
                let files = try await gateway.api("GET", "/v1/rooms/\(sid)/recordings").json["recordings"].elements
                return files.count == (number == 1 ? 2 : 1) && files.allSatisfy { $0["state"].string == "completed" }
            }
            let list = try await gateway.api("GET", "/v1/rooms/\(sid)/recordings").text
            #expect(recorded, "\(list)")
            let summary = try await gateway.api("GET", "/v1/rooms/\(sid)/viewership/summary").json
            // Whoever recorded the live picture, once before and once after the restart.
            #expect(summary["joins"].int == (number == 1 ? 2 : 1), "\(summary.text)")
        }
        // It began with the show and ends with the last slate.
        let pushed = try await Recording(path: try #require(try platform.recordings.last))
        let frame = try await pushed.frame(at: 3)
        #expect(frame.colour(x: 320, y: 90).distance(to: .red) < 60)
    }

    @discardableResult
    private func ask(_ gateway: GatewayProcess, _ command: String, state: String) async throws -> JSONValue {
        let answer = try await gateway.api("POST", "/v1/shows/weekly/episodes/current/\(command)")
        #expect(answer.status == 200 && answer.json["state"].string == state, "\(answer.text)")
        return answer.json
    }

    private func status(_ gateway: GatewayProcess) async throws -> String? {
        try await gateway.api("GET", "/v1/shows/weekly/status", token: "").json["state"].string
    }

    private func replays(_ gateway: GatewayProcess) async throws -> [String] {
        try await gateway.api("GET", "/v1/shows/weekly/status", token: "").json["replays"].elements.compactMap {
            $0["url"].string
        }
    }

    private func output(_ gateway: GatewayProcess) async throws -> String? {
        let egress = try await gateway.api("GET", "/v1/rooms/weekly/egress").json
        return egress["livestream"]["outputs"].elements.first?["state"].string
    }

    private func waitForHost(_ gateway: GatewayProcess) async throws {
        let isThere = try await eventually(within: .seconds(20)) {
            let host = try await gateway.api("GET", "/v1/rooms/weekly/participants/ann").json
            return host["is_camera_on"].bool == true
        }
        try #require(isThere)
    }

    private func expectRed(_ gateway: GatewayProcess, _ path: String) async throws {
        let seen = try await FFmpeg.record(gateway.rtmpURL(room: "weekly"), seconds: 9, to: path).finish()
        let end = seen.duration(.video)
        #expect(try await seen.frame(at: end - 0.2).colour(x: 320, y: 90).distance(to: .red) < 60)
        #expect(try await seen.decodedAudio().toneLevel(frequency: 440, from: end - 1) > -40)
    }
}
