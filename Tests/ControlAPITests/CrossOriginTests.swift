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
            #expect(preflight.status == 404)
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
