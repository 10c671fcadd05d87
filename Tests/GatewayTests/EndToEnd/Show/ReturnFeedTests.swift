import Foundation
import Media
import TestSupport
import Testing

@Suite("Return feed of a host", .enabled(if: TestRun.isFull), .serialized, .timeLimit(.minutes(1)))
struct ReturnFeedTests {
    @Test("carries the program's video with the other hosts' audio, for the host only, and is not counted")
    func returnFeed() async throws {
        let stage = try await RoomFixture(room: "talk")
        let gateway = stage.gateway
        let (red, blue) = (try await stage.join("red"), try await stage.join("blue"))
        let hosts = [
            try stage.publish(try await stage.clip(HostScript(.red, tone: 330)), as: red),
            try stage.publish(try await stage.clip(HostScript(.blue, tone: 500)), as: blue),
        ]
        try await stage.waitUntilOnAir()
        let feed = gateway.rtmpURL(room: "talk.return.red")
        let token = try await gateway.issueToken(room: stage.room, identity: "red", mode: "SEND_AND_RECV")
        #expect(try await refusal(of: feed + "?token=\(token)", in: stage), "the feed is not enabled yet")

        let response = try await stage.expect(
            200,
            "PUT",
            stage.path("participants/red/sound"),
            ["return_feed": true]
        )
        #expect(response["sound"]["return_feed"].bool == true, "\(response)")
        let recorder = try FFmpeg.record(feed + "?token=\(token)", seconds: 6, to: stage.folder.file("return.mkv"))
        let program = try FFmpeg.record(
            gateway.rtmpURL(room: "talk"),
            seconds: 6,
            to: stage.folder.file("program.mkv")
        )
        let other = try await gateway.issueToken(room: stage.room, identity: "blue", mode: "SEND_AND_RECV")
        #expect(try await refusal(of: feed, in: stage), "without a token")
        #expect(try await refusal(of: feed + "?token=\(other)", in: stage), "with another host's token")
        let watching = try await stage.expect(200, "GET", "/v1/rooms/talk")["counts"]["audience"].int
        #expect(watching ?? 9 <= 1, "the return feed is counted")

        let received = try await recorder.finish()
        let shown = try await received.frame(at: 4)
        #expect(shown.averageColour(x: 100, y: 100, width: 300, height: 300).distance(to: .red) < 30)
        #expect(shown.averageColour(x: 880, y: 100, width: 300, height: 300).distance(to: .blue) < 30)
        let own = try await received.decodedAudio()
        let (mine, theirs) = (
            own.toneLevel(frequency: 330, from: 2, to: 5.5), own.toneLevel(frequency: 500, from: 2, to: 5.5)
        )
        #expect(mine < -60, "its own tone: \(mine) dB")
        #expect(abs(theirs + 12) < 1, "the other's tone: \(theirs) dB")
        let all = try await program.finish().decodedAudio()
        #expect(abs(all.toneLevel(frequency: 330, from: 2, to: 5.5) + 12) < 1)
        #expect(received.backwardSteps == 0 && received.largestGap(.video) < 0.1)

        // Backstage the hosts still hear each other, and the audience hears none of them.
        try await stage.expect(200, "POST", "/v1/rooms/talk/stop_live")
        try await Task.sleep(for: .seconds(1))
        let talk = try FFmpeg.record(feed + "?token=\(token)", seconds: 4, to: stage.folder.file("talk.mkv"))
        let slate = try FFmpeg.record(gateway.rtmpURL(room: "talk"), seconds: 4, to: stage.folder.file("slate.mkv"))
        // Players start up to two seconds back.
        let (among, outside) = (try await talk.finish().decodedAudio(), try await slate.finish().decodedAudio())
        #expect(among.toneLevel(frequency: 330, from: 2, to: 3.8) < -60)
        #expect(abs(among.toneLevel(frequency: 500, from: 2, to: 3.8) + 12) < 1)
        for tone in [330.0, 500] { #expect(outside.toneLevel(frequency: tone, from: 2, to: 3.8) < -60) }

        // A disabled return feed ends for its players.
        let last = try FFmpeg.record(feed + "?token=\(token)", seconds: 20, to: stage.folder.file("last.mkv"))
        try await Task.sleep(for: .seconds(1.5))
        try await stage.expect(200, "PUT", stage.path("participants/red/sound"), ["return_feed": false])
        #expect(try await last.child.wait(.seconds(20)) != nil)
        #expect(try await refusal(of: feed + "?token=\(token)", in: stage))
        let isPublishing = hosts.allSatisfy(\.isRunning)
        #expect(isPublishing)
    }

    /// Returns whether a player of the URL is refused.
    private func refusal(of url: String, in stage: RoomFixture) async throws -> Bool {
        let player = try FFmpeg.record(url, seconds: 1, to: stage.folder.file("\(UUID().uuidString).mkv"))
        let exit = try await player.child.wait(.seconds(20))
        player.child.end()
        return exit != nil && exit != .code(0)
    }
}
