import ControlAPI
import Foundation
import FootlightModel
import Stage
import Testing

@Suite("Tokens bound to a room")
struct RoomBoundTokenTests {
    private func bearer(
        _ server: ControlServer,
        _ identity: String,
        room: String = "show",
        _ modes: [ParticipantMode] = [.receiveOnly],
        sources: Set<TrackName>? = nil
    ) async throws -> ControlServer.Bearer {
        let expiry = Date().timeIntervalSince1970 + 600
        return .token(
            try await server.tokens.issue(
                AccessClaims(
                    identity: identity,
                    role: .participant,
                    room: room,
                    modes: modes,
                    sources: sources,
                    expiresAt: expiry
                )
            )
        )
    }

    @Test("A participant that becomes a host publishes the tracks of its token, and by invitation all")
    func sources() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let audience = try await bearer(server, "eve")
            _ = try await server.join("show", "eve", "RECV_ONLY", as: audience)
            let path = "/v1/rooms/show/participants/eve"
            let up = #"{"mode":"SEND_AND_RECV"}"#
            let host = try await bearer(server, "eve", [.sendAndReceive], sources: [.mic])
            #expect(try await server.ask("POST", "\(path)/mode", up, as: host).status == 200)
            #expect(try await server.ask("PUT", "\(path)/tracks/camera", as: host).refusal == "403/20106")
            #expect(try await server.ask("PUT", "\(path)/tracks/mic", as: host).status == 200)

            #expect(try await server.ask("POST", "\(path)/mode", #"{"mode":"RECV_ONLY"}"#).status == 200)
            let invited = try await server.ask("POST", "/v1/rooms/show/invitations", #"{"identities":["eve"]}"#)
            let sid = try invited.decode(InvitationResource.self).sid
            #expect(try await server.ask("POST", "/v1/invitations/\(sid)/accept", as: audience).status == 200)
            #expect(try await server.ask("POST", "\(path)/mode", up, as: audience).status == 200)
            #expect(try await server.ask("PUT", "\(path)/tracks/camera", as: audience).status == 200)
        }
    }

    @Test("An invitation is for tokens of its room; the same identity elsewhere can neither answer nor follow it")
    func invitations() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            try await server.makeRoom("other")
            let here = try await bearer(server, "eve")
            let elsewhere = try await bearer(server, "eve", room: "other")
            var sids: [String] = []
            for room in ["show", "other"] {
                let made = try await server.ask("POST", "/v1/rooms/\(room)/invitations", #"{"identities":["eve"]}"#)
                let invitation = try made.decode(InvitationResource.self)
                #expect(invitation.inviter == "operator:operator", "nobody's identity")
                sids.append(invitation.sid)
            }
            let path = "/v1/invitations/\(sids[0])"
            #expect(try await server.ask("GET", path, as: elsewhere).refusal == "403/20106")
            for call in ["accept", "reject", "cancel"] {
                #expect(
                    try await server.ask("POST", "\(path)/\(call)", as: elsewhere).refusal == "403/20106",
                    "\(call)"
                )
            }
            let namesake = try await bearer(server, "operator")
            #expect(try await server.ask("POST", "\(path)/cancel", as: namesake).refusal == "404/404")
            for (bearer, sid) in [(here, sids[0]), (elsewhere, sids[1])] {
                let client = try server.events("/v1/events?identity=me", as: bearer)
                var events = client.events.makeAsyncIterator()
                _ = await events.next()
                let first = try #require(await events.next())
                #expect(first.name == "invitation.created" && first.data?.invitation?.sid == sid)
                server.directory.broadcastHeartbeat()
                #expect(await events.next()?.name == "heartbeat", "and no other")
                client.close()
            }
            #expect(try await server.ask("GET", path, as: here).status == 200)
            #expect(try await server.ask("POST", "\(path)/accept", as: here).status == 200)
        }
    }

    @Test("A token bound by name joins by sid; one bound to an ended room does not create a new one")
    func joining() async throws {
        try await ControlServer.run(settings: StageSettings(createsRoomsOnJoin: true)) { (server) async throws in
            let sid = try await server.makeRoom().sid
            let byName = try await bearer(server, "eve")
            let bySID = try await bearer(server, "ben", room: sid)
            #expect(try await server.join(sid, "eve", "RECV_ONLY", as: byName).status == 201)
            #expect(try await server.join("show", "ben", "RECV_ONLY", as: bySID).status == 201)
            try server.directory.end(room: "show")
            #expect(try await server.join("show", "ben", "RECV_ONLY", as: bySID).refusal == "403/20106")
            #expect(try await server.join(sid, "ben", "RECV_ONLY", as: bySID).refusal == "404/53106")
            #expect(server.directory.rooms(.inProgress).isEmpty)
            #expect(try await server.join("show", "eve", "RECV_ONLY", as: byName).status == 201)
            #expect(try await server.join("show", "ben", "RECV_ONLY", as: bySID).refusal == "403/20106")
        }
    }
}
