import ControlAPI
import FootlightModel
import FootlightTesting
import Stage
import Testing

@Suite("Pin routes")
struct PinRoutesTests {
    private static let pin = "/v1/rooms/show/participants/ann/pin"

    @Test("An operator pins for all; a participant for its own view, which is not reported to others")
    func owners() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            func bearer(_ identity: String, _ mode: ParticipantMode) async throws -> ControlServer.Bearer {
                .token(try await server.tokens.issue(identity: identity, room: "show", mode: mode, expiresIn: 60))
            }
            let (eve, fay) = (try await bearer("eve", .receiveOnly), try await bearer("fay", .receiveOnly))
            _ = try await server.join("show", "ann")
            #expect(try await server.ask("PUT", Self.pin, "{}", as: eve).refusal == "409/3035")
            for (identity, bearer) in [("eve", eve), ("fay", fay)] {
                _ = try await server.join("show", identity, "RECV_ONLY", as: bearer)
            }
            var streams: [AsyncStream<EventClient.Event>.AsyncIterator] = []
            let clients = [
                try server.events("/v1/rooms/show/events?participant=eve", as: eve),
                try server.events("/v1/rooms/show/events?participant=fay", as: fay),
            ]
            for client in clients {
                var events = client.events.makeAsyncIterator()
                _ = await events.next()
                _ = await events.next()
                streams.append(events)
            }
            let own = try await server.ask("PUT", Self.pin, #"{"pin_type":"CAM"}"#, as: eve)
            #expect(try own.decode(PinResource.self).isLocal)
            #expect(try server.directory.room("show").participant("ann")?.pin == nil)
            let all = try await server.ask("PUT", Self.pin)
            let pin = try all.decode(PinResource.self)
            #expect(!pin.isLocal && pin.pinType == "SHARE_AND_CAM")
            let read = try await server.ask("GET", "/v1/rooms/show/participants/ann").decode(ParticipantResource.self)
            #expect(read.pin == pin)
            let eves = try #require(await streams[0].next())
            #expect(eves.name == "pin.changed" && eves.data?.pin?.wrappedValue?.isLocal == true)
            for index in [0, 1] {
                let received = try #require(await streams[index].next())
                #expect(
                    received.name == "pin.changed" && received.data?.pin?.wrappedValue?.isLocal == false,
                    "\(index)"
                )
                #expect(received.data?.participantSID == read.sid)
            }
            #expect(try await server.ask("DELETE", Self.pin).status == 204)
            while let event = await streams[1].next() {
                guard event.name == "pin.changed" else { continue }
                #expect(event.data?.pin == ExplicitNull(wrappedValue: nil), "gone, and said so")
                break
            }
            #expect(try await server.ask("DELETE", Self.pin).status == 204)
            for client in clients { client.close() }
        }
    }

    @Test("V2 only hosts are pinned, and only with a known type")
    func faults() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            _ = try await server.join("show", "ann")
            _ = try await server.join("show", "eve", "RECV_ONLY")
            #expect(try await server.ask("PUT", "/v1/rooms/show/participants/eve/pin").refusal == "403/3066")
            #expect(try await server.ask("PUT", "/v1/rooms/show/participants/zoe/pin").refusal == "404/53204")
            let odd = try await server.ask("PUT", Self.pin, #"{"pin_type":"NEEDLE"}"#)
            #expect(odd.refusal == "400/3073" && odd.error?.message.contains("pin_type") ?? false)
            #expect(try await server.ask("PUT", Self.pin, #"{"pin_type":7}"#).refusal == "400/53004")
            let mixer = try await server.tokens.issue(identity: "m", room: "show", role: .mixer, expiresIn: 60)
            #expect(try await server.ask("PUT", Self.pin, as: .token(mixer)).refusal == "403/20106")
        }
    }
}
