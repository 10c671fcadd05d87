import FootlightTesting
import Foundation
import FootlightModel
import Stage
import Synchronization
import Testing

@testable import ControlAPI

@Suite("Raised hand routes")
struct HandRoutesTests {
    private static let path = "/v1/rooms/show/hands"
    private static let up = #"{"mode":"SEND_AND_RECV"}"#

    private func bearer(
        _ server: ControlServer,
        _ identity: String,
        _ mode: ParticipantMode = .receiveOnly,
        room: String = "show",
        rights: Set<String> = []
    ) async throws -> ControlServer.Bearer {
        let claims = AccessClaims(
            identity: identity,
            role: .participant,
            room: room,
            modes: [mode],
            administers: rights,
            expiresAt: Date().timeIntervalSince1970 + 600
        )
        return .token(try await server.tokens.issue(claims))
    }

    private func next(
        _ events: inout AsyncStream<EventClient.Event>.AsyncIterator,
        named prefix: String
    ) async -> EventClient.Event? {
        while let event = await events.next() {
            if event.name?.hasPrefix(prefix) == true { return event }
        }
        return nil
    }

    @Test("S15 a raised hand is visible to all; when a host accepts it, its participant joins the stage and publishes")
    func accepting() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let (ann, eve) = (try await bearer(server, "ann", .sendAndReceive), try await bearer(server, "eve"))
            _ = try await server.join("show", "ann", as: ann)
            let joined = try await server.join("show", "eve", "RECV_ONLY", as: eve).decode(JoinAnswer.self)
            let client = try server.events("/v1/rooms/show/events")
            var events = client.events.makeAsyncIterator()
            #expect(await next(&events, named: "room.snapshot")?.data?.hands == [])

