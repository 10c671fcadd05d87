import FootlightTesting
import Foundation
import Media
import Stage
import TestSupport
import Testing

@Suite("End of a room", .enabled(if: TestRun.isFull), .serialized, .timeLimit(.minutes(1)))
struct LingerTests {
    private static let linger = 2
    private static let upper = TileRectangle(x: 0, y: 0, width: 1280, height: 480)

    @Test("shows the ended slate to players and outputs for the linger time, then disconnects them")
    func linger() async throws {
        let stage = try await RoomFixture(room: "last", linger: Self.linger)
        try await stage.storeAsset("bye", "lime")
        let slates: JSONValue = ["ended": ["image": "asset:bye"]]
        try await stage.expect(200, "PUT", stage.path("layout"), ["slates": slates])
        let red = try await stage.join("red")
        let host = try stage.publish(try await stage.clip(HostScript(.red, tone: 330)), as: red)
        try await stage.waitUntilOnAir()
        let nginx = try await NginxRTMP()
        let output: JSONValue = ["name": "nginx", "url": .string(nginx.url), "stream_key": "key"]
        try await stage.expect(202, "POST", stage.path("livestream/start"), ["outputs": [output]])
        #expect(try await stage.waitForOutput("nginx", ["connected"]))

        let path = stage.folder.file("program.flv")
        let viewer = try StreamRecorder.curl(stage.gateway.flvURL(room: stage.room), seconds: 30, to: path)
        let tail = FLVFollower(path: path)
        try await Task.sleep(for: .seconds(2.5))
        let ended = try await stage.expect(200, "POST", "/v1/rooms/\(stage.room)", ["status": "completed"])
        #expect(ended["status"].string == "completed" && ended["linger"].int == Self.linger)
        let command = MonotonicTime.now()
        #expect(viewer.child.isRunning && stage.gateway.mixers(of: stage.room).count == 1)
        #expect(try await host.wait(.seconds(20)) != nil, "who was a host goes on")

        #expect(try await viewer.child.wait(.seconds(20)) == .code(0), "the player is never let go")
        let lingered = MonotonicTime.now().seconds(since: command)
        // Not earlier; the delay after it depends on the machine.
        #expect(lingered > Double(Self.linger) - 0.2 && lingered < Double(Self.linger) + 5, "\(lingered) s")
        #expect(try await eventually { stage.gateway.mixers(of: stage.room).isEmpty })

        // The exit of the process is handled a moment later.
        let isForgotten = try await eventually {
            try await stage.expect(200, "GET", "/v1/rooms/\(ended["sid"].string ?? "")")["degradation"] == .null
        }
        #expect(isForgotten, "the viewership is no longer measured")

        let seen = try await Recording(path: path)
        let position = Double(tail.all.last { $0.isVideo && $0.time <= command }?.timestamp ?? 0) / 1000
        try await check(seen, change: position - seen.startTime)
        #expect(seen.backwardSteps == 0 && seen.largestGap(.video) < 0.1)
        // The output's recording ends with the slate, too.
        let pushed = try await Recording(path: try #require(try nginx.recordings.first))
        let last = try await pushed.frame(at: pushed.duration(.video) - 0.3)
        #expect(last.colour(of: Self.upper).distance(to: Colour(red: 0, green: 255, blue: 0)) < 60)
        print("the program went on for \(lingered) s of \(Self.linger)")
    }

    /// Expects the host until the command, and the slate from then on.
    private func check(_ recording: Recording, change: Double) async throws {
        let end = recording.duration(.video)
        let frames = try await recording.frames(at: [change - 0.1, change + 1, end - 0.1])
        let colours = frames.map { $0.colour(of: Self.upper) }
        #expect(colours[0].distance(to: .red) < 30, "\(colours)")
        for colour in colours.dropFirst() {
            #expect(colour.distance(to: Colour(red: 0, green: 255, blue: 0)) < 60, "\(colours)")
        }
        let audio = try await recording.decodedAudio()
        let before = audio.toneLevel(frequency: 330, from: change - 1, to: change - 0.1)
        let after = audio.toneLevel(frequency: 330, from: change + 1, to: end - 0.1)
        #expect(abs(before + 12) < 1 && after < -50, "\(before) dB, \(after) dB")
    }
}
