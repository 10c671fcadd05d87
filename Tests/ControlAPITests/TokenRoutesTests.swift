import Foundation
import FootlightModel
import HTTPTypes
import Media
import Stage
import Synchronization
import FootlightTesting
import TestSupport
import Testing

@testable import ControlAPI

@Suite("Token revocation", .enabled(if: TestRun.isFull))
struct TokenRoutesTests {
    private static let revoke = "/v1/tokens/revoke"
    private static let list = "/v1/tokens/revoked"

    private func ann(_ server: ControlServer) async throws -> (bearer: ControlServer.Bearer, id: String, token: String)
    {
        let token = try await server.tokens.issue(identity: "ann", room: "show", mode: .receiveOnly, expiresIn: 600)
        let id = try #require(try await server.tokens.verify(token).tokenID)
        return (.token(token), id, token)
    }

    @Test("A token revoked by id is refused immediately with 20101, is listed, and can be restored")
    func byID() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let ann = try await ann(server)
            #expect(try await server.ask("GET", "/v1/rooms/show", as: ann.bearer).status == 200)
            let answer = try await server.ask("POST", Self.revoke, #"{"jti":"\#(ann.id)"}"#)
            let entry = try answer.decode(RevokedTokenResource.self)
            #expect(answer.status == 200 && entry.jti == ann.id && entry.revokedBy == "operator")
            let refused = try await server.ask("GET", "/v1/rooms/show", as: ann.bearer)
            #expect(refused.refusal == "401/20101" && refused.error?.message == "Access Token revoked")
            #expect(refused.error?.retryable == false)
            let list = try await server.ask("GET", Self.list).decode(RevokedTokenList.self)
            #expect(list.tokens == [entry] && list.meta.nextPageToken == nil)
            let again = try await server.ask("POST", Self.revoke, #"{"jti":"\#(ann.id)"}"#)
            let repeated = try again.decode(RevokedTokenResource.self)
            #expect(repeated.jti == entry.jti && repeated.revokedAt == entry.revokedAt)
            #expect(try await server.ask("DELETE", "\(Self.list)/\(ann.id)").status == 204)
            #expect(try await server.ask("DELETE", "\(Self.list)/\(ann.id)").refusal == "404/404")
            #expect(try await server.ask("GET", "/v1/rooms/show", as: ann.bearer).status == 200)
        }
    }

