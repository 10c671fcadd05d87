import ControlAPI
import FootlightTesting
import Foundation
import FootlightModel
import Stage
import Testing

@Suite("Invitation routes")
struct InvitationRoutesTests {
    private func bearer(
        _ server: ControlServer,
        _ identity: String,
        _ mode: ParticipantMode
    ) async throws
        -> ControlServer.Bearer
    {
        .token(try await server.tokens.issue(identity: identity, room: "show", mode: mode, expiresIn: 600))
    }

    private func invite(
        _ server: ControlServer,
        _ identities: [String],
        as bearer: ControlServer.Bearer
    ) async throws
        -> ControlServer.Answer
    {
        let names = identities.map { #""\#($0)""# }.joined(separator: ",")
        return try await server.ask("POST", "/v1/rooms/show/invitations", #"{"identities":[\#(names)]}"#, as: bearer)
    }

    private func next(
        _ events: inout AsyncStream<EventClient.Event>.AsyncIterator,
        named name: String
    ) async -> EventClient.Event? {
        while let event = await events.next() {
            if event.name == name { return event }
        }
        return nil
    }

    @Test("U3 to U8, U20 and V17 an accepted invitation lets a RECV_ONLY participant join the stage once")
    func promotion() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let (ann, eve) = (
                try await bearer(server, "ann", .sendAndReceive), try await bearer(server, "eve", .receiveOnly)
            )
            _ = try await server.join("show", "ann", as: ann)
            _ = try await server.join("show", "eve", "RECV_ONLY", as: eve)
            let client = try server.events("/v1/events?identity=me", as: eve)
            var events = client.events.makeAsyncIterator()
            #expect(await events.next()?.retry == "2000")

            let made = try await invite(server, ["eve"], as: ann)
            #expect(made.status == 201)
            let invitation = try made.decode(InvitationResource.self)
            #expect(invitation.sid.hasPrefix("IN") && invitation.inviter == "ann" && invitation.room == "show")
            #expect(invitation.state == "ringing" && invitation.mode == "SEND_AND_RECV")
            #expect(invitation.invitees == [InviteeResource(identity: "eve", state: "ringing", changedAt: nil)])
            #expect(invitation.unreachable == [])
            let rings = try #require(await next(&events, named: "invitation.created"))
            #expect(rings.data?.invitation?.sid == invitation.sid && rings.data?.identities == ["eve"])

            let mode = "/v1/rooms/show/participants/eve/mode"
            let up = #"{"mode":"SEND_AND_RECV"}"#
            #expect(try await server.ask("POST", mode, up, as: eve).refusal == "403/4065", "not before it is accepted")
            let path = "/v1/invitations/\(invitation.sid)"
            #expect(try await server.ask("POST", "\(path)/accept", as: ann).refusal == "404/404", "not one's own")
            let accepted = try await server.ask("POST", "\(path)/accept", as: eve)
            #expect(try accepted.decode(InvitationResource.self).state == "accepted")
            #expect(await next(&events, named: "invitation.accepted")?.data?.identities == ["eve"])
            #expect(try await server.ask("POST", "\(path)/accept", as: eve).refusal == "409/409", "on another device")

            let changed = try await server.ask("POST", mode, up, as: eve).decode(ModeAnswer.self)
            #expect(changed.participant.mode == "SEND_AND_RECV" && changed.participant.tracks.isEmpty)
            let key = try #require(changed.ingest?.rtmp.streamKey)
            #expect(try server.directory.authorizePublish(streamKey: key).get().identity == "eve")
            let mic = "/v1/rooms/show/participants/eve/tracks/mic"
            #expect(try await server.ask("PUT", mic, as: eve).status == 200, "a host by invitation publishes")

            #expect(try await server.ask("POST", mode, #"{"mode":"RECV_ONLY"}"#, as: ann).refusal == "403/20106")
            #expect(try await server.ask("POST", mode, #"{"mode":"RECV_ONLY"}"#).status == 200, "V19 demoted")
            #expect(
                try await server.ask("POST", mode, up, as: eve).refusal == "403/4065",
                "the permission was for once"
            )
            client.close()
        }
    }

    @Test("An accepted invitation lets its invitee join as a host; without one the token's modes apply")
    func joining() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let eve = try await bearer(server, "eve", .receiveOnly)
            let invitation = try await invite(server, ["eve"], as: .operator).decode(InvitationResource.self)
            #expect(invitation.unreachable == ["eve"], "no app of hers is connected")
            let sid = invitation.sid
            func join(_ invitation: String?) async throws -> ControlServer.Answer {
                let more = invitation.map { #","invitation_sid":"\#($0)""# } ?? ""
                return try await server.ask(
                    "POST",
                    "/v1/rooms/show/participants",
                    #"{"mode":"SEND_AND_RECV"\#(more)}"#,
                    as: eve
                )
            }
            #expect(try await join(nil).refusal == "403/20106")
            #expect(try await join(sid).refusal == "403/4065", "not accepted")
            #expect(try await server.ask("POST", "/v1/invitations/\(sid)/accept", as: eve).status == 200)
            let joined = try await join(sid)
            #expect(joined.status == 201)
            #expect(try joined.decode(JoinAnswer.self).ingest != nil)
        }
    }

    @Test("Rejection, cancellation and expiry end the ringing, and are reported to both sides")
    func endings() async throws {
        let clock = ManualClock()
        try await ControlServer.run(clock: clock) { (server) async throws in
            try await server.makeRoom()
            let (ann, eve) = (
                try await bearer(server, "ann", .sendAndReceive), try await bearer(server, "eve", .receiveOnly)
            )
            _ = try await server.join("show", "ann", as: ann)
            let client = try server.events("/v1/events?identity=ann", as: ann)
            var events = client.events.makeAsyncIterator()
            _ = await events.next()

            let first = try await invite(server, ["eve"], as: ann).decode(InvitationResource.self).sid
            #expect(try await server.ask("POST", "/v1/invitations/\(first)/cancel", as: eve).refusal == "403/20106")
            #expect(try await server.ask("POST", "/v1/invitations/\(first)/reject", as: eve).status == 200)
            #expect(await next(&events, named: "invitation.rejected")?.data?.invitation?.state == "rejected")
            let second = try await invite(server, ["eve", "fay"], as: ann).decode(InvitationResource.self).sid
            #expect(try await server.ask("POST", "/v1/invitations/\(second)/cancel", as: ann).status == 200)
            #expect(await next(&events, named: "invitation.cancelled")?.data?.identities == ["eve", "fay"])
            #expect(try await server.ask("POST", "/v1/invitations/\(second)/accept", as: eve).refusal == "409/409")
            let third = try await invite(server, ["eve"], as: .operator).decode(InvitationResource.self).sid
            #expect(try await server.ask("GET", "/v1/invitations/\(third)", as: ann).refusal == "404/404")
            #expect(try await server.ask("GET", "/v1/invitations/\(third)", as: eve).status == 200)
            _ = try await server.join("show", "ann", as: ann)
            let fourth = try await invite(server, ["eve"], as: ann).decode(InvitationResource.self).sid
            clock.advance(by: .seconds(31))
            server.directory.sweep()
            #expect(await next(&events, named: "invitation.missed")?.data?.invitation?.sid == fourth)
            #expect(try await server.ask("POST", "/v1/invitations/\(fourth)/accept", as: eve).refusal == "410/410")
            client.close()
        }
    }

    @Test("Only hosts and those who run the show invite; every error has its code")
    func faults() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let (ann, eve) = (
                try await bearer(server, "ann", .sendAndReceive), try await bearer(server, "eve", .receiveOnly)
            )
            #expect(try await invite(server, ["x"], as: ann).refusal == "409/3035")
            _ = try await server.join("show", "ann", as: ann)
            _ = try await server.join("show", "eve", "RECV_ONLY", as: eve)
            #expect(try await invite(server, ["x"], as: eve).refusal == "403/20106")
            #expect(try await invite(server, [], as: ann).refusal == "400/3073")
            #expect(try await invite(server, ["ann"], as: ann).refusal == "400/3073")
            #expect(try await invite(server, ["a b"], as: ann).refusal == "400/53202")
            #expect(try await invite(server, [""], as: ann).refusal == "400/53200")
            let path = "/v1/rooms/show/invitations"
            for (body, refusal) in [
                (#"{"identities":["x"],"timeout":4}"#, "400/3073"), (#"{"identities":["x"],"mode":"X"}"#, "400/3067"),
                (#"{"identities":"x"}"#, "400/53004"), ("{}", "400/53004"),
            ] {
                #expect(try await server.ask("POST", path, body, as: ann).refusal == refusal, "\(body)")
            }
            for call in ["accept", "reject", "cancel"] {
                #expect(try await server.ask("POST", "/v1/invitations/IN0/\(call)", as: eve).refusal == "404/404")
            }
            #expect(try await server.ask("POST", "/v1/invitations/IN0/accept").refusal == "403/20106")
            #expect(try await server.ask("GET", "/v1/events?identity=ann", as: eve).refusal == "403/20106")
            #expect(try await server.ask("GET", "/v1/events", as: eve).refusal == "403/20106")
            #expect(try await server.ask("GET", "/v1/events").refusal == "400/3073")
            for _ in 0..<50 { #expect(try await invite(server, ["x"], as: ann).status == 201) }
            let busy = try await invite(server, ["x"], as: ann)
            #expect(busy.refusal == "503/53006" && busy.headers["retry-after"] == "5")
        }
    }
}
