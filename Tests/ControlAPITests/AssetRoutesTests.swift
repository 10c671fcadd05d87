import GatewayModel
import Stage
import Testing

@testable import ControlAPI

@Suite("Pictures and sounds of a room by HTTP")
struct AssetRoutesTests {
    private static let path = "/v1/rooms/show/assets"
    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1, 2, 3]

    @Test("An operator puts a file there, its mixer reads it as it is, everybody is told, and it goes with a word")
    func life() async throws {
        try await ControlServer.run { (server) async throws in
            let room = try await server.makeRoom()
            #expect(room.links["assets"]?.hasSuffix(Self.path) == true)
            let client = try server.events("/v1/rooms/show/events")
            var events = client.events.makeAsyncIterator()
            _ = await events.next()
            _ = await events.next()

            // What the request calls it counts for nothing.
            let stored = try await server.upload("\(Self.path)/logo", Self.png, type: "text/html")
            #expect(stored.status == 200)
            let asset = try stored.decode(AssetResource.self)
            #expect(asset.name == "logo" && asset.kind == "image" && asset.contentType == "image/png")
            #expect(asset.size == Self.png.count)
            let told = try #require(await events.next())
            #expect(told.name == "asset.stored" && told.data?.asset == asset)
            let list = try await server.ask("GET", Self.path).decode(AssetList.self)
            #expect(list.assets == [asset])

            let mixer = ControlServer.Bearer.token(
                try await server.tokens.mint(identity: "m", room: "show", role: .mixer, expiresIn: 60)
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

    @Test("A large file comes back whole")
    func large() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let sound = Array("OggS".utf8) + (0..<9_000_000).map { UInt8(truncatingIfNeeded: $0 >> 7) }
            #expect(try await server.upload("\(Self.path)/tune", sound, type: "audio/ogg").status == 200)
            let read = try await server.ask("GET", "\(Self.path)/tune")
            #expect(Array(read.data) == sound && read.headers["content-type"] == "audio/ogg")
        }
    }

    @Test("What is of no format, too large, badly named or not the bearer's to put there is refused")
    func refused() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let svg = Array("<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>".utf8)
            let format = try await server.upload("\(Self.path)/logo", svg, type: "image/png")
            #expect(format.refusal == "415/53004" && format.error?.name == "SignalingIncomingMessageInvalidError")
            #expect(try await server.upload("\(Self.path)/logo", [], type: "image/png").refusal == "415/53004")
            let huge = Self.png + Array(repeating: 1, count: 5 * 1_048_576)
            #expect(try await server.upload("\(Self.path)/logo", huge, type: "image/png").refusal == "413/53004")
            let name = try await server.upload("\(Self.path)/a.b", Self.png, type: "image/png")
            #expect(name.refusal == "400/3073" && name.error?.message.hasPrefix("name ") == true)
            #expect(try await server.upload("/v1/rooms/none/assets/a", Self.png, type: "x/y").refusal == "404/53106")

            let ann = ControlServer.Bearer.token(
                try await server.tokens.mint(identity: "ann", room: "show", mode: .sendAndReceive, expiresIn: 60)
            )
            let other = ControlServer.Bearer.token(
                try await server.tokens.mint(identity: "m", room: "other", role: .mixer, expiresIn: 60)
            )
            let mixer = ControlServer.Bearer.token(
                try await server.tokens.mint(identity: "m", room: "show", role: .mixer, expiresIn: 60)
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
