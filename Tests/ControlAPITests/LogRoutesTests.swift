import Foundation
import FootlightModel
import Stage
import Testing

@testable import ControlAPI

@Suite("CDN log routes")
struct LogRoutesTests {
    private static let path = "/v1/cdn-logs"

    private func relay(_ server: ControlServer, room: String? = nil) async throws -> String {
        try await server.tokens.issue(
            AccessClaims(
                identity: "edge",
                role: .relay,
                room: room,
                expiresAt: Date().timeIntervalSince1970 + 60
            )
        )
    }

    @Test("A relay uploads logs under its own name, by bearer or password, limited to its room if it is bound to one")
    func taken() async throws {
        try await ControlServer.run { (server) async throws in
            let room = try await server.makeRoom()
            let token = try await relay(server)
            for bearer in [ControlServer.Bearer.token(token), .password(token)] {
                let answer = try await server.ask("POST", Self.path, "{}\n{}\n", as: bearer)
                #expect(try answer.decode(LogReceiptResource.self).taken == 2)
            }
            let compressed = try await server.ask(
                "POST",
                Self.path,
                "zip",
                as: .token(token),
                headers: ["Content-Encoding": "GZIP"]
            )
            #expect(compressed.status == 200)
            for bound in ["show", room.sid] {
                let token = try await relay(server, room: bound)
                #expect(try await server.ask("POST", Self.path, "{}", as: .token(token)).status == 200)
            }
            let pushes = server.logs.pushes
            #expect(pushes.map(\.name) == Array(repeating: "edge", count: 5))
            #expect(pushes.map(\.room) == [nil, nil, nil, "show", "show"])
        }
    }

    @Test("Other bearers and unknown rooms are refused, and bodies are limited")
    func refused() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            func refusal(_ bearer: ControlServer.Bearer, _ body: String = "{}") async throws -> String {
                try await server.ask("POST", Self.path, body, as: bearer).refusal
            }
            #expect(try await refusal(.unauthenticated) == "401/20101")
            #expect(try await refusal(.password("x")) == "401/20101")
            let monitor = try await server.tokens.issue(identity: "m", room: "show", role: .monitor, expiresIn: 60)
            #expect(try await refusal(.token(monitor)) == "403/20106")
            let other = try await relay(server, room: "other")
            #expect(try await refusal(.token(other)) == "403/20106")
            let token = try await relay(server)
            #expect(try await refusal(.token(token), String(repeating: "x", count: 1 << 16 + 1)) == "413/53004")
            let brotli = ["Content-Encoding": "br"]
            let answer = try await server.ask("POST", Self.path, "{}", as: .token(token), headers: brotli)
            #expect(answer.refusal == "400/53004")
            #expect(server.logs.pushes.isEmpty)
            // A password is accepted by no other route.
            let figures = try await server.ask("GET", "/v1/viewership", as: .password(monitor))
            #expect(figures.refusal == "401/20101")
        }
    }
}
