import FootlightTesting
import Foundation
import Stage
import Testing

@Suite("What is taken from a host's encoder", .serialized, .timeLimit(.minutes(2)))
struct PublishedTracksTests {
    @Test("T3b of a host with a session the published microphone is heard and the camera that it sends is not seen")
    func published() async throws {
        let stage = try await FaultStage(room: "taken")
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

        let isTold = try await eventually(within: .seconds(10), every: .milliseconds(200)) {
            let ada = try await stage.expect(200, "GET", stage.path("participants/ada"))
            return ada["discarded"].elements.compactMap(\.string) == ["mic", "camera"] && ada["tracks"].elements.isEmpty
        }
        #expect(isTold && events.standardOutput.contains(#""discarded":["mic","camera"]"#))
        let mic = try await gateway.api(
            "PUT",
            stage.path("participants/ada/tracks/mic"),
            ["kind": "audio"],
            token: token
        )
        #expect(mic.status < 300, "\(mic.text)")
        try await stage.waitUntilOnAir()
        try await Task.sleep(for: .seconds(2))
        let heard = try await record(stage, "heard.flv")
        #expect(try await heard.sound().toneLevel(frequency: 440, from: 1, to: 3) > -40)
        let unseen = try #require(try await heard.pictures(at: [2]).first)
        let middle = TileRectangle(x: 100, y: 60, width: 1080, height: 160)
        #expect(unseen.colour(of: middle).distance(to: .red) > 100, "\(unseen.colour(of: middle))")

        // Once it is published the picture is there with the next key picture.
        let path = stage.path("participants/ada/tracks/camera")
        #expect(try await gateway.api("PUT", path, ["kind": "video"], token: token).status < 300)
        try await Task.sleep(for: .seconds(4))
        let shown = try #require(try await record(stage, "seen.flv").pictures(at: [2]).first)
        #expect(shown.colour(of: middle).distance(to: .red) < 80, "\(shown.colour(of: middle))")
        let ada = try await stage.expect(200, "GET", stage.path("participants/ada"))
        #expect(ada["discarded"].elements.isEmpty && ada["tracks"].elements.count == 2)
        host.end()
        events.end()
    }

    private func record(_ stage: FaultStage, _ name: String) async throws -> Recording {
        try await FFmpeg.record(stage.gateway.flvURL(room: stage.room), seconds: 4, to: stage.folder.file(name))
            .finish()
    }
}
