import FootlightTesting
import Foundation
import Media
import Stage
import Testing

@Suite("A program before anybody is on stage", .serialized, .timeLimit(.minutes(1)))
struct EmptyRoomTests {
    @Test("D3 Its output gets the room's own slate without a host; when it is over, so is the program")
    func slate() async throws {
        let stage = try await slateStage()
        #expect(stage.gateway.mixers(of: stage.room).isEmpty)
        let nginx = try await NginxRTMP()
        let output: JSONValue = ["name": "nginx", "url": .string(nginx.url), "stream_key": "key"]
        try await stage.expect(202, "POST", stage.path("livestream/start"), ["outputs": [output]])
        #expect(try await stage.waitForOutput("nginx", ["connected"]))
        #expect(stage.gateway.mixers(of: stage.room).count == 1)
        #expect(try await eventually(within: .seconds(20)) { try !nginx.recordings.isEmpty })
        let tail = FLVTail(path: try #require(try nginx.recordings.first))
        #expect(try await eventually(within: .seconds(20)) { tail.all.count { $0.isPicture } > 40 })

        try await stage.expect(202, "POST", stage.path("livestream/stop"))
        #expect(try await eventually(within: .seconds(20)) { stage.gateway.mixers(of: stage.room).isEmpty })
        let pushed = try await Recording(path: try #require(try nginx.recordings.first))
        let shown = try await pushed.picture(at: pushed.startTime + 1)
        let whole = TileRectangle(x: 0, y: 0, width: 1280, height: 720)
        #expect(shown.colour(of: whole).distance(to: Colour(red: 0, green: 255, blue: 0)) < 60)
    }

    @Test("A recording and a playlist that were asked for have it, backstage too, until both are stopped")
    func asked() async throws {
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
        let picture = stage.folder.file("snapshot.png")
        let address = "http://127.0.0.1:\(gateway.endpoints.httpPort)" + stage.path("snapshot.png")
        _ = try await ChildProcess.run([
            "curl", "-sSf", "-H", "Authorization: Bearer " + (try gateway.operatorToken), "-o", picture, address,
        ])
        let shown = try await Recording(path: picture).picture(at: 0)
        let middle = shown.averageColour(x: 20, y: 20, width: shown.width - 40, height: shown.height - 40)
        #expect(middle.distance(to: Colour(red: 0, green: 255, blue: 0)) < 60, "\(middle)")

        try await stage.expect(202, "POST", stage.path("recording/stop"))
        try await Task.sleep(for: .seconds(0.5))
        #expect(gateway.mixers(of: stage.room).count == 1)
        try await stage.expect(202, "POST", stage.path("hls/stop"))
        #expect(try await eventually(within: .seconds(10)) { gateway.mixers(of: stage.room).isEmpty })
    }

    @Test("Who comes early to a room with a slate of its own sees it; who watches keeps the program without hosts")
    func waiting() async throws {
        let stage = try await slateStage()
        let gateway = stage.gateway
        let viewer = try Players.flv(gateway.flvURL(room: stage.room))
        #expect(try await viewer.tail.keyPicture(after: .now(), within: .seconds(10)) != nil)
        let ada = try await stage.join("ada")
        #expect(try await gateway.api("DELETE", stage.path("participants/\(ada.sid)")).status == 204)
        // Longer than the idle time, and than a process is given to end.
        try await Task.sleep(for: .seconds(3))
        #expect(try await viewer.tail.keyPicture(after: .now(), within: .seconds(5)) != nil)
        viewer.child.end()
        #expect(try await eventually(within: .seconds(15)) { gateway.mixers(of: stage.room).isEmpty })
    }

    /// A room with an opening slate and nobody in it, on a gateway that ends idle programs soon.
    private func slateStage() async throws -> FaultStage {
        let stage = try await FaultStage(room: "early", environment: ["FOOTLIGHT_ROOM_IDLE": "1"])
        try await stage.storeAsset("door", "lime")
        let slates: JSONValue = ["starting_soon": ["image": "asset:door"]]
        try await stage.expect(200, "PUT", stage.path("layout"), ["slates": slates])
        return stage
    }
}
