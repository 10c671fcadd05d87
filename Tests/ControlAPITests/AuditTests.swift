import ControlAPI
import FootlightTesting
import Foundation
import GatewayModel
import Stage
import Testing

@Suite("What is written down")
struct AuditTests {
    @Test("Every command leaves one line with who, what and what came of it; reading leaves none")
    func lines() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            _ = try await server.join("show", "ann")
            _ = try await server.ask("GET", "/v1/rooms/show")
            _ = try await server.ask("DELETE", "/v1/rooms/show/participants/zoe")
            _ = try await server.ask("POST", "/v1/rooms/show", #"{"status":"completed"}"#, as: .nobody)
            let lines = server.log.lines
            try #require(lines.count == 4)
            #expect(lines[0].message == "command done")
            #expect(lines[0].metadata["who"] == "operator" && lines[0].metadata["role"] == "operator")
            #expect(lines[0].metadata["action"]?.hasPrefix("POST ") ?? false)
            #expect(lines[0].metadata["outcome"] == "201")
            #expect(lines[1].metadata["room"] == "show")
            #expect(lines[2].message == "command refused" && lines[2].metadata["code"] == "53204")
            #expect(lines[2].metadata["participant"] == "zoe")
            #expect(lines[3].metadata["code"] == "20101" && lines[3].metadata["who"] == "-")
        }
    }

    @Test("No line holds a key, a token, a query or a body, wherever a client puts them")
    func secrets() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let joined = try await server.join("show", "ann").decode(JoinAnswer.self)
            let key = try #require(joined.ingest?.rtmp.streamKey)
            let output = #"{"url":"rtmp://a.example/live","stream_key":"canary-key"}"#
            _ = try await server.ask("POST", "/v1/rooms/show/livestream/start", #"{"outputs":[\#(output)]}"#)
            _ = try await server.ask("DELETE", "/v1/rooms/show/livestream/outputs/\(key)?x=canary-query")
            _ = try await server.ask("DELETE", "/v1/rooms/show/participants/canary%20word")
            let token = try await server.tokens.mint(identity: "eve", room: "show", mode: .receiveOnly, expiresIn: 60)
            _ = try await server.ask("POST", "/v1/rooms/show/livestream/stop", as: .token(token))
            _ = try await server.ask("POST", "/v1/rooms?access_token=\(token)", as: .nobody)
            let text = server.log.lines.map { "\($0)" }.joined(separator: "\n")
            #expect(server.log.lines.count == 7)
            for secret in ["canary", key, token] { #expect(!text.contains(secret), "\(secret)") }
        }
    }
}
