import Foundation
import Stage
import Synchronization
import Testing

@testable import ControlAPI

@Suite("Who named an address on the web decides where it may lead")
struct WebAddressTests {
    private static let route = "/v1/rooms/show/mixer/asset?kind=image&url="
    private static let layout = "/v1/rooms/show/layout"

    private func streaming(_ server: ControlServer) async throws -> ControlServer.Bearer {
        let claims = AccessClaims(
            identity: "admin",
            role: .participant,
            room: "show",
            modes: [.sendAndReceive],
            administers: ["streaming"],
            expiresAt: Date().timeIntervalSince1970 + 60
        )
        return .token(try await server.tokens.mint(claims))
    }

    private func mixer(_ server: ControlServer, room: String = "show") async throws -> ControlServer.Bearer {
        .token(try await server.tokens.mint(identity: "mixer", room: room, role: .mixer, epoch: 1, expiresIn: 60))
    }

    @Test("A mixer has the gateway fetch what its room names, and nothing else")
    func named() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            try await server.makeRoom("other")
            let logo = #"{"logo":{"image":"http://a.example/logo.png"}}"#
            #expect(try await server.ask("PUT", Self.layout, logo).status == 200)
            let mixer = try await mixer(server)
            let answer = try await server.ask("GET", Self.route + "http%3A%2F%2Fa.example%2Flogo.png", as: mixer)
            #expect(answer.status == 200 && answer.text == "http://a.example/logo.png")
            let others = Self.route + "http%3A%2F%2Fa.example%2Fother.png"
            #expect(try await server.ask("GET", others, as: mixer).refusal == "404/404")
            let other = try await self.mixer(server, room: "other")
            let named = Self.route + "http%3A%2F%2Fa.example%2Flogo.png"
            #expect(try await server.ask("GET", named, as: other).refusal == "403/20106")
            #expect(try await server.ask("GET", named).refusal == "403/20106")
        }
    }

    @Test("Only what an operator put into the layout may be at a private address, never an avatar")
    func trusted() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let streaming = try await streaming(server)
            let mixer = try await mixer(server)
            @Sendable func ask(_ name: String) async throws {
                let url = "\(Self.route)http%3A%2F%2Fa.example%2F\(name)"
                #expect(try await server.ask("GET", url, as: mixer).status == 200)
            }
            func body(_ field: String, _ name: String) -> String {
                #"{"\#(field)":{"image":"http://a.example/\#(name)"}}"#
            }
            #expect(try await server.ask("PUT", Self.layout, body("logo", "operators")).status == 200)
            #expect(try await server.ask("PUT", Self.layout, body("background", "admins"), as: streaming).status == 200)
            let avatar = #"{"identity":"ada","mode":"SEND_AND_RECV","avatar":"http://a.example/avatar"}"#
            #expect(try await server.ask("POST", "/v1/rooms/show/participants", avatar).status == 201)
            for name in ["operators", "admins", "avatar"] { try await ask(name) }
            #expect(server.fetched.withLock { $0 } == ["operators": true, "admins": false, "avatar": false])
            // What an operator changes beside it does not make it the operator's.
            #expect(try await server.ask("PUT", Self.layout, #"{"theme":"DARK"}"#).status == 200)
            try await ask("admins")
            #expect(server.fetched.withLock { $0["admins"] } == false)
            #expect(try await server.ask("PUT", Self.layout, body("background", "admins")).status == 200)
            try await ask("admins")
            #expect(server.fetched.withLock { $0["admins"] } == true)
        }
    }

    @Test("Outputs that no operator named must be public")
    func outputs() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let streaming = try await streaming(server)
            let path = "/v1/rooms/show/livestream"
            let one = #"{"outputs":[{"name":"one","url":"rtmp://10.0.0.1/live","stream_key":"secret"}]}"#
            #expect(try await server.ask("POST", "\(path)/start", one, as: streaming).status == 202)
            #expect(server.livestreams.targets("show").map(\.mustBePublic) == [true])
            #expect(try await server.ask("POST", "\(path)/stop").status == 202)
            #expect(try await server.ask("POST", "\(path)/start", one).status == 202)
            #expect(server.livestreams.targets("show").map(\.mustBePublic) == [false])
            let two = #"{"name":"two","url":"rtmp://10.0.0.1/live","stream_key":"secret"}"#
            #expect(try await server.ask("POST", "\(path)/outputs", two, as: streaming).status == 202)
            #expect(server.livestreams.targets("show").map(\.mustBePublic) == [false, true])
        }
    }
}
