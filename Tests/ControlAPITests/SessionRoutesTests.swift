import ControlAPI
import FootlightTesting
import Foundation
import FootlightModel
import Stage
import Testing

@Suite("Session routes")
struct SessionRoutesTests {
    private static let show = "/v1/rooms/show"

    private func bearer(_ server: ControlServer, _ identity: String) async throws -> ControlServer.Bearer {
        let claims = AccessClaims(
            identity: identity,
            role: .participant,
            room: "show",
            modes: [.sendAndReceive, .receiveOnly],
            expiresAt: Date().timeIntervalSince1970 + 600
        )
        return .token(try await server.tokens.issue(claims))
    }

    private func beat(_ session: String) -> String { #"{"session_id":"\#(session)"}"# }

    private func status(_ server: ControlServer, _ identity: String) throws -> ParticipantStatus? {
        try server.directory.room("show").participant(identity)?.status
    }

    @Test("T12 a heartbeat connects; 15 s without one is a loss, and 30 s later the session is refused with 53002")
    func heartbeats() async throws {
        let clock = ManualClock()
        try await ControlServer.run(clock: clock) { (server) async throws in
            try await server.makeRoom()
            let ann = try await bearer(server, "ann")
            let joined = try await server.join("show", "ann", "RECV_ONLY", as: ann).decode(JoinAnswer.self)
            let path = "\(Self.show)/participants/ann"
            #expect(joined.participant.status == "connecting")
            let body = beat(joined.sessionID)
            #expect(try await server.ask("POST", "\(path)/heartbeat", body, as: ann).status == 204)
            #expect(try status(server, "ann") == .connected)

            clock.advance(by: .seconds(16))
            server.directory.sweep()
            #expect(try status(server, "ann") == .reconnecting)
            let change = try await server.ask("POST", "\(path)/mode", #"{"mode":"SEND_AND_RECV"}"#, as: ann)
            #expect(change.refusal == "409/3065", "V20 commands wait while the one who gives them is away")
            #expect(change.error?.retryable == true)
            #expect(try await server.ask("PATCH", path, #"{"display_name":"A"}"#, as: ann).refusal == "409/3065")
            #expect(
                try await server.ask("PATCH", path, #"{"display_name":"A"}"#).status == 200,
                "operators need not wait"
            )

            let back = try await server.ask("POST", "\(path)/reconnect", body, as: ann)
            #expect(back.status == 200)
            let answer = try back.decode(JoinAnswer.self)
            #expect(answer.sessionID == joined.sessionID && answer.participant.status == "connected")
            #expect(back.text.contains(#""ingest":null"#))

            clock.advance(by: .seconds(46))
            server.directory.sweep()
            clock.advance(by: .seconds(31))
            server.directory.sweep()
            #expect(try status(server, "ann") == nil)
            for call in ["heartbeat", "reconnect"] {
                let late = try await server.ask("POST", "\(path)/\(call)", body, as: ann)
                #expect(late.refusal == "410/53002", "T13 \(call)")
            }
            let query = "participant=\(joined.participant.sid)&session_id=\(joined.sessionID)"
            #expect(try await server.ask("GET", "\(Self.show)/events?\(query)", as: ann).refusal == "410/53002")
            try server.directory.end(room: "show")
            #expect(try await server.ask("POST", "\(path)/reconnect", body, as: ann).refusal == "404/53106")
        }
    }

    @Test("A stream with the session connects, and is lost five seconds after its end; a stream without it is neither")
    func streams() async throws {
        let clock = ManualClock()
        try await ControlServer.run(clock: clock) { (server) async throws in
            try await server.makeRoom()
            let ann = try await bearer(server, "ann")
            let joined = try await server.join("show", "ann", "RECV_ONLY", as: ann).decode(JoinAnswer.self)
            let path = "\(Self.show)/events?participant=ann"
            let looking = try server.events(path, as: ann)
            var seen = looking.events.makeAsyncIterator()
            _ = await seen.next()
            #expect(await seen.next()?.name == "room.snapshot")
            #expect(try status(server, "ann") == .connecting)

            let client = try server.events("\(path)&session_id=\(joined.sessionID)", as: ann)
            var events = client.events.makeAsyncIterator()
            _ = await events.next()
            _ = await events.next()
            #expect(try status(server, "ann") == .connected)
            client.close()
            #expect(try await eventually { server.directory.readerCount == 1 })
            clock.advance(by: .seconds(4))
            server.directory.sweep()
            #expect(try status(server, "ann") == .connected)
            clock.advance(by: .seconds(1))
            server.directory.sweep()
            #expect(try status(server, "ann") == .reconnecting)
            looking.close()
        }
    }

    @Test("A participant's token is accepted in the URL of an event stream; other tokens and routes are refused")
    func tokenInAddress() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let ann = try await server.tokens.issue(identity: "ann", room: "show", mode: .receiveOnly, expiresIn: 60)
            let root = try await server.tokens.issueOperator(expiresIn: 60)
            let mixer = try await server.tokens.issue(identity: "m", room: "show", role: .mixer, expiresIn: 60)
            let client = try server.events("\(Self.show)/events?access_token=\(ann)", as: .unauthenticated)
            var events = client.events.makeAsyncIterator()
            _ = await events.next()
            #expect(await events.next()?.name == "room.snapshot")
            client.close()
            for (token, refusal) in [(root, "403/20106"), (mixer, "401/20101"), ("x.y.z", "401/20101")] {
                for path in ["\(Self.show)/events?", "/v1/events?identity=me&"] {
                    let answer = try await server.ask("GET", "\(path)access_token=\(token)", as: .unauthenticated)
                    #expect(answer.refusal == refusal, "\(path)")
                }
            }
            for path in [Self.show, "\(Self.show)/participants", "\(Self.show)/layout"] {
                let answer = try await server.ask("GET", "\(path)?access_token=\(ann)", as: .unauthenticated)
                #expect(answer.refusal == "401/20101", "\(path)")
            }
        }
    }

