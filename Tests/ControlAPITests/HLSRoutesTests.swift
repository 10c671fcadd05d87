import ControlAPI
import GatewayModel
import Stage
import Testing

@Suite("HLS by HTTP")
struct HLSRoutesTests {
    private static let path = "/v1/rooms/show/hls"

    @Test("V23 HLS starts, becomes playable with an address, and stops; each command has its refusals")
    func life() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            func egress() async throws -> EgressResource {
                try await server.ask("GET", "/v1/rooms/show/egress").decode(EgressResource.self)
            }
            let before = try await egress()
            #expect(before.hls == HLSResource(state: "HLS_STOPPED", startedAt: nil, playbackHLSURL: nil))
            #expect(try await server.ask("POST", "\(Self.path)/stop").error?.code == 4017)
            let started = try await server.ask("POST", "\(Self.path)/start", #"{"layout":{"type":"SPOTLIGHT"}}"#)
            #expect(started.status == 202)
            #expect(try started.decode(HLSResource.self).state == "HLS_STARTING")
            #expect(try server.directory.room("show").settings.layout.kind == .spotlight)
            #expect(try await server.ask("POST", "\(Self.path)/start").refusal == "409/3054")

            server.hls.set(HLSStatus(state: .playable, playableAt: 100), room: "show")
            let playable = try await egress()
            #expect(playable.broadcasting && playable.hls.state == "HLS_PLAYABLE")
            #expect(playable.hls.playbackHLSURL?.hasSuffix("/live/show/index.m3u8") ?? false)
            #expect(playable.hls.startedAt == Timestamp(100))
            let room = try await server.ask("GET", "/v1/rooms/show").decode(RoomResource.self)
            #expect(room.egress == playable)

            let stopped = try await server.ask("POST", "\(Self.path)/stop")
            #expect(stopped.status == 202)
            #expect(stopped.text.contains(#""playback_hls_url":null"#) && stopped.text.contains("HLS_STOPPING"))
            #expect(try await server.ask("POST", "\(Self.path)/stop").refusal == "409/3055")
            #expect(try await server.ask("POST", "\(Self.path)/start").refusal == "409/3055")
            let token = try await server.tokens.mint(identity: "ann", room: "show", mode: .receiveOnly, expiresIn: 60)
            #expect(try await server.ask("POST", "\(Self.path)/start", as: .token(token)).refusal == "403/20106")
        }
    }

    @Test("A room begins backstage if it is told to, goes live and back, and says so")
    func backstage() async throws {
        try await ControlServer.run { (server) async throws in
            let room = try await server.makeRoom("show", #","backstage":true"#)
            #expect(room.backstage)
            let client = try server.events("/v1/rooms/show/events")
            var events = client.events.makeAsyncIterator()
            _ = await events.next()
            _ = await events.next()
            let live = try await server.ask("POST", "/v1/rooms/show/go_live")
            #expect(try !live.decode(RoomResource.self).backstage)
            let told = try #require(await events.next())
            #expect(told.name == "room.updated" && told.data?.room?.backstage == false)
            let back = try await server.ask("POST", "/v1/rooms/show/stop_live").decode(RoomResource.self)
            #expect(back.backstage)
            let token = try await server.tokens.mint(
                identity: "ann",
                room: "show",
                mode: .sendAndReceive,
                expiresIn: 60
            )
            #expect(try await server.ask("POST", "/v1/rooms/show/go_live", as: .token(token)).refusal == "403/20106")
            client.close()
        }
    }
}
