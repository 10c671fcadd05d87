import FootlightTesting
import Foundation
import Media
import Stage
import TestSupport
import Testing

@Suite("Program without hosts", .enabled(if: TestRun.isFull), .serialized, .timeLimit(.minutes(1)))
struct EmptyRoomTests {
    @Test("D3 an output receives the room's slate without a host, and its end stops the program")
    func slate() async throws {
        let stage = try await slateStage()
        #expect(stage.gateway.mixers(of: stage.room).isEmpty)
        let nginx = try await NginxRTMP()
        let output: JSONValue = ["name": "nginx", "url": .string(nginx.url), "stream_key": "key"]
        try await stage.expect(202, "POST", stage.path("livestream/start"), ["outputs": [output]])
        #expect(try await stage.waitForOutput("nginx", ["connected"]))
        #expect(stage.gateway.mixers(of: stage.room).count == 1)
        #expect(try await eventually(within: .seconds(20)) { try !nginx.recordings.isEmpty })
        let tail = FLVFollower(path: try #require(try nginx.recordings.first))
        #expect(try await eventually(within: .seconds(20)) { tail.all.count { $0.isVideo } > 40 })

        try await stage.expect(202, "POST", stage.path("livestream/stop"))
        #expect(try await eventually(within: .seconds(20)) { stage.gateway.mixers(of: stage.room).isEmpty })
        let pushed = try await Recording(path: try #require(try nginx.recordings.first))
        let shown = try await pushed.frame(at: pushed.startTime + 1)
        let whole = TileRectangle(x: 0, y: 0, width: 1280, height: 720)
        #expect(shown.colour(of: whole).distance(to: Colour(red: 0, green: 255, blue: 0)) < 60)
    }

    @Test("a recording and a playlist by command start the program, also backstage, until both are stopped")
    func startedByCommand() async throws {
        let stage = try await slateStage()
        let gateway = stage.gateway
        try await stage.expect(200, "POST", "/v1/rooms/early/stop_live")
        #expect(try await gateway.api("GET", stage.path("snapshot.jpg")).status == 404)

        try await stage.expect(202, "POST", stage.path("recording/start"))
        try await stage.expect(202, "POST", stage.path("hls/start"))
        var recording: String?
        var hls: String?
        _ = try await eventually(every: .milliseconds(100)) {
            recording = try await stage.expect(200, "GET", stage.path("recording"))["state"].string
            hls = try await stage.expect(200, "GET", stage.path("egress"))["hls"]["state"].string
            return recording == "RECORDING_STARTED" && hls == "HLS_PLAYABLE"
        }
        #expect(recording == "RECORDING_STARTED" && hls == "HLS_PLAYABLE")
        let snapshot = stage.folder.file("snapshot.png")
        let address = "http://127.0.0.1:\(gateway.endpoints.httpPort)" + stage.path("snapshot.png")
        _ = try await ChildProcess.run([
            "curl", "-sSf", "-H", "Authorization: Bearer " + (try gateway.operatorToken), "-o", snapshot, address,
        ])
        let shown = try await Recording(path: snapshot).frame(at: 0)
        let middle = shown.averageColour(x: 20, y: 20, width: shown.width - 40, height: shown.height - 40)
        #expect(middle.distance(to: Colour(red: 0, green: 255, blue: 0)) < 60, "\(middle)")

        try await stage.expect(202, "POST", stage.path("recording/stop"))
        try await Task.sleep(for: .seconds(0.5))
        #expect(gateway.mixers(of: stage.room).count == 1)
        try await stage.expect(202, "POST", stage.path("hls/stop"))
        #expect(try await eventually(within: .seconds(10)) { gateway.mixers(of: stage.room).isEmpty })
    }

    @Test("a starting slate is shown to early viewers, and viewers keep a program without hosts")
    func startingSlate() async throws {
        let stage = try await slateStage()
        let gateway = stage.gateway
        let viewer = try Players.flv(gateway.flvURL(room: stage.room))
        #expect(try await viewer.tail.keyframe(after: .now(), within: .seconds(10)) != nil)
        let ada = try await stage.join("ada")
        #expect(try await gateway.api("DELETE", stage.path("participants/\(ada.sid)")).status == 204)
        // Longer than the idle time and the stop timeout.
        try await Task.sleep(for: .seconds(3))
        #expect(try await viewer.tail.keyframe(after: .now(), within: .seconds(5)) != nil)
        viewer.child.end()
        #expect(try await eventually(within: .seconds(15)) { gateway.mixers(of: stage.room).isEmpty })
    }

    /// Makes an empty room with a starting slate and a short idle time.
    private func slateStage() async throws -> RoomFixture {
        let stage = try await RoomFixture(room: "early", environment: ["FOOTLIGHT_ROOM_IDLE": "1"])
        try await stage.storeAsset("door", "lime")
        let slates: JSONValue = ["starting_soon": ["image": "asset:door"]]
        try await stage.expect(200, "PUT", stage.path("layout"), ["slates": slates])
        return stage
    }
}