    @Test("Other participants cannot send heartbeats, reconnect or follow for a session")
    func unverifiedClients() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let (ann, ben) = (try await bearer(server, "ann"), try await bearer(server, "ben"))
            let joined = try await server.join("show", "ann", as: ann).decode(JoinAnswer.self)
            let body = beat(joined.sessionID)
            for reference in ["ann", joined.participant.sid] {
                let path = "\(Self.show)/participants/\(reference)"
                for call in ["heartbeat", "reconnect"] {
                    #expect(try await server.ask("POST", "\(path)/\(call)", body, as: ben).refusal == "403/20106")
                }
                let query = "participant=\(reference)&session_id=\(joined.sessionID)"
                #expect(try await server.ask("GET", "\(Self.show)/events?\(query)", as: ben).refusal == "403/20106")
            }
            let path = "\(Self.show)/participants/ann/heartbeat"
            #expect(try await server.ask("POST", path, "{}", as: ann).refusal == "400/53004")
            #expect(try await server.ask("POST", path, beat("SEother"), as: ann).error?.code != nil)
        }
    }

    @Test("1002 a removed participant receives it from every request with its session")
    func removed() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let ann = try await bearer(server, "ann")
            let joined = try await server.join("show", "ann", as: ann).decode(JoinAnswer.self)
            let path = "\(Self.show)/participants/ann"
            #expect(try await server.ask("DELETE", "\(path)?reason=removed").status == 204)
            for reference in ["ann", joined.participant.sid] {
                for call in ["heartbeat", "reconnect"] {
                    let path = "\(Self.show)/participants/\(reference)/\(call)"
                    let answer = try await server.ask("POST", path, beat(joined.sessionID), as: ann)
                    #expect(answer.refusal == "410/1002" && answer.error?.name == "REMOVE_PEER", "\(call)")
                    #expect(answer.error?.retryable == false)
                }
                let query = "participant=\(reference)&session_id=\(joined.sessionID)"
                #expect(try await server.ask("GET", "\(Self.show)/events?\(query)", as: ann).refusal == "410/1002")
            }
        }
    }

    @Test("An operator keeps the sessions of participants it let in, and creates none for a bare encoder")
    func operators() async throws {
        let clock = ManualClock()
        try await ControlServer.run(clock: clock) { (server) async throws in
            try await server.makeRoom()
            let joined = try await server.join("show", "ann").decode(JoinAnswer.self)
            let path = "\(Self.show)/participants/ann"
            let body = beat(joined.sessionID)
            for call in ["heartbeat", "reconnect"] {
                #expect(try await server.ask("POST", "\(path)/\(call)", body).refusal == "403/20106", "\(call)")
            }
            let client = try server.events("\(Self.show)/events?participant=ann&session_id=\(joined.sessionID)")
            var events = client.events.makeAsyncIterator()
            _ = await events.next()
            #expect(await events.next()?.name == "room.snapshot", "it may look on")
            client.close()
            let isGone = try await eventually { server.directory.readerCount == 0 }
            #expect(isGone)
            clock.advance(by: .seconds(120))
            server.directory.sweep()
            #expect(try status(server, "ann") == .connecting, "its key waits for its encoder")

            let ann = try await bearer(server, "ann")
            #expect(try await server.ask("POST", "\(path)/heartbeat", body, as: ann).status == 204)
            #expect(try await server.ask("POST", "\(path)/heartbeat", body).status == 204, "there is a session to keep")
            let eve = try await server.join("show", "eve", "RECV_ONLY").decode(JoinAnswer.self)
            let received = try await server.ask("POST", "\(Self.show)/participants/eve/heartbeat", beat(eve.sessionID))
            #expect(received.status == 204)
            #expect(try status(server, "eve") == .connected)
            let wrong = try await server.ask("POST", "\(Self.show)/participants/eve/heartbeat", beat("SEother"))
            #expect(wrong.status >= 400)
        }
    }
}