            let raised = try await server.ask("POST", Self.path, #"{"timeout":60}"#, as: eve)
            #expect(raised.status == 201)
            let hand = try raised.decode(HandResource.self)
            #expect(hand.sid.hasPrefix("HA") && hand.identity == "eve" && hand.participantSID == joined.participant.sid)
            #expect(abs(hand.expiresAt.seconds - hand.raisedAt.seconds - 60) < 0.01)
            let again = try await server.ask("POST", Self.path, as: eve)
            #expect(try again.status == 200 && again.decode(HandResource.self) == hand, "one each")
            let received = try #require(await next(&events, named: "hand."))
            #expect(received.name == "hand.raised" && received.data?.hand == hand && received.data?.reason == nil)
            let later = try server.events("/v1/rooms/show/events")
            var laterEvents = later.events.makeAsyncIterator()
            #expect(await next(&laterEvents, named: "room.snapshot")?.data?.hands == [hand])
            later.close()
            #expect(try await server.ask("GET", Self.path, as: ann).decode(HandList.self).hands == [hand])

            let mode = "/v1/rooms/show/participants/eve/mode"
            #expect(try await server.ask("POST", mode, Self.up, as: eve).refusal == "403/4065", "not yet")
            let accepted = try await server.ask("POST", "\(Self.path)/\(hand.sid)/accept", as: ann)
            #expect(try accepted.status == 200 && accepted.decode(HandResource.self) == hand)
            #expect(await next(&events, named: "hand.")?.name == "hand.accepted")
            let changed = try await server.ask("POST", mode, Self.up, as: eve).decode(ModeAnswer.self)
            #expect(changed.participant.mode == "SEND_AND_RECV")
            let key = try #require(changed.ingest?.rtmp.streamKey)
            #expect(try server.directory.authorizePublish(streamKey: key).get().identity == "eve")
            #expect(try await server.ask("PUT", "/v1/rooms/show/participants/eve/tracks/mic", as: eve).status == 200)
            client.close()
        }
    }

    @Test("A lowered, rejected, abandoned or expired hand is reported with its reason")
    func endings() async throws {
        let clock = ManualClock()
        try await ControlServer.run(clock: clock) { (server) async throws in
            try await server.makeRoom()
            let eve = try await bearer(server, "eve")
            _ = try await server.join("show", "eve", "RECV_ONLY", as: eve)
            let client = try server.events("/v1/rooms/show/events")
            var events = client.events.makeAsyncIterator()
            _ = await next(&events, named: "room.snapshot")
            func raise() async throws {
                #expect(try await server.ask("POST", Self.path, as: eve).status == 201)
                #expect(await next(&events, named: "hand.")?.name == "hand.raised")
            }
            try await raise()
            #expect(try await server.ask("DELETE", "\(Self.path)/eve", as: eve).status == 204)
            #expect(try await server.ask("DELETE", "\(Self.path)/eve", as: eve).status == 204, "it is down already")
            let lowered = await next(&events, named: "hand.")
            #expect(lowered?.name == "hand.lowered" && lowered?.data?.reason == "lowered")
            try await raise()
            #expect(try await server.ask("POST", "\(Self.path)/eve/reject").status == 200)
            #expect(await next(&events, named: "hand.")?.name == "hand.rejected")
            try await raise()
            clock.advance(by: .seconds(300))
            server.directory.sweep()
            #expect(await next(&events, named: "hand.")?.name == "hand.expired")
            _ = try await server.join("show", "eve", "RECV_ONLY", as: eve)
            try await raise()
            #expect(try await server.ask("DELETE", "/v1/rooms/show/participants/eve", as: eve).status == 204)
            #expect(await next(&events, named: "hand.")?.data?.reason == "left")
            #expect(try await server.ask("GET", Self.path).decode(HandList.self).hands.isEmpty)
            client.close()
        }
    }

    @Test("Only participants raise a hand, and only hosts and those who run the show answer")
    func rights() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            try await server.makeRoom("other")
            let (eve, fay) = (try await bearer(server, "eve"), try await bearer(server, "fay"))
            #expect(try await server.ask("POST", Self.path, as: eve).refusal == "409/3035")
            _ = try await server.join("show", "eve", "RECV_ONLY", as: eve)
            _ = try await server.join("show", "fay", "SIGNALLING_ONLY")
            #expect(try await server.ask("POST", Self.path).refusal == "403/20106", "operators ask nobody")
            #expect(try await server.ask("POST", Self.path, as: .unauthenticated).refusal == "401/20101")
            let outsider = try await bearer(server, "eve", room: "other")
            #expect(try await server.ask("POST", Self.path, as: outsider).refusal == "403/20106")
            #expect(try await server.ask("GET", Self.path, as: outsider).refusal == "403/20106")
            #expect(try await server.ask("POST", Self.path, as: eve).status == 201)
            #expect(try await server.ask("POST", Self.path, as: fay).status == 201, "who only signals asks as well")
            for answer in ["accept", "reject"] {
                for one in [eve, fay, outsider] {
                    #expect(try await server.ask("POST", "\(Self.path)/eve/\(answer)", as: one).refusal == "403/20106")
                }
            }
            #expect(try await server.ask("DELETE", "\(Self.path)/eve", as: fay).refusal == "403/20106")
            let boss = try await bearer(server, "boss", rights: ["participants"])
            #expect(try await server.ask("POST", "\(Self.path)/eve/accept", as: boss).status == 200)
            #expect(try await server.ask("DELETE", "\(Self.path)/fay", as: boss).status == 204)
            let ann = try await bearer(server, "ann", .sendAndReceive)
            _ = try await server.join("show", "ann", as: ann)
            let hosts = try await server.ask("POST", Self.path, as: ann)
            #expect(hosts.refusal == "403/3066" && hosts.error?.message == "A host need not ask to speak")
        }
    }

    @Test("Every error has its code, max_hosts is enforced, and the list is paged")
    func faults() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom("show", #","max_hosts":1"#)
            let eve = try await bearer(server, "eve")
            _ = try await server.join("show", "eve", "RECV_ONLY", as: eve)
            for (body, refusal) in [
                (#"{"timeout":9}"#, "400/3073"), (#"{"timeout":3601}"#, "400/3073"), (#"{"timeout":"x"}"#, "400/53004"),
            ] {
                #expect(try await server.ask("POST", Self.path, body, as: eve).refusal == refusal, "\(body)")
            }
            for answer in ["accept", "reject"] {
                let refused = try await server.ask("POST", "\(Self.path)/eve/\(answer)")
                #expect(refused.refusal == "404/404" && refused.error?.name == "HandNotFoundError")
            }
            #expect(try await server.ask("DELETE", "\(Self.path)/HA0").refusal == "404/404")
            #expect(try await server.ask("POST", Self.path, as: eve).status == 201)
            _ = try await server.join("show", "ann")
            #expect(try await server.ask("POST", "\(Self.path)/eve/accept").refusal == "409/4010")
            let fay = try await bearer(server, "fay")
            _ = try await server.join("show", "fay", "RECV_ONLY", as: fay)
            #expect(try await server.ask("POST", Self.path, as: fay).status == 201)
            let first = try await server.ask("GET", "\(Self.path)?page_size=1").decode(HandList.self)
            let token = try #require(first.meta.nextPageToken)
            let second = try await server.ask("GET", "\(Self.path)?page_size=1&page_token=\(token)")
            #expect(try (first.hands + second.decode(HandList.self).hands).map(\.identity) == ["eve", "fay"])
            #expect(server.persisted.withLock { !$0.isEmpty })
        }
    }
}
