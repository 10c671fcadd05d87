import FootlightTesting
import Foundation
import Testing

@Suite("A room with so many places", .serialized, .timeLimit(.minutes(2)))
struct LimitedAudienceTests {
    @Test("Q11 of players that come at once only so many play; others are told 53105, until somebody goes")
    func limited() async throws {
        let stage = try await FaultStage(room: "show", audience: 2)
        let gateway = stage.gateway
        let clip = try await stage.clip(HostScript(.red, tone: 440))
        let host = try stage.publish(clip, as: try await stage.join("ann"))
        try await stage.waitUntilOnAir()

        let players = try (0..<4).map { _ in try play(gateway.flvURL(room: "show")) }
        let refused = try await eventually(within: .seconds(5), every: .milliseconds(100)) {
            players.count { !$0.isRunning } == 2
        }
        #expect(refused)
        #expect(
            try await eventually(within: .seconds(10), every: .milliseconds(250)) { try await audience(stage) == 2 }
        )
        #expect(players.count(where: \.isRunning) == 2)

        for url in [gateway.flvURL(room: "show"), gateway.hlsURL(room: "show")] {
            let answer = try await get(url)
            #expect(answer.contains("409 Conflict") && answer.contains("53105"), "\(answer)")
            #expect(answer.contains("Room contains too many Participants"), "\(answer)")
        }
        let late = try play(gateway.rtmpURL(room: "show"))
        #expect(try await eventually(within: .seconds(5), every: .milliseconds(100)) { !late.isRunning })
        let told = late.standardError
        #expect(told.contains("53105"), "\(told)")
        let joined = try await gateway.api(
            "POST",
            stage.path("participants"),
            ["identity": "eve", "mode": "RECV_ONLY"],
            token: try gateway.operatorToken
        )
        #expect(joined.status == 409 && joined.text.contains("53105"), "\(joined.text)")

        players.first(where: \.isRunning)?.end()
        let isFree = try await eventually(within: .seconds(3), every: .milliseconds(100)) {
            try await get(gateway.hlsURL(room: "show")).contains("200 OK")
        }
        #expect(isFree)
        let next = try play(gateway.rtmpURL(room: "show"))
        #expect(
            try await eventually(within: .seconds(10), every: .milliseconds(250)) { try await audience(stage) == 2 }
        )
        #expect(next.isRunning)
        for player in players + [next, late] { player.end() }
        host.end()
    }

    private func audience(_ stage: FaultStage) async throws -> Int? {
        try await stage.expect(200, "GET", "/v1/rooms/\(stage.room)")["counts"]["audience"].int
    }

    private func get(_ url: String) async throws -> String {
        let asked = try ChildProcess(["curl", "-si", "--max-time", "2", "--max-filesize", "4096", url])
        _ = try await asked.wait(.seconds(5))
        return asked.standardOutput
    }

    private func play(_ url: String) throws -> ChildProcess {
        try ChildProcess(["ffmpeg", "-nostdin", "-loglevel", "verbose", "-i", url, "-c", "copy", "-f", "null", "-"])
    }
}
