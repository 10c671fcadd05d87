import Foundation
import FootlightTesting
import Stage
import Synchronization
import TestSupport
import Testing

@testable import FootlightClient

@MainActor
@Suite("A client that asks for its tokens", .timeLimit(.minutes(1)))
struct TokenProviderTests {
    /// Counts tokens, which it makes with a lifetime.
    private final class Provider: Sendable {
        private let count = Mutex(0)
        private let lifetime: Int?

        init(lifetime: Int? = nil) {
            self.lifetime = lifetime
        }

        var calls: Int { count.withLock { $0 } }

        func next() -> String {
            let number = count.withLock { count in
                count += 1
                return count
            }
            guard let lifetime else { return "t\(number)" }
            let payload = Data(#"{"iat":1000,"exp":\#(1000 + lifetime),"jti":"\#(number)"}"#.utf8).base64EncodedString()
            return "e30.\(payload.replacing("=", with: "")).\(number)"
        }
    }

    private func client(
        _ server: ScriptedHTTPServer,
        clock: ClientClock = .system,
        _ provider: @escaping BroadcastClient.TokenProvider
    ) throws -> BroadcastClient {
        BroadcastClient(baseURL: try GatewayFixture.address(server.port), tokenProvider: provider, clock: clock)
    }

    private nonisolated static let expired = "{\"error\":\(WireFixtures.error(20104, name: "AccessTokenExpiredError"))}"

    /// Answers the first requests with 20104.
    private func server(refusing refused: Int) throws -> ScriptedHTTPServer {
        let count = Mutex(0)
        return try ScriptedHTTPServer { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return number <= refused ? .whole(status: 401, body: Self.expired) : .whole(status: 200, body: "{}")
        }
    }

    private func tokens(_ server: ScriptedHTTPServer) -> [String] {
        server.texts.compactMap { text in
            text.split(separator: "\r\n").first { $0.hasPrefix("Authorization: Bearer ") }.map {
                String($0.dropFirst(22))
            }
        }
    }

    @Test("The provider is asked before the first request, and the token is used by all copies")
    func first() async throws {
        let server = try server(refusing: 0)
        defer { server.close() }
        let provider = Provider()
        let client = try client(server) { provider.next() }
        let copy = client
        #expect(client.token.isEmpty)
        try await client.leave("a", in: "r")
        try await copy.leave("b", in: "r")
        #expect(tokens(server) == ["t1", "t1"] && provider.calls == 1 && copy.token == "t1")
        var fixed = client
        fixed.token = "mine"
        try await fixed.leave("a", in: "r")
        #expect(tokens(server).last == "mine" && client.token == "t1")
    }

    @Test("A token that is refused as expired is replaced, at most twice for one request")
    func refused() async throws {
        let server = try server(refusing: 2)
        defer { server.close() }
        let provider = Provider()
        let client = try client(server) { provider.next() }
        try await client.leave("a", in: "r")
        #expect(tokens(server) == ["t1", "t2", "t3"])

        let strict = try self.server(refusing: 100)
        defer { strict.close() }
        let other = Provider()
        let hopeful = try self.client(strict) { other.next() }
        await #expect(throws: StageError.self) { try await hopeful.leave("a", in: "r") }
        #expect(tokens(strict) == ["t1", "t2", "t3"] && other.calls == 3)
    }

    @Test("A token is replaced a minute before it expires, whatever the device's date")
    func expiring() async throws {
        let server = try server(refusing: 0)
        defer { server.close() }
        let clock = ManualClientClock()
        let provider = Provider(lifetime: 600)
        let client = try client(server, clock: clock.clock) { provider.next() }
        try await client.leave("a", in: "r")
        clock.advance(.seconds(539))
        try await client.leave("a", in: "r")
        #expect(provider.calls == 1)
        clock.advance(.seconds(2))
        try await client.leave("a", in: "r")
        #expect(provider.calls == 2)
        #expect(TokenSource.usableTime(of: Provider(lifetime: 100).next()) == .seconds(90))
        #expect(TokenSource.usableTime(of: "no.token.at all") == nil && TokenSource.usableTime(of: "opaque") == nil)
    }

    @Test("The claims of a token are its bearer and its mode; other texts have none")
    func claims() throws {
        func token(_ payload: String) -> String {
            let text = Data(payload.utf8).base64EncodedString().replacing("=", with: "")
            return "e30.\(text.replacing("+", with: "-").replacing("/", with: "_")).x"
        }
        let viewer = try #require(TokenClaims(token(#"{"sub":"ann~?>","footlight":{"mode":"RECV_ONLY"},"exp":9}"#)))
        #expect(viewer.identity == "ann~?>" && viewer.mode == .receiveOnly)
        let machine = try #require(TokenClaims(token(#"{"sub":"m","footlight":{"role":"monitor"}}"#)))
        #expect(machine.mode == nil)
        #expect(try #require(TokenClaims(token(#"{"footlight":{"mode":"LATER"}}"#))).mode == nil)
        for text in ["", "a.b.c", token("[]"), "e30.e30", token(#"{"sub":1}"#)] { #expect(TokenClaims(text) == nil) }
    }

    @Test("Concurrent requests wait for one token")
    func concurrent() async throws {
        let server = try server(refusing: 0)
        defer { server.close() }
        let provider = Provider()
        let client = try client(server) {
            try await Task.sleep(for: .milliseconds(100))
            return provider.next()
        }
        async let first: Void = client.leave("a", in: "r")
        async let second: Void = client.leave("b", in: "r")
        async let third: Void = client.leave("c", in: "r")
        _ = try await (first, second, third)
        #expect(provider.calls == 1 && tokens(server) == ["t1", "t1", "t1"])
    }

    @Test("An error of the provider is thrown: a StageError unchanged, others as 53000")
    func failing() async throws {
        let server = try server(refusing: 0)
        defer { server.close() }
        let refusing = try client(server) { throw StageError.tokenInvalid }
        await #expect(throws: StageError.tokenInvalid) { try await refusing.leave("a", in: "r") }
        let broken = try client(server) { throw ToolFailure("no server") }
        do throws(StageError) {
            try await broken.leave("a", in: "r")
            Issue.record("sent")
        } catch {
            #expect(error.code == 53000 && error.cause.contains("no server") && error.isRetryable)
        }
        #expect(server.requests.isEmpty)
    }

    @Test("An event stream that ends with its token continues with a new one")
    func events() async throws {
        let count = Mutex(0)
        let server = try ScriptedHTTPServer { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            let end = ",\"error\":\(WireFixtures.error(20104, name: "AccessTokenExpiredError"))"
            return switch number {
            case 1: .stream(WireFixtures.snapshot(rev: 1) + WireFixtures.event("session.disconnected", rev: 1, end))
            case 2: .whole(status: 401, body: Self.expired)
            default: .stream(WireFixtures.event("layout.changed", rev: 2) + WireFixtures.event("room.ended", rev: 3))
            }
        }
        defer { server.close() }
        let provider = Provider()
        let client = try client(server) { provider.next() }
        var types: [String] = []
        for try await event in client.events(of: "r") { types.append(event.type.rawValue) }
        #expect(types == ["room.snapshot", "layout.changed", "room.ended"])
        #expect(tokens(server) == ["t1", "t2", "t3"])
    }
}
