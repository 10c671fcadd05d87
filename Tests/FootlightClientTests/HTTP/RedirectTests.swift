import Foundation
import FoundationNetworking
import FootlightModel
import Stage
import FootlightTesting
import Testing

@testable import FootlightClient

@Suite("Redirects, and the hosts that receive the token", .timeLimit(.minutes(1)))
struct RedirectTests {
    private func request(_ method: String, _ address: String) throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: address)))
        request.httpMethod = method
        request.httpBody = method == "GET" ? nil : Data("{}".utf8)
        request.setValue("Bearer t", forHTTPHeaderField: "Authorization")
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        return request
    }

    @Test(
        "The token is sent to the original host only, and HTTPS never redirects to HTTP",
        arguments: [
            ("https://a.example/v1/x", "/v1/y", "https://a.example/v1/y", true),
            ("https://a.example/v1/x", "y?z=1", "https://a.example/v1/y?z=1", true),
            ("https://a.example/x", "https://A.example:443/y", "https://A.example:443/y", true),
            ("http://a.example:8080/x", "https://a.example/x", "https://a.example/x", true),
            ("https://a.example/x", "https://b.example/x", "https://b.example/x", false),
            ("https://a.example/x", "//a.example.evil/x", "https://a.example.evil/x", false),
            ("https://a.example/x", "https://a.example:8443/x", "https://a.example:8443/x", false),
            ("https://a.example/x", "http://a.example/x", nil, false),
            ("https://a.example/x", "file:///etc/passwd", nil, false), ("https://a.example/x", nil, nil, false),
        ] as [(String, String?, String?, Bool)]
    )
    func token(from: String, location: String?, to: String?, keepsToken: Bool) throws {
        let next = Redirect.next(after: try request("GET", from), status: 307, location: location)
        #expect(next?.url?.absoluteString == to)
        #expect(next?.value(forHTTPHeaderField: "Authorization") == (keepsToken ? "Bearer t" : nil))
    }

    @Test("A redirect keeps the method except for 303; an invalid redirect is not followed")
    func methods() throws {
        let command = try request("POST", "https://a.example/x")
        for status in [301, 302, 307, 308] {
            let next = try #require(Redirect.next(after: command, status: status, location: "/y"))
            #expect(next.httpMethod == "POST" && next.httpBody == command.httpBody, "\(status)")
        }
        let other = try #require(Redirect.next(after: command, status: 303, location: "/y"))
        #expect(other.httpMethod == "GET" && other.httpBody == nil)
        #expect(other.value(forHTTPHeaderField: "Content-Type") == nil)
        for status in [200, 300, 304, 404] {
            #expect(Redirect.next(after: command, status: status, location: "/y") == nil)
        }
    }

    @Test("A redirect to another path keeps the token, to another host drops it; method and body stay")
    func wire() async throws {
        let other = try ScriptedHTTPServer { _ in .whole(status: 401, body: "") }
        defer { other.close() }
        let elsewhere = "http://127.0.0.1:\(other.port)/v1/rooms/there"
        let server = try ScriptedHTTPServer { request in
            switch request {
            case "POST /v1/rooms/here/participants": .redirect(status: 302, to: "/v1/rooms/moved/participants")
            case "POST /v1/rooms/moved/participants": .whole(status: 201, body: WireFixtures.joinAnswer())
            case "GET /v1/rooms/there": .redirect(status: 301, to: elsewhere)
            default: .redirect(status: 307, to: "/v1/rooms/round")
            }
        }
        defer { server.close() }
        let client = BroadcastClient(baseURL: try GatewayFixture.address(server.port), token: "secret")
        let answer = try await client.join("here", JoinBody(identity: "ann", mode: "SEND_AND_RECV"))
        #expect(answer.participant.identity == "ann")
        let moved = try #require(server.texts.last)
        #expect(moved.contains("Bearer secret") && moved.contains("\"identity\":\"ann\""))
        await #expect(throws: StageError.self) { try await client.room("there") }
        #expect(other.requests == ["GET /v1/rooms/there"])
        #expect(other.texts.first?.contains("secret") == false, "the token is nobody else's")
        let before = server.requests.count
        do throws(StageError) {
            _ = try await client.room("round")
        } catch {
            #expect(error.code == 307 && server.requests.count == before + 1 + Redirect.maximumCount, "not for ever")
        }
    }

    @Test("A redirected event stream is followed, to another host without the token")
    func stream() async throws {
        let other = try ScriptedHTTPServer { _ in .whole(status: 401, body: "") }
        defer { other.close() }
        let elsewhere = "http://127.0.0.1:\(other.port)/v1/rooms/away/events"
        let server = try ScriptedHTTPServer { request in
            switch request {
            case "GET /v1/rooms/here/events": .redirect(status: 307, to: "/v1/rooms/moved/events")
            case "GET /v1/rooms/moved/events":
                .stream(WireFixtures.snapshot(rev: 1, WireFixtures.participant("ann")))
            default: .redirect(status: 307, to: elsewhere)
            }
        }
        defer { server.close() }
        let client = BroadcastClient(baseURL: try GatewayFixture.address(server.port), token: "secret")
        for try await event in client.events(of: "here") {
            #expect(event.type == "room.snapshot")
            break
        }
        #expect(server.texts.last?.contains("Bearer secret") == true)
        await #expect(throws: StageError.self) { for try await _ in client.events(of: "away") {} }
        #expect(other.texts.count == 1 && other.texts.first?.contains("secret") == false)
    }

    @Test("Retry-After is limited to an hour", arguments: [Int.max, .min, 5])
    func retry(seconds: Int) throws {
        let answer = ServerResponse(status: 503, retryAfter: seconds, location: nil, body: Data())
        let wait = try #require(StageError.refusal(answer).retryAfter)
        #expect((0...3600).contains(wait))
        #expect(wait == min(max(seconds, 0), 3600))
    }
}
