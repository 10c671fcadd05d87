import FootlightTesting
import Foundation
import FootlightModel
import Stage
import Testing

@testable import ControlAPI

@Suite("Room types")
struct RoomTypeRoutesTests {
    private static let outputs = #"{"outputs":[{"url":"rtmp://a.example/live","stream_key":"k"}]}"#
    private static let up = #"{"mode":"SEND_AND_RECV"}"#

    private func bearer(
        _ server: ControlServer,
        _ identity: String,
        _ modes: [ParticipantMode] = [.sendAndReceive],
        rights: Set<String> = []
    ) async throws -> ControlServer.Bearer {
        let claims = AccessClaims(
            identity: identity,
            role: .participant,
            room: "show",
            modes: modes,
            administers: rights,
            expiresAt: Date().timeIntervalSince1970 + 600
        )
        return .token(try await server.tokens.issue(claims))
    }

    /// Joins in the given mode, or in the token's own.
    private func join(
        _ server: ControlServer,
        _ bearer: ControlServer.Bearer,
        _ body: String = "{}"
    ) async throws -> ControlServer.Answer {
        try await server.ask("POST", "/v1/rooms/show/participants", body, as: bearer)
    }

    @Test("S16 a room returns its type, the default if none was given; an unknown one is refused")
    func named() async throws {
        try await ControlServer.run { (server) async throws in
            #expect(try await server.makeRoom("plain").type == "default")
            for type in RoomType.allCases {
                #expect(try await server.makeRoom(type.rawValue, #","type":"\#(type.rawValue)""#).type == type)
            }
            let refused = try await server.ask("POST", "/v1/rooms", #"{"unique_name":"x","type":"party"}"#)
            #expect(refused.refusal == "400/3073" && refused.error?.message.hasPrefix("type must be one of") == true)
        }
    }

    @Test("S16 in a room of the default type tokens join, speak and stream as they allow")
    func usual() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let ann = try await bearer(server, "ann", rights: ["streaming"])
            #expect(try await join(server, ann).decode(JoinAnswer.self).ingest != nil)
            let eve = try await bearer(server, "eve", [.receiveOnly, .sendAndReceive])
            #expect(try await join(server, eve).decode(JoinAnswer.self).participant.mode == "RECV_ONLY")
            let mode = "/v1/rooms/show/participants/eve/mode"
            #expect(try await server.ask("POST", mode, Self.up, as: eve).status == 200)
            let start = "/v1/rooms/show/livestream/start"
            #expect(try await server.ask("POST", start, Self.outputs, as: ann).status == 202)
        }
    }

    @Test(
        "S16 where speaking needs permission, participants join as audience until they are invited or accepted",
        arguments: [RoomType.livestream, .audioRoom]
    )
    func speaking(type: RoomType) async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom("show", #","type":"\#(type.rawValue)""#)
            let eve = try await bearer(server, "eve")
            let refused = try await join(server, eve, Self.up)
            #expect(refused.refusal == "403/4065")
            #expect(refused.error?.message == "Only those who are invited or accepted speak in this room")
            let joined = try await join(server, eve).decode(JoinAnswer.self)
            #expect(joined.participant.mode == "RECV_ONLY" && joined.ingest == nil)
            let mode = "/v1/rooms/show/participants/eve/mode"
            let change = try await server.ask("POST", mode, Self.up, as: eve)
            #expect(change.error?.message == "Only those who are invited or accepted speak in this room")

            #expect(try await server.ask("POST", "/v1/rooms/show/hands", as: eve).status == 201)
            #expect(try await server.ask("POST", "/v1/rooms/show/hands/eve/accept").status == 200)
            let changed = try await server.ask("POST", mode, Self.up, as: eve).decode(ModeAnswer.self)
            #expect(changed.participant.mode == "SEND_AND_RECV" && changed.ingest != nil)
            #expect(try await join(server, eve, Self.up).status == 201, "a host who comes back is one")
            #expect(try await server.ask("POST", mode, #"{"mode":"RECV_ONLY"}"#, as: eve).status == 200)
            #expect(try await server.ask("POST", mode, Self.up, as: eve).refusal == "403/4065", "accepted for once")

            let fay = try await bearer(server, "fay")
            let made = try await server.ask("POST", "/v1/rooms/show/invitations", #"{"identities":["fay"]}"#)
            let sid = try made.decode(InvitationResource.self).sid
            #expect(try await server.ask("POST", "/v1/invitations/\(sid)/accept", as: fay).status == 200)
            let invited = try await join(server, fay, #"{"mode":"SEND_AND_RECV","invitation_sid":"\#(sid)"}"#)
            #expect(invited.status == 201)

            let boss = try await bearer(server, "boss", rights: ["participants"])
            #expect(try await join(server, boss, Self.up).status == 201, "who runs the show speaks")
            #expect(try await server.join("show", "guest").status == 201, "an operator lets a host in")
            let gus = try await bearer(server, "gus", [.receiveOnly])
            #expect(try await join(server, gus, Self.up).refusal == "403/20106", "the token comes first")
        }
    }

    @Test("S16 an audio room is streamed by operators only, a livestream by tokens with the right to")
    func streaming() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom("show", #","type":"audio_room""#)
            let ann = try await bearer(server, "ann", rights: ["streaming"])
            for (path, body) in [
                ("livestream/start", Self.outputs), ("livestream/stop", ""), ("livestream/outputs", Self.outputs),
                ("hls/start", ""), ("hls/stop", ""),
            ] {
                let refused = try await server.ask("POST", "/v1/rooms/show/\(path)", body, as: ann)
                #expect(refused.refusal == "403/20106", "\(path)")
                #expect(refused.error?.message == "Only operators stream this room")
            }
            #expect(try await server.ask("POST", "/v1/rooms/show/livestream/start", Self.outputs).status == 202)
            #expect(try await server.ask("PUT", "/v1/rooms/show/layout", #"{"grid_size":4}"#, as: ann).status == 200)
            #expect(try await server.ask("POST", "/v1/rooms/show", #"{"status":"completed"}"#).status == 200)

            try await server.makeRoom("show", #","type":"livestream""#)
            let eve = try await bearer(server, "eve")
            #expect(
                try await server.ask("POST", "/v1/rooms/show/hls/start", as: eve).error?.message
                    == StageError.tokenGrantsInvalid.message
            )
            #expect(try await server.ask("POST", "/v1/rooms/show/hls/start", as: ann).status == 202)
        }
    }

    @Test("S16 a private room is joined by those who accepted an invitation, and by those who run the show")
    func joining() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom("show", #","type":"private""#)
            let eve = try await bearer(server, "eve")
            let refused = try await join(server, eve)
            #expect(refused.refusal == "403/20106")
            #expect(refused.error?.message == "Only those who are invited join this room")
            let made = try await server.ask("POST", "/v1/rooms/show/invitations", #"{"identities":["eve"]}"#)
            let sid = try made.decode(InvitationResource.self).sid
            #expect(try await join(server, eve).refusal == "403/20106", "not before it is accepted")
            #expect(try await server.ask("POST", "/v1/invitations/\(sid)/accept", as: eve).status == 200)
            #expect(try await join(server, eve).decode(JoinAnswer.self).participant.mode == "SEND_AND_RECV")
            #expect(try await server.ask("DELETE", "/v1/rooms/show/participants/eve", as: eve).status == 204)
            #expect(try await join(server, eve).status == 201, "who was invited may come back")
            #expect(try await join(server, bearer(server, "zoe")).refusal == "403/20106")
            #expect(try await join(server, bearer(server, "boss", rights: ["participants"])).status == 201)
            #expect(try await server.join("show", "guest", "RECV_ONLY").status == 201)
            let guest = try await bearer(server, "guest", [.receiveOnly])
            #expect(try await join(server, guest).status == 201, "who is there may join again")
        }
    }
}
