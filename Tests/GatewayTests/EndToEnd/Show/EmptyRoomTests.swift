import FootlightTesting
import Foundation
import Stage
import Testing

@Suite("A livestream before anybody is on stage", .serialized, .timeLimit(.minutes(1)))
struct EmptyRoomTests {
    @Test("D3 Its output gets the room's own slate without a host; when it is over, so is the program")
    func slate() async throws {
        let stage = try await FaultStage(room: "early")
        try await stage.storeAsset("door", "lime")
        let slates: JSONValue = ["starting_soon": ["image": "asset:door"]]
        try await stage.expect(200, "PUT", stage.path("layout"), ["slates": slates])
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
}
