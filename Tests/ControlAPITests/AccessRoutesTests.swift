import Foundation
import FootlightModel
import Hummingbird
import Stage
import Synchronization
import FootlightTesting
import TestSupport
import Testing

@testable import ControlAPI

@Suite("Authorization of routes", .enabled(if: TestRun.isFull))
struct AccessRoutesTests {
    private static let routes = [
        ("POST", "/v1/rooms"), ("GET", "/v1/rooms"), ("GET", "/v1/rooms/show"), ("POST", "/v1/rooms/show"),
        ("GET", "/v1/rooms/show/layout"), ("GET", "/v1/rooms/show/participants"),
        ("POST", "/v1/rooms/show/participants"), ("GET", "/v1/rooms/show/participants/ann"),
        ("DELETE", "/v1/rooms/show/participants/ann"), ("POST", "/v1/rooms/show/participants/ann/mode"),
        ("POST", "/v1/rooms/show/livestream/start"), ("POST", "/v1/rooms/show/livestream/stop"),
        ("POST", "/v1/rooms/show/livestream/outputs"), ("DELETE", "/v1/rooms/show/livestream/outputs/a"),
        ("GET", "/v1/rooms/show/egress"), ("GET", "/v1/rooms/show/viewership"), ("GET", "/v1/viewership"),
        ("GET", "/v1/rooms/show/events"), ("GET", "/v1/events?identity=me"),
        ("POST", "/v1/rooms/show/go_live"), ("POST", "/v1/rooms/show/stop_live"), ("PUT", "/v1/rooms/show/layout"),
        ("POST", "/v1/rooms/show/layout/preview"), ("PATCH", "/v1/rooms/show/participants/ann"),
        ("POST", "/v1/rooms/show/participants/ann/heartbeat"), ("POST", "/v1/rooms/show/participants/ann/reconnect"),
        ("PUT", "/v1/rooms/show/participants/ann/pin"), ("DELETE", "/v1/rooms/show/participants/ann/pin"),
        ("PUT", "/v1/rooms/show/participants/ann/tracks/mic"), ("PATCH", "/v1/rooms/show/participants/ann/tracks/mic"),
        ("DELETE", "/v1/rooms/show/participants/ann/tracks/mic"), ("POST", "/v1/rooms/show/hls/start"),
        ("POST", "/v1/rooms/show/hls/stop"), ("POST", "/v1/rooms/show/mixer/report"),
        ("GET", "/v1/rooms/show/talkback"), ("POST", "/v1/rooms/show/talkback"), ("DELETE", "/v1/rooms/show/talkback"),
        ("GET", "/v1/rooms/show/mixer/talkback"),
        ("POST", "/v1/rooms/show/invitations"), ("GET", "/v1/invitations/IN1"), ("POST", "/v1/invitations/IN1/accept"),
        ("POST", "/v1/invitations/IN1/reject"), ("POST", "/v1/invitations/IN1/cancel"),
    ]

