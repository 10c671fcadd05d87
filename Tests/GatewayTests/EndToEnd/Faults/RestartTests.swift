import FootlightTesting
import Foundation
import Media
import Stage
import TestSupport
import Testing

@Suite("Kill and restart of the gateway", .enabled(if: TestRun.isFull), .serialized, .timeLimit(.minutes(1)))
struct RestartTests {
    @Test("restores rooms, stream keys, tiles and muted tracks after kill -9")
    func killed() async throws {
        let stage = try await RoomFixture(room: "lasting")
        let gateway = stage.gateway
        let (red, blue) = (try await stage.join("red"), try await stage.join("blue"))
        try await stage.expect(
            200,
            "PUT",
            stage.path("layout"),
            ["auto_switch_on_screen_share": false, "transition_ms": 500, "slates": ["ended": ["text": "Bye"]]]
        )
        try await stage.expect(200, "PUT", stage.path("sound"), ["duck": "pinned", "duck_db": -12])
        try await stage.storeAsset("logo")
        let redClip = try await stage.clip(HostScript(.red, tone: 330))
        let blueClip = try await stage.clip(HostScript(.blue, tone: 500))
        let hosts = [try stage.publish(redClip, as: red), try stage.publish(blueClip, as: blue)]
        #expect(
            try await eventually(every: .milliseconds(100)) {
                let red = try await stage.expect(200, "GET", stage.path("participants/red"))
                let blue = try await stage.expect(200, "GET", stage.path("participants/blue"))
                return red["is_mic_on"].bool == true && blue["is_camera_on"].bool == true
            }
        )
        try await stage.expect(200, "PATCH", stage.path("participants/red/tracks/mic"), ["enabled": false])
        let before = try await stage.expect(200, "GET", "/v1/rooms/\(stage.room)")
        let late = try await stage.join("late")
        try await stage.expect(
            200,
            "PUT",
            stage.path("participants/late/sound"),
            ["gain_db": -6, "return_feed": false]
        )
        try await stage.expect(200, "PATCH", stage.path("participants/late"), ["avatar": "asset:nobody"])

        // At once: acknowledged changes must survive.
        try await gateway.kill9()
        for host in hosts { host.end() }
        let killed = MonotonicTime.now()
        for name in try FileManager.default.contentsOfDirectory(atPath: gateway.dataFolder) {
            let file = FileManager.default.contents(atPath: "\(gateway.dataFolder)/\(name)")
            #expect(file?.range(of: Data(red.key.utf8)) == nil, "a stream key stands in \(name)")
        }
        try await gateway.start(reusesPorts: true)
        let seconds = MonotonicTime.now().seconds(since: killed)
        print("listening", Int(seconds * 1000), "ms after the kill")
        #expect(seconds < 3)

        let after = try await stage.expect(200, "GET", "/v1/rooms/\(stage.room)")
        #expect(after["sid"] == before["sid"] && after["date_created"] == before["date_created"])
        #expect(after["counts"]["hosts"].int == 3)
        let kept = try await stage.expect(200, "GET", stage.path("participants/late"))
        #expect(kept["sid"].string == late.sid)
        #expect(kept["sound"]["gain_db"].double == -6 && kept["avatar"].string == "asset:nobody")
        let layout = try await stage.expect(200, "GET", stage.path("layout"))
        #expect(layout["auto_switch_on_screen_share"].bool == false && layout["transition_ms"].int == 500)
        #expect(layout["slates"]["ended"]["text"].string == "Bye")
        #expect(after["sound"] == before["sound"] && after["sound"]["duck"].string == "pinned")
        #expect(after["was_on_air"].bool == true)
        let assets = try await stage.expect(200, "GET", stage.path("assets"))["assets"].elements
        #expect(assets.map { $0["name"].string } == ["logo"] && assets.first?["content_type"].string == "image/gif")

        let again = [try stage.publish(redClip, as: red), try stage.publish(blueClip, as: blue)]
        try await stage.waitUntilOnAir()
        let path = stage.folder.file("after.mkv")
        // The third host has no media.
        let places = GridLayout.rectangles(count: 3, width: 1280, height: 720)
        #expect(try await stage.tile(of: red) == places[0])
        #expect(try await stage.tile(of: blue) == places[1])
        let recording = try await FFmpeg.record(gateway.rtmpURL(room: stage.room), seconds: 6, to: path).finish()
        let frame = try await recording.frame(at: 5)
        let upper = places.map { TileRectangle(x: $0.x, y: $0.y, width: $0.width, height: $0.height * 2 / 3) }
        #expect(frame.colour(of: upper[0]).distance(to: .red) < 30)
        #expect(frame.colour(of: upper[1]).distance(to: .blue) < 30)
        #expect(frame.colour(of: upper[2]).distance(to: .emptyTile) < 20)
        let audio = try await recording.decodedAudio()
        #expect(abs(audio.toneLevel(frequency: 500, from: 3, to: 5.5) + 12) < 1)
        let muted = audio.toneLevel(frequency: 330, from: 3, to: 5.5)
        #expect(muted < -50, "\(muted) dB")
        #expect(again[0].isRunning && again[1].isRunning)
    }
}
