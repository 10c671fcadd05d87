import FootlightTesting
import GatewayModel
import Stage
import Testing

@testable import ControlAPI

@Suite("A host on air whose media stops")
struct LostMediaTests {
    @Test("53405 silence is told as reconnecting, and after half a minute of it the host is told so and leaves")
    func silence() async throws {
        let clock = ManualClock()
        try await ControlServer.run(clock: clock) { (server) async throws in
            try await server.makeRoom()
            let ann = ControlServer.Bearer.token(
                try await server.tokens.mint(identity: "ann", room: "show", mode: .sendAndReceive, expiresIn: 600)
            )
            let joined = try await server.join("show", "ann", as: ann).decode(JoinAnswer.self)
            let path = "/v1/rooms/show/participants/ann"
            let client = try server.events(
                "/v1/rooms/show/events?participant=ann&session_id=\(joined.sessionID)",
                as: ann
            )
            #expect(try await server.ask("PUT", path + "/tracks/mic", as: ann).status == 200)
            let key = try #require(joined.ingest?.rtmp.streamKey)
            let grant = try server.directory.authorizePublish(streamKey: key).get()
            server.directory.publishBegan(grant, connection: 1)
            server.directory.publishChanged(grant, connection: 1, media: PublishedMedia(hasAudio: true))
            let beat = #"{"session_id":"\#(joined.sessionID)"}"#
            func pass(seconds: Int) async throws {
                for _ in 0..<seconds / 5 {
                    clock.advance(by: .seconds(5))
                    _ = try await server.ask("POST", path + "/heartbeat", beat, as: ann)
                    server.directory.sweep()
                }
            }
            try await pass(seconds: 60)
            #expect(try server.directory.participant("ann", in: "show").status == .connected)

            server.directory.publishChanged(grant, connection: 1, media: PublishedMedia())
            #expect(try server.directory.participant("ann", in: "show").status == .reconnecting)
            try await pass(seconds: 25)
            #expect(try server.directory.participant("ann", in: "show").status == .reconnecting)
            try await pass(seconds: 10)
            #expect(try server.directory.room("show").participants.isEmpty)

            var seen: [EventClient.Event] = []
            for await event in client.events { seen.append(event) }
            let reconnecting = seen.filter { $0.name == "participant.reconnecting" }
            #expect(reconnecting.count == 1 && reconnecting.first?.data?.code == 53405)
            #expect(seen.last?.name == "session.disconnected" && seen.last?.data?.error?.code == 53405)
        }
    }
}
