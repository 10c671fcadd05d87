import FootlightTesting
import Foundation
import TestSupport
import Testing

@Suite("Consistency of the viewer count", .enabled(if: TestRun.isFull), .serialized, .timeLimit(.minutes(2)))
struct ViewerCountConsistencyTests {
    @Test("V10 V11 V13 room, report, totals and events agree for every player and token, and a host does not count")
    func agreement() async throws {
        let stage = try await RoomFixture(room: "show")
        let gateway = stage.gateway
        let follower = try follow(stage, "events", token: try gateway.operatorToken)
        let ada = try await join("ada", "SEND_AND_RECV", stage)
        let clip = try await stage.clip(HostScript(.red, tone: 440))
        let key = ada.answer["ingest"]["rtmp"]["stream_key"].string ?? ""
        let host = try FFmpeg.host(file: clip, to: gateway.ingestURL(key: key), isLooped: true)
        try await stage.waitUntilOnAir()
        let hosting = try follow(stage, ada.events, token: ada.token)

        // A participant counts from its first connection on, before it plays.
        let eve = try await join("eve", "RECV_ONLY", stage)
        try await expect(0, 0, stage, follower)
        let presence = try follow(stage, eve.events, token: eve.token)
        try await expect(1, 0, stage, follower)
        // Its players do not add to the count.
        var players = [try play(eve.answer["playback"]["rtmp_url"].string ?? "")]
        players.append(try play(gateway.flvURL(room: "show") + "?token=" + eve.token))
        // A token without a join is an anonymous viewer; a host does not count.
        let zoe = try await gateway.issueToken(room: "show", identity: "zoe", mode: "RECV_ONLY")
        players.append(try play(gateway.flvURL(room: "show") + "?token=" + zoe))
        players.append(try play(ada.answer["playback"]["rtmp_url"].string ?? ""))
        try await expect(2, 1, stage, follower)
        try await Task.sleep(for: .seconds(7))
        try await expect(2, 1, stage, follower)

        // A participant that leaves and continues with two players becomes two anonymous viewers.
        let reply = try await gateway.api("DELETE", stage.path("participants/\(eve.sid)"), token: eve.token)
        #expect(reply.status == 204, "\(reply.text)")
        try await expect(3, 3, stage, follower)
        presence.end()

        try await stage.expect(200, "POST", stage.path("participants/\(ada.sid)/mode"), ["mode": "RECV_ONLY"])
        try await expect(4, nil, stage, follower)
        let path = stage.path("participants/\(ada.sid)/mode")
        let back = try await gateway.api("POST", path, ["mode": "SEND_AND_RECV"], token: ada.token)
        #expect(back.status == 200, "\(back.text)")
        try await expect(3, 3, stage, follower)

        for player in players { player.end() }
        try await expect(0, 0, stage, follower)
        host.end()
        hosting.end()
        follower.end()
    }

    private struct Joined {
        var sid: String
        var token: String
        var answer: JSONValue

        /// The path of the participant's own event stream.
        var events: String { "events?participant=\(sid)&session_id=\(answer["session_id"].string ?? "")" }
    }

    private func join(_ identity: String, _ mode: String, _ stage: RoomFixture) async throws -> Joined {
        let token = try await stage.gateway.issueToken(room: stage.room, identity: identity, mode: mode)
        let body: JSONValue = ["identity": .string(identity), "mode": .string(mode)]
        let reply = try await stage.gateway.api("POST", stage.path("participants"), body, token: token)
        #expect(reply.status == 201, "\(reply.text)")
        return Joined(sid: reply.json["participant"]["sid"].string ?? "", token: token, answer: reply.json)
    }

    /// Opens an event stream.
    private func follow(_ stage: RoomFixture, _ part: String, token: String) throws -> ChildProcess {
        let url = "http://127.0.0.1:\(stage.gateway.endpoints.httpPort)" + stage.path(part)
        return try ChildProcess(["curl", "-sN", "-H", "Authorization: Bearer \(token)", url])
    }

    private func play(_ url: String) throws -> ChildProcess {
        try ChildProcess(["ffmpeg", "-nostdin", "-loglevel", "error", "-i", url, "-c", "copy", "-f", "null", "-"])
    }

    /// Waits for the audience count, and expects every source to agree.
    ///
    /// - Parameter anonymous: The expected anonymous viewers; nil for any number.
    private func expect(
        _ audience: Int,
        _ anonymous: Int?,
        _ stage: RoomFixture,
        _ follower: ChildProcess,
        at location: SourceLocation = #_sourceLocation
    ) async throws {
        var seen = ""
        let agrees = try await eventually(within: .seconds(20), every: .milliseconds(250)) {
            let counts = try await stage.expect(200, "GET", "/v1/rooms/\(stage.room)")["counts"]
            let report = try await stage.expect(200, "GET", stage.path("viewership"))
            let totals = try await stage.expect(200, "GET", "/v1/viewership")
            let room = totals["rooms"].elements.first { $0["room"].string == stage.room }
            let update = lastUpdate(follower)
            let figures = [
                counts["audience"].int, report["concurrent_viewers"].int, room?["concurrent_viewers"].int ?? 0,
                update?["counts"]["audience"].int ?? 0, update?["viewership"]["concurrent_viewers"].int ?? 0,
            ]
            seen = "\(figures), anonymous \(counts["anonymous"].text)"
            return figures.allSatisfy { $0 == audience }
                && (anonymous == nil || counts["anonymous"].int == anonymous)
        }
        #expect(agrees, "\(seen)", sourceLocation: location)
    }

    /// Returns the latest viewership event.
    private func lastUpdate(_ follower: ChildProcess) -> JSONValue? {
        guard let text = try? String(contentsOfFile: follower.outputPath, encoding: .utf8) else { return nil }
        let update = text.split(separator: "\n").last { $0.hasPrefix("data:") && $0.contains("\"viewership.updated\"") }
        return update.flatMap { try? JSONDecoder().decode(JSONValue.self, from: Data($0.dropFirst(5).utf8)) }
    }
}