    @Test("A token revoked by itself is listed with its bearer and expiry; revoking it twice has no further effect")
    func byToken() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let ann = try await ann(server)
            for _ in 0..<2 {
                let answer = try await server.ask("POST", Self.revoke, #"{"token":"\#(ann.token)"}"#)
                let entry = try answer.decode(RevokedTokenResource.self)
                #expect(entry.jti == ann.id && entry.identity == "ann" && entry.role == "participant")
                let left = entry.expiresAt.seconds - Date().timeIntervalSince1970
                #expect((590...601).contains(left))
            }
            #expect(try await server.ask("GET", "/v1/rooms/show", as: ann.bearer).refusal == "401/20101")
            #expect(try await server.ask("GET", Self.list).decode(RevokedTokenList.self).tokens.count == 1)
        }
    }

    @Test("A request that names no token, two tokens, or an invalid one is refused with 3073")
    func wrongBodies() async throws {
        try await ControlServer.run { (server) async throws in
            let foreign = await AccessTokens(signingKey: [UInt8](repeating: 8, count: 32), kid: "k1")
            let forged = try await foreign.issueOperator(expiresIn: 60)
            let late = try await server.tokens.issueOperator(expiresIn: -60)
            for body in [
                "{}", #"{"jti":"a","token":"b"}"#, #"{"jti":""}"#, #"{"jti":"\#(String(repeating: "x", count: 129))"}"#,
                #"{"jti":"a","expires_at":"2001-01-01T00:00:00Z"}"#,
                #"{"jti":"a","expires_at":"9001-01-01T00:00:00Z"}"#,
                #"{"token":"x"}"#, #"{"token":"\#(forged)"}"#, #"{"token":"\#(late)"}"#,
            ] {
                #expect(try await server.ask("POST", Self.revoke, body).refusal == "400/3073", "\(body)")
            }
            #expect(try await server.ask("POST", Self.revoke, #"{"jti":7}"#).refusal == "400/53004")
            #expect(try await server.ask("GET", Self.list).decode(RevokedTokenList.self).tokens.isEmpty)
        }
    }

    @Test("Only operators revoke, list and restore")
    func rights() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let end = Date().timeIntervalSince1970 + 60
            var bearers = [try await ann(server).bearer]
            for role in [AccessRole.monitor, .relay, .thumbnail] {
                let claims = AccessClaims(identity: "box", role: role, expiresAt: end)
                bearers.append(.token(try await server.tokens.issue(claims)))
            }
            for bearer in bearers {
                #expect(try await server.ask("POST", Self.revoke, #"{"jti":"x"}"#, as: bearer).refusal == "403/20106")
                #expect(try await server.ask("GET", Self.list, as: bearer).refusal == "403/20106")
                #expect(try await server.ask("DELETE", Self.list + "/x", as: bearer).refusal == "403/20106")
            }
        }
    }

    @Test("The list is paged in the order of revocation")
    func pages() async throws {
        try await ControlServer.run { (server) async throws in
            for number in 0..<5 { _ = try await server.ask("POST", Self.revoke, #"{"jti":"t\#(number)"}"#) }
            let first = try await server.ask("GET", Self.list + "?page_size=3").decode(RevokedTokenList.self)
            let next = try #require(first.meta.nextPageToken)
            let second = try await server.ask("GET", Self.list + "?page_size=3&page_token=\(next)")
            let rest = try second.decode(RevokedTokenList.self)
            #expect((first.tokens + rest.tokens).map(\.jti) == ["t0", "t1", "t2", "t3", "t4"])
            #expect(rest.meta.nextPageToken == nil)
        }
    }

    @Test(
        "The event stream of a revoked token ends, a room's with 20101 as its final event",
        .timeLimit(.minutes(1)),
        arguments: ["/v1/rooms/show/events", "/v1/events?identity=me"]
    )
    func eventStream(path: String) async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let ann = try await ann(server)
            let client = try server.events(path, as: ann.bearer)
            var events = client.events.makeAsyncIterator()
            #expect(await events.next()?.retry == "2000")
            if path.contains("rooms") { #expect(await events.next()?.name == "room.snapshot") }
            _ = try await server.ask("POST", Self.revoke, #"{"jti":"\#(ann.id)"}"#)
            var last: EventClient.Event?
            while let event = await events.next() { last = event }
            if path.contains("rooms") {
                #expect(last?.name == "session.disconnected" && last?.data?.error?.code == 20101)
            }
            client.close()
        }
    }

    @Test(
        "Viewership and level streams end when their token is revoked",
        .timeLimit(.minutes(1)),
        arguments: ["/v1/viewership/events", "/v1/rooms/show/levels"]
    )
    func otherStreams(path: String) async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let claims = AccessClaims(
                identity: "eye",
                role: .monitor,
                expiresAt: Date().timeIntervalSince1970 + 60,
                tokenID: "eye-1"
            )
            let client = try server.events(path, as: .token(try await server.tokens.issue(claims)))
            var events = client.events.makeAsyncIterator()
            #expect(await events.next()?.retry == "2000")
            _ = try await server.ask("POST", Self.revoke, #"{"jti":"eye-1"}"#)
            while await events.next() != nil {}
            client.close()
        }
    }

    @Test(
        "An event stream of the dashboard ends within two seconds of its login; others go on",
        .timeLimit(.minutes(1)),
        arguments: [
            "/v1/rooms/show/events", "/v1/events?identity=ann", "/v1/viewership/events", "/v1/rooms/show/levels",
        ]
    )
    func loggedOut(path: String) async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let client = try server.events(path, headers: [ControlServer.login.rawName: "one"])
            let other = try server.events(path, headers: [ControlServer.login.rawName: "two"])
            var (events, others) = (client.events.makeAsyncIterator(), other.events.makeAsyncIterator())
            for first in [await events.next(), await others.next()] { #expect(first?.retry == "2000") }
            if path.hasPrefix("/v1/rooms/show/events") { #expect(await events.next()?.name == "room.snapshot") }
            server.endedLogins.withLock { _ = $0.insert("one") }
            let end = ContinuousClock.now
            // As the gateway does once a second.
            server.tokens.revocations.endConnections()
            var last: EventClient.Event?
            while let event = await events.next() { last = event }
            #expect(ContinuousClock.now - end < .seconds(2))
            if path.hasPrefix("/v1/rooms/show/events") {
                #expect(last?.name == "session.disconnected" && last?.data?.error?.message == "Logged out")
            }
            if path.hasPrefix("/v1/rooms/show/events") {
                server.directory.broadcastHeartbeat()
                while let event = await others.next(), event.name != "heartbeat" {
                    #expect(event.name == "room.snapshot")
                }
            }
            client.close()
            other.close()
        }
    }

    /// Records the codes with which connections ended.
    private final class EndedConnections: Sendable {
        private let endedCodes = Mutex<[Int]>([])

        var codes: [Int] { endedCodes.withLock { $0 } }

        func end(_ error: StageError) {
            endedCodes.withLock { $0.append(error.code) }
        }
    }

    @Test("A stream whose token expires ends with 20104")
    func expired() async throws {
        let time = Mutex(1000.0)
        let revocations = TokenRevocations([], store: nil) { time.withLock { $0 } }
        let endings = EndedConnections()
        func observe(_ id: String, outlives: Bool) -> TokenObservation {
            let claims = AccessClaims(identity: "a", role: .monitor, expiresAt: 1100, tokenID: id)
            return revocations.observe(claims, outlivesToken: outlives) { endings.end($0) }
        }
        let first = observe("one", outlives: false)
        let second = observe("two", outlives: true)
        time.withLock { $0 = 1129 }
        revocations.endConnections()
        #expect(endings.codes.isEmpty, "thirty seconds for clocks that differ")
        time.withLock { $0 = 1131 }
        revocations.endConnections()
        revocations.endConnections()
        #expect(endings.codes == [20104])
        try await revocations.revoke(RevokedToken(id: "two", revokedAt: 0, revokedBy: "b", expiresAt: 2000))
        #expect(endings.codes == [20104, 20101])
        // A token that has expired already ends the connection immediately.
        let third = observe("two", outlives: true)
        #expect(endings.codes == [20104, 20101, 20101])
        withExtendedLifetime((first, second, third)) {}
    }

    @Test("A released observation is not called, and expired tokens are removed from the list")
    func forgets() async throws {
        let time = Mutex(1000.0)
        let old = RevokedToken(id: "old", revokedAt: 0, revokedBy: "b", expiresAt: 900)
        let revocations = TokenRevocations([old], store: nil) { time.withLock { $0 } }
        #expect(revocations.all.isEmpty && !revocations.contains("old"))
        let endings = EndedConnections()
        let claims = AccessClaims(identity: "a", role: .monitor, expiresAt: 1100, tokenID: "one")
        do {
            let observe = revocations.observe(claims) { endings.end($0) }
            withExtendedLifetime(observe) {}
        }
        try await revocations.revoke(RevokedToken(id: "one", revokedAt: 1000, revokedBy: "b", expiresAt: 1100))
        #expect(endings.codes.isEmpty)
        #expect(revocations.all.map(\.id) == ["one"])
        time.withLock { $0 = 1131 }
        #expect(revocations.all.isEmpty)
    }

    @Test("A full list refuses further tokens, and a list that cannot be written stays in force")
    func limits() async throws {
        let end = Date().timeIntervalSince1970 + 600
        let many = (0..<TokenRevocations.capacity).map { number in
            RevokedToken(id: "t\(number)", revokedAt: 0, revokedBy: "b", expiresAt: end)
        }
        let full = TokenRevocations(many)
        let one = RevokedToken(id: "one", revokedAt: 0, revokedBy: "b", expiresAt: end)
        let refusal = await #expect(throws: StageError.self) { try await full.revoke(one) }
        #expect(refusal?.code == 53006 && !full.contains("one") && full.contains("t7"))

        struct BrokenStore: RevokedTokenStoring {
            func save(_: @escaping @Sendable ([RevokedToken]) -> [RevokedToken]) async throws {
                throw CancellationError()
            }
        }
        let broken = TokenRevocations(store: BrokenStore())
        let fault = await #expect(throws: StageError.self) { try await broken.revoke(one) }
        #expect(fault?.status == 500 && fault?.isRetryable == true && broken.contains("one"))
    }

    @Test("A second revocation keeps the later expiry, and entries of an earlier run are merged")
    func again() async throws {
        let end = Date().timeIntervalSince1970 + 600
        let list = TokenRevocations()
        try await list.revoke(RevokedToken(id: "one", revokedAt: 1, revokedBy: "b", expiresAt: end))
        let second = RevokedToken(id: "one", identity: "ann", revokedAt: 2, revokedBy: "c", expiresAt: end + 600)
        let known = try await list.revoke(second)
        #expect(known.revokedAt == 1 && known.revokedBy == "b" && known.identity == "ann")
        #expect(known.expiresAt == end + 600 && list.all == [known])
        _ = try await list.revoke(RevokedToken(id: "one", revokedAt: 3, revokedBy: "c", expiresAt: end))
        #expect(list.all == [known])
        let earlier = RevokedToken(id: "two", revokedAt: 0, revokedBy: "a", expiresAt: end)
        #expect(list.all(with: [earlier]).map(\.id) == ["two", "one"] && list.contains("two"))
    }

    @Test("The audit log names the bearer and token of a revocation, and the token of each command")
    func audit() async throws {
        try await ControlServer.run { (server) async throws in
            let claims = AccessClaims(
                identity: "grace",
                role: .operator,
                expiresAt: Date().timeIntervalSince1970 + 60,
                tokenID: "grace-1"
            )
            let grace = ControlServer.Bearer.token(try await server.tokens.issue(claims))
            let ann = try await ann(server)
            _ = try await server.ask("POST", Self.revoke, #"{"token":"\#(ann.token)"}"#, as: grace)
            let lines = server.log.lines
            let revoked = try #require(lines.first { $0.message == "token revoked" })
            #expect(revoked.metadata == ["token_id": ann.id, "of": "ann", "by": "grace"])
            let command = try #require(lines.first { $0.message == "command done" })
            #expect(command.metadata["who"] == "grace" && command.metadata["token_id"] == "grace-1")
            #expect(!lines.contains { "\($0)".contains(ann.token) })
        }
    }

    @Test("An operator's token in the URL of an event stream is refused with 403 and 20106")
    func operatorInURL() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let token = try await server.tokens.issueOperator(expiresIn: 60)
            for path in ["/v1/rooms/show/events", "/v1/events"] {
                let answer = try await server.ask(
                    "GET",
                    "\(path)?identity=me&access_token=\(token)",
                    as: .unauthenticated
                )
                #expect(answer.refusal == "403/20106" && answer.error?.message == StageError.operatorTokenInURL.message)
            }
        }
    }

    @Test("an operator makes tokens for people and machines, which grant what was asked for until they are revoked")
    func making() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let order =
                #"{"identity":"kim","role":"participant","room":"show","modes":["SEND_AND_RECV"],"expires_in":60}"#
            let answer = try await server.ask("POST", "/v1/tokens", order)
            #expect(answer.status == 201 && answer.headers["cache-control"] == "no-store")
            let token = try answer.decode(TokenResource.self)
            let claims = try await server.tokens.verify(token.token)
            #expect(claims.identity == "kim" && claims.modes == [.sendAndReceive] && claims.tokenID == token.jti)
            #expect(claims.expiresAt == token.expiresAt.seconds)
            let joined = try await server.ask(
                "POST",
                "/v1/rooms/show/participants",
                #"{"identity":"kim","mode":"SEND_AND_RECV"}"#,
                as: .token(token.token)
            )
            #expect(joined.status == 201, "\(joined.text)")

            let second = try await server.ask("POST", "/v1/tokens", #"{"identity":"lee","role":"operator"}"#)
            let lee = try second.decode(TokenResource.self)
            #expect(abs(lee.expiresAt.seconds - Date().timeIntervalSince1970 - 90 * 86_400) < 60)
            #expect(try await server.ask("GET", "/v1/rooms", as: .token(lee.token)).status == 200)
            _ = try await server.ask("POST", "/v1/tokens/revoke", #"{"jti":"\#(lee.jti)"}"#)
            #expect(try await server.ask("GET", "/v1/rooms", as: .token(lee.token)).status == 401)

            for (body, refusal) in [
                (#"{"identity":"a b","role":"operator"}"#, "400/3073"),
                (#"{"identity":"a","role":"mixer"}"#, "400/3073"),
                (#"{"identity":"a","role":"king"}"#, "400/3073"),
                (#"{"identity":"a","role":"participant","modes":["SEND_AND_RECV"]}"#, "400/3073"),
                (#"{"identity":"a","role":"participant","room":"show"}"#, "400/3073"),
                (#"{"identity":"a","role":"operator","room":"show"}"#, "400/3073"),
                (#"{"identity":"a","role":"monitor","expires_in":0}"#, "400/3073"),
                (#"{"identity":"a","role":"monitor","can_admin":["all"]}"#, "400/3073"),
            ] {
                #expect(try await server.ask("POST", "/v1/tokens", body).refusal == refusal, "\(body)")
            }
            let outsider = try await server.ask("POST", "/v1/tokens", order, as: .token(token.token))
            #expect(outsider.refusal == "403/20106")
        }
    }

    @Test("operators list the tokens that were made, the latest first, with who made them and whether they are revoked")
    func listing() async throws {
        try await ControlServer.run { (server) async throws in
            func list(_ query: String = "") async throws -> IssuedTokenList {
                try await server.ask("GET", "/v1/tokens\(query)").decode(IssuedTokenList.self)
            }
            #expect(try await list().tokens.isEmpty)
            let claims = AccessClaims(
                identity: "grace",
                role: .operator,
                expiresAt: Date().timeIntervalSince1970 + 60
            )
            let grace = ControlServer.Bearer.token(try await server.tokens.issue(claims))
            var made: [TokenResource] = []
            for body in [
                #"{"identity":"lee","role":"operator"}"#, #"{"identity":"eye","role":"monitor","room":"show"}"#,
                #"{"identity":"short","role":"monitor","expires_in":1}"#,
            ] {
                made.append(try await server.ask("POST", "/v1/tokens", body, as: grace).decode(TokenResource.self))
            }
            let answer = try await server.ask("GET", "/v1/tokens")
            for token in made { #expect(!answer.text.contains(token.token)) }
            let all = try answer.decode(IssuedTokenList.self).tokens.filter { $0.identity != "short" }
            #expect(all.map(\.jti) == [made[1].jti, made[0].jti])
            #expect(all.map(\.identity) == ["eye", "lee"] && all.map(\.room) == ["show", nil])
            #expect(all.allSatisfy { $0.issuedBy == "grace" && !$0.revoked })
            #expect(all.map(\.role) == ["monitor", "operator"] && all[1].expiresAt == made[0].expiresAt)
            #expect(abs(all[0].issuedAt.seconds - Date().timeIntervalSince1970) < 10)

            _ = try await server.ask("POST", Self.revoke, #"{"jti":"\#(made[0].jti)"}"#)
            let revoked = try await list().tokens.filter(\.revoked)
            #expect(revoked.map(\.jti) == [made[0].jti])
            #expect(try await eventually { try await list().tokens.count == 2 }, "the short one expires")

            let first = try await list("?page_size=1")
            let next = try #require(first.meta.nextPageToken)
            let rest = try await list("?page_size=1&page_token=\(next)")
            #expect(first.tokens.map(\.identity) == ["eye"] && rest.tokens.map(\.identity) == ["lee"])
            #expect(rest.meta.nextPageToken == nil)

            let eye = ControlServer.Bearer.token(made[1].token)
            #expect(try await server.ask("GET", "/v1/tokens", as: eye).refusal == "403/20106")
            let odd = #"{"identity":"a","role":"monitor","room":"no room"}"#
            #expect(try await server.ask("POST", "/v1/tokens", odd).refusal == "400/3073")
        }
    }
}
