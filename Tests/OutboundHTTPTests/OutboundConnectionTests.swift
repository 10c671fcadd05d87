import NIOCore
import NIOPosix
import Testing

@testable import OutboundHTTP

@Suite("Outgoing HTTP client", .timeLimit(.minutes(1)))
struct OutboundConnectionTests {
    private let group = MultiThreadedEventLoopGroup.singleton

    private func target(_ host: String, _ port: Int, path: String = "/in") -> OutboundTarget {
        OutboundTarget(isSecure: false, host: host, port: port, path: path)
    }

    private func post(
        to server: RawServer,
        host: String = "name.invalid",
        at addresses: [String] = ["127.0.0.1"],
        limit: Int = 100,
        within deadline: TimeAmount = .seconds(5)
    ) async throws(OutboundFault) -> OutboundResponse {
        let request = OutboundRequest(
            .post,
            headers: [("content-type", "application/json")],
            body: ByteBuffer(string: "{}"),
            responseLimit: limit
        )
        let target = target(host, server.port)
        return try await OutboundConnection.send(
            request,
            to: target,
            at: addresses,
            group: group,
            by: .now() + deadline
        )
        .response
    }

    @Test("connects to the checked address and never resolves the name")
    func checkedAddress() async throws {
        let server = try await RawServer(answer: "HTTP/1.1 204 No Content\r\n\r\n")
        for host in ["name.invalid", "Name.Invalid", "127.0.0.1"] {
            let response = try await post(to: server, host: host)
            #expect(response.status == 204 && response.ending == .complete && response.isReusable)
            let received = server.received
            #expect(received.hasPrefix("POST /in HTTP/1.1\r\n"))
            #expect(received.lowercased().contains("\r\nhost: \(host.lowercased()):\(server.port)\r\n"))
        }
        try await server.close()
    }

    @Test("accepts no address but that of a literal host, and no name as an address")
    func literals() {
        #expect(OutboundConnection.leads(target("192.0.2.1", 80), to: "192.0.2.1"))
        #expect(OutboundConnection.leads(target("2001:db8::1", 8080), to: "2001:db8:0::1"))
        #expect(OutboundConnection.leads(target("a_b.example", 80), to: "192.0.2.1"))
        #expect(!OutboundConnection.leads(target("192.0.2.1", 80), to: "192.0.2.2"))
        #expect(!OutboundConnection.leads(target("2001:db8::1", 80), to: "192.0.2.1"))
        #expect(!OutboundConnection.leads(target("a.example", 80), to: "b.example"))
        for host in ["", "a b", "user@a.example", "a.example/x", "a.example#", "a.example:81", "a.example?"] {
            #expect(!OutboundConnection.leads(target(host, 80), to: "192.0.2.1"), "\(host)")
        }
        #expect(!OutboundConnection.leads(target("a.example", 80, path: "@b.example/"), to: "192.0.2.1"))
    }

    @Test("follows no redirect")
    func redirect() async throws {
        let server = try await RawServer(
            answer: "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"
        )
        let response = try await post(to: server)
        #expect(response.status == 302 && response.location == "http://127.0.0.1:1/")
        try await server.close()
    }

    @Test("tries the next address if one refuses the connection")
    func nextAddress() async throws {
        let server = try await RawServer(answer: "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")
        let response = try await post(to: server, at: ["127.0.0.2", "127.0.0.1"])
        #expect(response.status == 200 && String(buffer: response.body) == "x")
        await #expect(throws: OutboundFault.unreachable) { _ = try await post(to: server, at: ["127.0.0.2"]) }
        try await server.close()
    }

    @Test("ignores an informational response, and ends at a protocol switch")
    func informational() async throws {
        let server = try await RawServer(
            answer: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 503 Busy\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n"
        )
        let response = try await post(to: server)
        #expect(response.status == 503 && response.retryAfter == "7")
        try await server.close()
        let upgrading = try await RawServer(
            answer: "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"
                + String(repeating: "x", count: 10_000)
        )
        await #expect(throws: OutboundFault.closed) { _ = try await post(to: upgrading) }
        try await upgrading.close()
    }

    @Test("keeps the status of a response whose body is too large, late or cut off")
    func bodies() async throws {
        let large = String(repeating: "x", count: 101)
        let cases: [(answer: String, closes: Bool, ending: OutboundResponse.Ending)] = [
            ("Content-Length: 101\r\n\r\n" + large, false, .tooLarge),
            ("Transfer-Encoding: chunked\r\n\r\n65\r\n" + large + "\r\n", false, .tooLarge),
            ("Content-Length: 2\r\n\r\nx", false, .failed(.timedOut)),
            ("Content-Length: 2\r\n\r\nx", true, .failed(.closed)),
        ]
        for (answer, closes, ending) in cases {
            let server = try await RawServer(answer: "HTTP/1.1 200 OK\r\n" + answer, closes: closes)
            let response = try await post(to: server, within: .milliseconds(500))
            #expect(response.status == 200 && response.ending == ending && !response.isReusable)
            try await server.close()
        }
    }

    @Test("fails when no response comes in time, or the connection closes before it")
    func missing() async throws {
        let silent = try await RawServer(answer: "")
        await #expect(throws: OutboundFault.timedOut) { _ = try await post(to: silent, within: .milliseconds(300)) }
        try await silent.close()
        let closing = try await RawServer(answer: "", closes: true)
        await #expect(throws: OutboundFault.closed) { _ = try await post(to: closing) }
        try await closing.close()
    }
}