    @Test("Without a valid token every route answers 401 with WWW-Authenticate")
    func noToken() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let foreign = await AccessTokens(signingKey: [UInt8](repeating: 8, count: 32), kid: "k1")
            let forged = try await foreign.issueOperator(expiresIn: 60)
            let late = try await server.tokens.issueOperator(expiresIn: -60)
            for (method, path) in Self.routes {
                let answer = try await server.ask(method, path, as: .unauthenticated)
                #expect(answer.refusal == "401/20101", "\(method) \(path)")
                #expect(answer.headers["www-authenticate"] == "Bearer")
                #expect(try await server.ask(method, path, as: .token(forged)).refusal == "401/20107")
                #expect(try await server.ask(method, path, as: .token(late)).refusal == "401/20104")
            }
            let basic = try await server.ask(
                "GET",
                "/v1/rooms",
                as: .unauthenticated,
                headers: ["Authorization": "Basic b3A6b3A="]
            )
            #expect(basic.refusal == "401/20101")
            #expect(try await server.ask("GET", "/v1/rooms?token=\(late)", as: .unauthenticated).refusal == "401/20101")
        }
    }

    @Test("A participant reads its room, joins as itself in its mode, leaves, and nothing else")
    func participant() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            try await server.makeRoom("other")
            _ = try await server.join("show", "ben")
            let ann = ControlServer.Bearer.token(
                try await server.tokens.issue(identity: "ann", room: "show", mode: .receiveOnly, expiresIn: 60)
            )
            #expect(try await server.ask("POST", "/v1/rooms/show/participants", "{}", as: ann).status == 201)
            #expect(try await server.join("show", "ann", "RECV_ONLY", as: ann).status == 201)
            #expect(try await server.join("show", "ann", "SEND_AND_RECV", as: ann).refusal == "403/20106")
            #expect(try await server.join("show", "eve", "RECV_ONLY", as: ann).refusal == "403/20106")
            #expect(try await server.join("other", "ann", "RECV_ONLY", as: ann).refusal == "403/20106")
            for path in ["", "/layout", "/participants", "/participants/ben", "/egress"] {
                #expect(try await server.ask("GET", "/v1/rooms/show\(path)", as: ann).status == 200)
                #expect(try await server.ask("GET", "/v1/rooms/other\(path)", as: ann).refusal == "403/20106")
                #expect(try await server.ask("GET", "/v1/rooms/none\(path)", as: ann).refusal == "403/20106")
            }
            for (method, path) in [
                ("GET", "/v1/rooms"), ("POST", "/v1/rooms"), ("POST", "/v1/rooms/show"), ("GET", "/v1/viewership"),
                ("GET", "/v1/rooms/show/viewership"), ("POST", "/v1/rooms/show/livestream/stop"),
                ("DELETE", "/v1/rooms/show/participants/ben"), ("GET", "/v1/rooms/show/events?participant=ben"),
            ] {
                #expect(
                    try await server.ask(method, path, method == "POST" ? "{}" : nil, as: ann).refusal == "403/20106",
                    "\(method) \(path)"
                )
            }
            #expect(try await server.ask("DELETE", "/v1/rooms/show/participants/ann", as: ann).status == 204)
            let view = try server.directory.room("show")
            #expect(view.participants.map(\.identity) == ["ben"])
        }
    }

    @Test(
        "D37 a participant with the right to stream may start and stop, one with the right over participants may remove"
    )
    func rights() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            _ = try await server.join("show", "ben")
            func token(_ right: String) async throws -> ControlServer.Bearer {
                .token(
                    try await server.tokens.issue(
                        AccessClaims(
                            identity: "boss",
                            role: .participant,
                            room: "show",
                            modes: [.signallingOnly],
                            administers: [right],
                            expiresAt: Date().timeIntervalSince1970 + 60
                        )
                    )
                )
            }
            let streaming = try await token("streaming")
            let participants = try await token("participants")
            let start = #"{"outputs":[{"url":"rtmp://example.org/live","stream_key":"secret"}]}"#
            let path = "/v1/rooms/show/livestream"
            #expect(try await server.ask("POST", "\(path)/start", start, as: participants).refusal == "403/20106")
            #expect(try await server.ask("POST", "\(path)/start", start, as: streaming).status == 202)
            #expect(try await server.ask("POST", "\(path)/stop", as: streaming).status == 202)
            #expect(try await server.ask("GET", "/v1/rooms/show/viewership", as: streaming).status == 200)
            let ben = "/v1/rooms/show/participants/ben"
            #expect(try await server.ask("DELETE", ben, as: streaming).refusal == "403/20106")
            #expect(try await server.ask("DELETE", ben, as: participants).status == 204)
        }
    }

    @Test("A mixer reads its room and a monitor reads every room; neither changes anything")
    func machines() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            try await server.makeRoom("other")
            let mixer = ControlServer.Bearer.token(
                try await server.tokens.issue(identity: "mixer", room: "show", role: .mixer, epoch: 1, expiresIn: 60)
            )
            let monitor = ControlServer.Bearer.token(
                try await server.tokens.issue(
                    AccessClaims(
                        identity: "grafana",
                        role: .monitor,
                        expiresAt: Date().timeIntervalSince1970 + 60
                    )
                )
            )
            for path in ["/v1/rooms/show", "/v1/rooms/show/layout"] {
                #expect(try await server.ask("GET", path, as: mixer).status == 200)
                #expect(try await server.ask("GET", path, as: monitor).status == 200)
            }
            for path in ["/v1/rooms", "/v1/viewership", "/v1/rooms/other/viewership"] {
                #expect(try await server.ask("GET", path, as: mixer).refusal == "403/20106")
                #expect(try await server.ask("GET", path, as: monitor).status == 200)
            }
            #expect(try await server.ask("GET", "/v1/rooms/other", as: mixer).refusal == "403/20106")
            for bearer in [mixer, monitor] {
                #expect(try await server.ask("POST", "/v1/rooms", #"{"unique_name":"x"}"#, as: bearer).status == 403)
                #expect(try await server.join("show", "mixer", as: bearer).refusal == "403/20106")
            }
        }
    }

    @Test(
        "A relay and a thumbnail maker may play, but neither read nor change anything",
        arguments: [AccessRole.relay, .thumbnail]
    )
    func players(role: AccessRole) async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            for room in [nil, "show"] {
                let expiresAt = Date().timeIntervalSince1970 + 60
                let claims = AccessClaims(identity: "box", role: role, room: room, expiresAt: expiresAt)
                let bearer = ControlServer.Bearer.token(try await server.tokens.issue(claims))
                for path in ["/v1/rooms", "/v1/rooms/show", "/v1/rooms/show/layout", "/v1/rooms/show/viewership"] {
                    #expect(try await server.ask("GET", path, as: bearer).refusal == "403/20106", "\(path)")
                }
                #expect(try await server.ask("GET", "/v1/rooms/show/events", as: bearer).refusal == "403/20106")
                #expect(try await server.join("show", "box", as: bearer).refusal == "403/20106")
                #expect(try await server.ask("POST", "/v1/rooms/show/livestream/stop", as: bearer).status == 403)
            }
        }
    }
}

