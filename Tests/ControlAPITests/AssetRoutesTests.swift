import FootlightTesting
import Foundation
import FootlightModel
import Stage
import Synchronization
import TestSupport
import Testing

@testable import ControlAPI

@Suite("Asset routes", .enabled(if: TestRun.isFull))
struct AssetRoutesTests {
    private static let path = "/v1/rooms/show/assets"
    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1, 2, 3]

    @Test("An operator uploads an asset, the mixer reads it unchanged, events report it, and it can be deleted")
    func life() async throws {
        try await ControlServer.run { (server) async throws in
            let room = try await server.makeRoom()
            #expect(room.links["assets"]?.hasSuffix(Self.path) == true)
            let client = try server.events("/v1/rooms/show/events")
            var events = client.events.makeAsyncIterator()
            _ = await events.next()
            _ = await events.next()

            // The content type of the request is ignored.
            let stored = try await server.upload("\(Self.path)/logo", Self.png, type: "text/html")
            #expect(stored.status == 200)
            let asset = try stored.decode(AssetResource.self)
            #expect(asset.name == "logo" && asset.kind == "image" && asset.contentType == "image/png")
            #expect(asset.size == Self.png.count)
            let received = try #require(await events.next())
            #expect(received.name == "asset.stored" && received.data?.asset == asset)
            let list = try await server.ask("GET", Self.path).decode(AssetList.self)
            #expect(list.assets == [asset])

            let mixer = ControlServer.Bearer.token(
                try await server.tokens.issue(identity: "m", room: "show", role: .mixer, expiresIn: 60)
            )
            let read = try await server.ask("GET", "\(Self.path)/logo", as: mixer)
            #expect(read.status == 200 && Array(read.data) == Self.png)
            #expect(read.headers["content-type"] == "image/png" && read.headers["x-content-type-options"] == "nosniff")
            #expect(read.headers["content-disposition"] == #"inline; filename="logo.png""#)
            #expect(read.headers["content-length"] == "\(Self.png.count)")
            let tag = try #require(read.headers["etag"])
            let known = try await server.ask("GET", "\(Self.path)/logo", as: mixer, headers: ["If-None-Match": tag])
            #expect(known.status == 304 && known.data.isEmpty)

            #expect(try await server.ask("DELETE", "\(Self.path)/logo").status == 204)
            #expect(await events.next()?.name == "asset.removed")
            #expect(try await server.ask("GET", "\(Self.path)/logo").refusal == "404/404")
            #expect(try await server.ask("DELETE", "\(Self.path)/logo").refusal == "404/404")
            client.close()
        }
    }

    @Test("A large file is returned complete")
    func large() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let audio = Array("OggS".utf8) + (0..<9_000_000).map { UInt8(truncatingIfNeeded: $0 >> 7) }
            #expect(try await server.upload("\(Self.path)/tune", audio, type: "audio/ogg").status == 200)
            let read = try await server.ask("GET", "\(Self.path)/tune")
            #expect(Array(read.data) == audio && read.headers["content-type"] == "audio/ogg")
        }
    }

    @Test("An unknown format, too large a file, an invalid name and an unauthorized upload are refused")
    func refused() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let svg = Array("<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>".utf8)
            let format = try await server.upload("\(Self.path)/logo", svg, type: "image/png")
            #expect(format.refusal == "415/53004" && format.error?.name == "SignalingIncomingMessageInvalidError")
            #expect(try await server.upload("\(Self.path)/logo", [], type: "image/png").refusal == "415/53004")
            let huge = Self.png + Array(repeating: 1, count: 5 * 1_048_576)
            #expect(try await server.upload("\(Self.path)/logo", huge, type: "image/png").refusal == "413/53004")
            let name = try await server.upload("\(Self.path)/.b", Self.png, type: "image/png")
            #expect(name.refusal == "400/3073" && name.error?.message.hasPrefix("name ") == true)
            #expect(try await server.upload("/v1/rooms/none/assets/a", Self.png, type: "x/y").refusal == "404/53106")

            let ann = ControlServer.Bearer.token(
                try await server.tokens.issue(identity: "ann", room: "show", mode: .sendAndReceive, expiresIn: 60)
            )
            let other = ControlServer.Bearer.token(
                try await server.tokens.issue(identity: "m", room: "other", role: .mixer, expiresIn: 60)
            )
            let mixer = ControlServer.Bearer.token(
                try await server.tokens.issue(identity: "m", room: "show", role: .mixer, expiresIn: 60)
            )
            for (bearer, code) in [(ann, "403/20106"), (other, "403/20106"), (mixer, "403/20106")] {
                let answer = try await server.upload("\(Self.path)/logo", Self.png, type: "image/png", as: bearer)
                #expect(answer.refusal == code)
                #expect(try await server.ask("GET", Self.path, as: bearer).refusal == code)
                #expect(try await server.ask("DELETE", "\(Self.path)/logo", as: bearer).refusal == code)
            }
            #expect(try await server.ask("GET", "\(Self.path)/logo", as: ann).refusal == "403/20106")
            #expect(try await server.ask("GET", "\(Self.path)/logo", as: other).refusal == "403/20106")
            #expect(try await server.ask("GET", "\(Self.path)/logo", as: mixer).refusal == "404/404")
            #expect(try await server.ask("GET", Self.path).decode(AssetList.self).assets.isEmpty)
        }
    }
}

@Suite("Asset and output URLs by role")
struct AssetURLTests {
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
        return .token(try await server.tokens.issue(claims))
    }

    private func mixer(_ server: ControlServer, room: String = "show") async throws -> ControlServer.Bearer {
        .token(try await server.tokens.issue(identity: "mixer", room: room, role: .mixer, epoch: 1, expiresIn: 60))
    }

    @Test("A mixer has the gateway fetch only URLs that its room names")
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

    @Test("Only URLs that an operator put into the layout may be private, never an avatar")
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
            // An operator's change of another field does not make the URL the operator's.
            #expect(try await server.ask("PUT", Self.layout, #"{"theme":"DARK"}"#).status == 200)
            try await ask("admins")
            #expect(server.fetched.withLock { $0["admins"] } == false)
            #expect(try await server.ask("PUT", Self.layout, body("background", "admins")).status == 200)
            try await ask("admins")
            #expect(server.fetched.withLock { $0["admins"] } == true)
        }
    }

    @Test("Outputs of other bearers than operators must be public")
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
