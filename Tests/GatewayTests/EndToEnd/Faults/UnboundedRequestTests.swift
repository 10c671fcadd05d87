import Foundation
import TestSupport
import Testing

@Suite("Requests without end", .enabled(if: TestRun.isFull), .serialized, .timeLimit(.minutes(2)))
struct UnboundedRequestTests {
    private static let mebibyte = 1 << 20
    /// The size of both sides' socket buffers.
    private static let socketBuffers = 16 * mebibyte

    /// Requests after which the decoder buffers, with the byte that is repeated after them.
    private static let openings: [(String, UInt8)] = [
        ("CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", 120),
        ("GET /livez HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n", 120),
        ("POST /livez HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\nContent-Length: 1\r\n\r\ny", 120),
        // Spaces after a header name, after a target, and in a trailer.
        ("GET /livez HTTP/1.1\r\nHost: a\r\nA:", 32),
        ("GET /livez", 32),
        ("POST /livez HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA:", 32),
        ("GET /livez HTTP/1.1\r\nHost: a\r\nA: ", 120),
        ("GET /", 120),
        ("POST /nowhere HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000000\r\n\r\n", 120),
        ("", 0),
    ]

    private static func peakBytes(of gateway: GatewayProcess) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(gateway.endpoints.pid)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        let words = line.split { $0 == " " || $0 == "\t" }
        return try #require(words.dropFirst().first.flatMap { Int($0) }) << 10
    }

    @Test("refuses hundreds of MiB after any request on both listeners without using memory")
    func floods() async throws {
        let gateway = try await GatewayProcess()
        let before = try Self.peakBytes(of: gateway)
        for port in [gateway.endpoints.httpPort, gateway.endpoints.adminPort] {
            for (opening, byte) in Self.openings {
                let client = try RawTCPClient(port: port)
                client.send(opening)
                let (sent, isClosed) = client.flood(with: byte, limit: 300 * Self.mebibyte)
                let isAdmin = port == gateway.endpoints.adminPort
                #expect(sent < Self.socketBuffers && isClosed, "\(isAdmin) \(opening.prefix(80))")
            }
        }
        let after = try Self.peakBytes(of: gateway)
        #expect(after - before < 48 * Self.mebibyte, "\(before >> 20) to \(after >> 20) MiB")
        #expect(try await gateway.request("GET", port: gateway.endpoints.httpPort, "/livez").status == 200)
        #expect(try await gateway.request("GET", port: gateway.endpoints.adminPort, "/livez").status == 200)
        #expect(!gateway.log.contains(" error "), "\(gateway.log.suffix(1000))")
    }

    @Test("closes an event stream's connection on any further data")
    func eventStream() async throws {
        let gateway = try await GatewayProcess()
        #expect(try await gateway.api("POST", "/v1/rooms", ["unique_name": "show"]).status == 201)
        let before = try Self.peakBytes(of: gateway)
        let token = try gateway.operatorToken
        let upgrade = "Connection: Upgrade\r\nUpgrade: x\r\n"
        for (fields, next, byte) in [
            (upgrade, "", UInt8(120)), ("", "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", 120),
            ("", "GET / HTTP/1.1\r\n\(upgrade)\r\n", 120), ("", "GET /livez", 32), ("", "", 0),
            ("", "POST /livez HTTP/1.1\r\nContent-Length: 1000000000000\r\n\r\n", 120),
        ] {
            let client = try RawTCPClient(port: gateway.endpoints.httpPort)
            client.send("GET /v1/rooms/show/events HTTP/1.1\r\nAuthorization: Bearer \(token)\r\n\(fields)\r\n")
            #expect(client.readSome().hasPrefix("HTTP/1.1 200"))
            client.send(next)
            let (sent, isClosed) = client.flood(with: byte, limit: 300 * Self.mebibyte)
            #expect(sent < Self.socketBuffers && isClosed, "\(fields) \(next)")
        }
        let after = try Self.peakBytes(of: gateway)
        #expect(after - before < 48 * Self.mebibyte, "\(before >> 20) to \(after >> 20) MiB")
    }

    @Test("answers malformed chunks with 400 and logs no error")
    func malformedBodies() async throws {
        let gateway = try await GatewayProcess()
        let token = try gateway.operatorToken
        for path in ["/v1/rooms", "/v1/cdn-logs", "/v1/cmcd", "/nowhere", "/dashboard/session", "/live/a/index.m3u8"] {
            for body in [
                "Transfer-Encoding: xchunked\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
                "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\nx\r\n",
                "Transfer-Encoding: chunked\r\n\r\n0\r\n" + String(repeating: "a: b\r\n", count: 5000) + "\r\n",
            ] {
                let client = try RawTCPClient(port: gateway.endpoints.httpPort)
                client.send("POST \(path) HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(token)\r\n\(body)")
                let answer = client.readToEnd()
                // The response may have been sent before the body was read.
                let isRefused = [" 400 ", " 404 ", " 403 "].contains { answer.hasPrefix("HTTP/1.1\($0)") }
                #expect(isRefused, "\(path) \(body.prefix(60)): \(answer.prefix(40))")
            }
        }
        #expect(!gateway.log.contains(" error "), "\(gateway.log.suffix(1000))")
        #expect(try await gateway.api("GET", "/v1/rooms").json["rooms"].elements.isEmpty)
    }
}