@Suite("Authorization precedes validation")
struct AuthorizationOrderTests {
    /// Public routes.
    private static let open = [
        "/v1/shows/{show}/status", "/v1/shows/{show}/poster", "/v1/shows/{show}/replays/{recording}/media.mp4",
        "/v1/cmcd", "/v1/openapi.yaml",
        "/v1/rooms/{room}/admission",
    ]
    /// Unknown and unauthorized resources are indistinguishable to another room's token.
    private static let hidden = ["/v1/invitations/{"]
    /// Path prefixes that need no token, or have no resources here.
    private static let skipped = ["/snapshot.", "/recordings"]
    private static let names = ["room": "show", "participant": "ann", "track": "mic"]
    private static let badQuery = [
        "page_size", "page_token", "mode", "status", "step", "from", "to", "group_by", "format", "reason", "identity",
        "participant", "picture", "width", "at",
    ].map { "\($0)=%3F" }.joined(separator: "&")

    @Test("A participant of another room receives 403, or 404, whatever the body and the query")
    func outsider() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            try await server.makeRoom("other")
            _ = try await server.join("show", "ann")
            let claims = AccessClaims(
                identity: "eve",
                role: .participant,
                room: "other",
                modes: [.sendAndReceive],
                administers: ["streaming", "participants"],
                expiresAt: Date().timeIntervalSince1970 + 600
            )
            let outsider = ControlServer.Bearer.token(try await server.tokens.issue(claims))
            var asked = 0
            for route in server.routes().openRouter().routes where route.method != .options {
                let pattern = route.path.description
                let isSkipped = Self.skipped.contains { pattern.contains($0) }
                guard pattern.hasPrefix("/v1/"), !Self.open.contains(pattern), !isSkipped else { continue }
                let path = pattern.split(separator: "/").map { part in
                    part.hasPrefix("{") ? Self.names[part.filter { !"{}".contains($0) }] ?? "x" : String(part)
                }
                let takesBody = [.post, .put, .patch].contains(route.method)
                for (query, body) in [("", takesBody ? "{" : nil), ("?\(Self.badQuery)", takesBody ? "[]" : nil)] {
                    let target = "/" + path.joined(separator: "/") + query
                    let answer = try await server.ask(route.method.rawValue, target, body, as: outsider)
                    let isHidden = Self.hidden.contains { pattern.hasPrefix($0) }
                    #expect(answer.status == 403 || isHidden && answer.status == 404, "\(route.method) \(target)")
                    asked += 1
                }
            }
            #expect(asked > 120)
        }
    }
}

@Suite("Cross-origin requests", .enabled(if: TestRun.isFull))
struct CrossOriginTests {
    private static let app = "https://app.example"

