import Foundation
import FootlightModel
import Stage
import Testing

@testable import ControlAPI

@Suite("The state of the system by API")
struct SystemRoutesTests {
    private func bearer(
        _ server: ControlServer,
        _ role: AccessRole,
        room: String? = nil
    ) async throws -> ControlServer.Bearer {
        let claims = AccessClaims(
            identity: "box",
            role: role,
            room: room,
            modes: role == .participant ? [.receiveOnly] : [],
            expiresAt: Date().timeIntervalSince1970 + 60
        )
        return .token(try await server.tokens.issue(claims))
    }

    @Test("operators and monitors of all rooms read the state; operators alone the log and the diagnostics")
    func rights() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let state = try await server.ask("GET", "/v1/system")
            #expect(try state.decode(SystemResource.self) == ModelSamples.systemResource)
            #expect(state.headers["cache-control"] == "no-store")
            let monitor = try await bearer(server, .monitor)
            #expect(try await server.ask("GET", "/v1/system", as: monitor).status == 200)
            for path in ["/v1/system/events", "/v1/system/diagnostics"] {
                #expect(try await server.ask("GET", path).status == 200)
                #expect(try await server.ask("GET", path, as: monitor).refusal == "403/20106")
            }
            let others = [
                try await bearer(server, .monitor, room: "show"), try await bearer(server, .relay),
                try await bearer(server, .participant, room: "show"),
            ]
            for other in others {
                for path in ["/v1/system", "/v1/system/events", "/v1/system/diagnostics"] {
                    #expect(try await server.ask("GET", path, as: other).refusal == "403/20106", "\(path)")
                }
            }
        }
    }

    @Test("the log is filtered by severity and room; an unknown severity is refused with 3073")
    func events() async throws {
        try await ControlServer.run { (server) async throws in
            let all = try await server.ask("GET", "/v1/system/events").decode(SystemEventList.self)
            #expect(all.events.map(\.level) == ["notice"] && all.events[0].metadata.isEmpty)
            let some = try await server.ask("GET", "/v1/system/events?level=error&room=show")
            let event = try #require(try some.decode(SystemEventList.self).events.first)
            #expect(event.level == "error" && event.metadata == ["room": "show"])
            for level in ["debug", "", "x"] {
                let refused = try await server.ask("GET", "/v1/system/events?level=\(level)")
                #expect(refused.refusal == "400/3073", "\(level)")
            }
            let bundle = try await server.ask("GET", "/v1/system/diagnostics").decode(DiagnosticsResource.self)
            #expect(bundle == ModelSamples.diagnosticsResource)
        }
    }
}
