import Synchronization
import Testing

@Suite("Browsers of other origins")
struct CrossOriginTests {
    private static let app = "https://app.example"

    @Test("A listed origin may ask, is told so, and never with cookies")
    func listed() async throws {
        try await ControlServer.run(allowedOrigins: [Self.app]) { (server) async throws in
            let answer = try await server.ask("GET", "/v1/rooms", headers: ["Origin": Self.app])
            #expect(answer.status == 200)
            #expect(answer.headers["access-control-allow-origin"] == Self.app)
            #expect(answer.headers["access-control-allow-credentials"] == nil)
            #expect(answer.headers["vary"] == "Origin")
            let refused = try await server.ask("GET", "/v1/rooms", as: .nobody, headers: ["Origin": Self.app])
            #expect(refused.refusal == "401/20101")
            #expect(refused.headers["access-control-allow-origin"] == Self.app, "refusals can be read as well")

            let preflight = try await server.ask(
                "OPTIONS",
                "/v1/rooms/show/layout",
                as: .nobody,
                headers: ["Origin": Self.app, "Access-Control-Request-Method": "PUT"]
            )
            #expect(preflight.status == 204)
            #expect(preflight.headers["access-control-allow-origin"] == Self.app)
            #expect(preflight.headers["access-control-allow-methods"]?.contains("PUT") ?? false)
            #expect(preflight.headers["access-control-allow-headers"]?.contains("Authorization") ?? false)
        }
    }

    @Test(
        "An origin is listed whole or not at all",
        arguments: [
            "https://app.example.evil.org", "https://evil-app.example", "http://app.example", "https://app.example:444",
            "https://APP.example", "null", "https://app.exampl",
        ]
    )
    func others(origin: String) async throws {
        try await ControlServer.run(allowedOrigins: [Self.app]) { (server) async throws in
            let answer = try await server.ask("GET", "/v1/rooms", headers: ["Origin": origin])
            #expect(answer.headers["access-control-allow-origin"] == nil)
            #expect(answer.headers["vary"] == "Origin")
            let preflight = try await server.ask(
                "OPTIONS",
                "/v1/rooms",
                as: .nobody,
                headers: ["Origin": origin, "Access-Control-Request-Method": "POST"]
            )
            #expect(preflight.headers["access-control-allow-origin"] == nil)
            #expect(preflight.status == 405)
        }
    }

    @Test("A player in any page may report how it fares, whatever origins are listed", arguments: [[], [app]])
    func reports(listed: [String]) async throws {
        let origins = ["https://player.example"] + listed
        try await ControlServer.run(allowedOrigins: Set(listed)) { (server) async throws in
            for origin in origins {
                // `application/cmcd` is none of the types that a browser sends without asking.
                let preflight = try await server.ask(
                    "OPTIONS",
                    "/v1/cmcd?room=show",
                    as: .nobody,
                    headers: [
                        "Origin": origin, "Access-Control-Request-Method": "POST",
                        "Access-Control-Request-Headers": "content-type",
                    ]
                )
                #expect(preflight.status == 204)
                #expect(["*", origin].contains(preflight.headers["access-control-allow-origin"]))
                #expect(preflight.headers["access-control-allow-methods"]?.contains("POST") ?? false)
                #expect(preflight.headers["access-control-allow-headers"]?.contains("Content-Type") ?? false)
                let headers = ["Origin": origin, "Content-Type": "application/cmcd"]
                let line = "e=t,sta=p,sid=\"a\",v=2\n"
                let answer = try await server.ask("POST", "/v1/cmcd?room=show", line, as: .nobody, headers: headers)
                #expect(answer.status == 204)
                #expect(["*", origin].contains(answer.headers["access-control-allow-origin"]))
            }
            #expect(server.viewership.reports.withLock(\.count) == origins.count)
        }
    }

    @Test("Without a list no origin is told anything")
    func none() async throws {
        try await ControlServer.run { (server) async throws in
            let answer = try await server.ask("GET", "/v1/rooms", headers: ["Origin": Self.app])
            #expect(answer.headers["access-control-allow-origin"] == nil)
        }
    }
}