    @Test("A listed origin is allowed, without credentials")
    func listed() async throws {
        try await ControlServer.run(allowedOrigins: [Self.app]) { (server) async throws in
            let answer = try await server.ask("GET", "/v1/rooms", headers: ["Origin": Self.app])
            #expect(answer.status == 200)
            #expect(answer.headers["access-control-allow-origin"] == Self.app)
            #expect(answer.headers["access-control-allow-credentials"] == nil)
            #expect(answer.headers["vary"] == "Origin")
            let refused = try await server.ask("GET", "/v1/rooms", as: .unauthenticated, headers: ["Origin": Self.app])
            #expect(refused.refusal == "401/20101")
            #expect(refused.headers["access-control-allow-origin"] == Self.app, "refusals can be read as well")

            let preflight = try await server.ask(
                "OPTIONS",
                "/v1/rooms/show/layout",
                as: .unauthenticated,
                headers: ["Origin": Self.app, "Access-Control-Request-Method": "PUT"]
            )
            #expect(preflight.status == 204)
            #expect(preflight.headers["access-control-allow-origin"] == Self.app)
            #expect(preflight.headers["access-control-allow-methods"]?.contains("PUT") ?? false)
            #expect(preflight.headers["access-control-allow-headers"]?.contains("Authorization") ?? false)
        }
    }

    @Test(
        "Origins match exactly or not at all",
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
                as: .unauthenticated,
                headers: ["Origin": origin, "Access-Control-Request-Method": "POST"]
            )
            #expect(preflight.headers["access-control-allow-origin"] == nil)
            #expect(preflight.status == 204 && preflight.headers["access-control-allow-methods"] == nil)
        }
    }

    @Test("Player reports are accepted from any origin", arguments: [[], [app]])
    func reports(listed: [String]) async throws {
        let origins = ["https://player.example"] + listed
        try await ControlServer.run(allowedOrigins: Set(listed)) { (server) async throws in
            for origin in origins {
                // `application/cmcd` requires a preflight.
                let preflight = try await server.ask(
                    "OPTIONS",
                    "/v1/cmcd?room=show",
                    as: .unauthenticated,
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
                let answer = try await server.ask(
                    "POST",
                    "/v1/cmcd?room=show",
                    line,
                    as: .unauthenticated,
                    headers: headers
                )
                #expect(answer.status == 204)
                #expect(["*", origin].contains(answer.headers["access-control-allow-origin"]))
            }
            #expect(server.viewership.reports.withLock(\.count) == origins.count)
        }
    }

    @Test("Without a list no CORS headers are sent")
    func none() async throws {
        try await ControlServer.run { (server) async throws in
            let answer = try await server.ask("GET", "/v1/rooms", headers: ["Origin": Self.app])
            #expect(answer.headers["access-control-allow-origin"] == nil)
        }
    }
}

@Suite("The audit log")
struct AuditTests {
    @Test("Every command is logged once with bearer, action and outcome; reads are not logged")
    func lines() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            _ = try await server.join("show", "ann")
            _ = try await server.ask("GET", "/v1/rooms/show")
            _ = try await server.ask("DELETE", "/v1/rooms/show/participants/zoe")
            _ = try await server.ask("POST", "/v1/rooms/show", #"{"status":"completed"}"#, as: .unauthenticated)
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

    @Test("No log line contains a key, a token, a query or a body")
    func secrets() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let joined = try await server.join("show", "ann").decode(JoinAnswer.self)
            let key = try #require(joined.ingest?.rtmp.streamKey)
            let output = #"{"url":"rtmp://a.example/live","stream_key":"canary-key"}"#
            _ = try await server.ask("POST", "/v1/rooms/show/livestream/start", #"{"outputs":[\#(output)]}"#)
            _ = try await server.ask("DELETE", "/v1/rooms/show/livestream/outputs/\(key)?x=canary-query")
            _ = try await server.ask("DELETE", "/v1/rooms/show/participants/canary%20word")
            let token = try await server.tokens.issue(identity: "eve", room: "show", mode: .receiveOnly, expiresIn: 60)
            _ = try await server.ask("POST", "/v1/rooms/show/livestream/stop", as: .token(token))
            _ = try await server.ask("POST", "/v1/rooms?access_token=\(token)", as: .unauthenticated)
            let text = server.log.lines.map { "\($0)" }.joined(separator: "\n")
            #expect(server.log.lines.count == 7)
            for secret in ["canary", key, token] { #expect(!text.contains(secret), "\(secret)") }
        }
    }
}
