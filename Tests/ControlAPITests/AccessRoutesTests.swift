import ControlAPI
import Foundation
import Stage
import Testing

@Suite("Who may ask for what")
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
        ("POST", "/v1/rooms/show/invitations"), ("GET", "/v1/invitations/IN1"), ("POST", "/v1/invitations/IN1/accept"),
        ("POST", "/v1/invitations/IN1/reject"), ("POST", "/v1/invitations/IN1/cancel"),
    ]

    @Test("Without a good token every route answers 401, and says how to get in")
    func noToken() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let foreign = await AccessTokens(signingKey: [UInt8](repeating: 8, count: 32), kid: "k1")
            let forged = try await foreign.mintOperator(expiresIn: 60)
            let late = try await server.tokens.mintOperator(expiresIn: -60)
            for (method, path) in Self.routes {
                let answer = try await server.ask(method, path, as: .nobody)
                #expect(answer.refusal == "401/20101", "\(method) \(path)")
                #expect(answer.headers["www-authenticate"] == "Bearer")
                #expect(try await server.ask(method, path, as: .token(forged)).refusal == "401/20107")
                #expect(try await server.ask(method, path, as: .token(late)).refusal == "401/20104")
            }
            let basic = try await server.ask(
                "GET",
                "/v1/rooms",
                as: .nobody,
                headers: ["Authorization": "Basic b3A6b3A="]
            )
            #expect(basic.refusal == "401/20101")
            #expect(try await server.ask("GET", "/v1/rooms?token=\(late)", as: .nobody).refusal == "401/20101")
        }
    }

    @Test("A participant reads its room, joins as itself in its mode, leaves itself, and nothing else")
    func participant() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            try await server.makeRoom("other")
            _ = try await server.join("show", "ben")
            let ann = ControlServer.Bearer.token(
                try await server.tokens.mint(identity: "ann", room: "show", mode: .receiveOnly, expiresIn: 60)
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
                    try await server.tokens.mint(
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

    @Test("A mixer follows its room and changes nothing; a monitor reads everything and changes nothing")
    func machines() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            try await server.makeRoom("other")
            let mixer = ControlServer.Bearer.token(
                try await server.tokens.mint(identity: "mixer", room: "show", role: .mixer, epoch: 1, expiresIn: 60)
            )
            let monitor = ControlServer.Bearer.token(
                try await server.tokens.mint(
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
        "A relay and a maker of stills may play, and read and change nothing",
        arguments: [AccessRole.relay, .thumbnail]
    )
    func players(role: AccessRole) async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            for room in [nil, "show"] {
                let expiresAt = Date().timeIntervalSince1970 + 60
                let claims = AccessClaims(identity: "box", role: role, room: room, expiresAt: expiresAt)
                let bearer = ControlServer.Bearer.token(try await server.tokens.mint(claims))
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
