@testable import FanOut
import NIOCore
import NIOEmbedded
import Testing

@Suite("Request limits")
struct RequestLimitTests {
    private func status(_ answer: [UInt8]) -> String { String(decoding: answer.prefix(12), as: UTF8.self) }

    private func line(_ limits: HTTPLimits = HTTPLimits()) throws -> RawHTTPConnection {
        try RawHTTPConnection(to: MediaServiceFixture(limits: limits))
    }

    /// Sends bytes that make the decoder fail, and returns the response.
    private func sendMalformed(_ text: String, _ line: RawHTTPConnection) throws -> [UInt8] {
        #expect(throws: (any Error).self) { try line.channel.writeInbound(ByteBuffer(string: text)) }
        return try line.received()
    }

    private func isClosed(_ line: RawHTTPConnection) -> Bool {
        line.channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        return !line.channel.isActive
    }

    @Test("refuses CONNECT with Allow, and closes the connection")
    func tunnel() throws {
        let line = try line()
        let answer = try line.send("CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(status(answer) == "HTTP/1.1 405")
        let text = String(decoding: answer, as: UTF8.self).lowercased()
        #expect(text.contains("\r\nallow: get, head,") && text.contains("\r\nconnection: close\r\n"))
        #expect(isClosed(line) && line.backend.paths.isEmpty)
    }

    @Test("answers an upgrade request as usual, and closes the connection", arguments: ["GET", "POST"])
    func upgrade(method: String) throws {
        let line = try line()
        let length = method == "POST" ? "Content-Length: 4\r\n" : ""
        let fields = length + "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
        #expect(try line.ask("/v1/x", fields, method: method).isEmpty)
        if method == "POST" { #expect(try line.send("body").isEmpty) }
        #expect(line.backend.ends == 1)
        line.backend.respond("answer")
        let text = String(decoding: try line.received(), as: UTF8.self)
        #expect(text.hasPrefix("HTTP/1.1 200") && text.contains("answer"))
        #expect(text.lowercased().contains("\r\nconnection: close\r\n"))
        #expect(isClosed(line))
        #expect(line.backend.paths == ["/v1/x"])
    }

    @Test("answers a media request with an upgrade, and closes the connection")
    func upgradeOfMedia() throws {
        let fixture = try MediaServiceFixture()
        fixture.goOnAir("r")
        let line = try RawHTTPConnection(to: fixture)
        let answer = try line.ask("/live/r/index.m3u8", "Connection: upgrade\r\nUpgrade: h2c\r\n")
        #expect(status(answer) == "HTTP/1.1 200")
        #expect(String(decoding: answer, as: UTF8.self).lowercased().contains("\r\nconnection: close\r\n"))
        #expect(isClosed(line))
    }

    @Test(
        "refuses malformed HTTP with 400 in order, and closes the connection",
        arguments: [
            "\u{16}\u{3}\u{1}\r\n\r\n", "GET / HTTP/3.7\r\n\r\n", "READ / HTTP/1.1\r\nHost: a\r\n\r\n",
            "POST /v1/x HTTP/1.1\r\nTransfer-Encoding: xchunked\r\n\r\n",
            "POST /v1/x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
            "POST /v1/x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
                + String(repeating: "a: b\r\n", count: 300),
            "POST /live/r/index.m3u8 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
            "GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        ]
    )
    func malformed(text: String) throws {
        let line = try line()
        #expect(status(try sendMalformed(text, line)) == "HTTP/1.1 400")
        #expect(line.backend.ends == 0)
        // Whatever the server behind answers.
        line.backend.respond("late")
        #expect(try line.received().isEmpty)
        #expect(isClosed(line))
    }

    @Test("malformed HTTP while another response is pending closes the connection at once")
    func behindAnswer() throws {
        for hasBegun in [false, true] {
            let line = try line()
            #expect(try line.ask("/v1/events").isEmpty)
            if hasBegun {
                line.backend.begin()
                #expect(status(try line.received()) == "HTTP/1.1 200")
            }
            #expect(try sendMalformed("\u{0}\r\n", line).isEmpty)
            #expect(!line.channel.isActive)
        }
        let line = try line()
        #expect(try line.ask("/v1/events").isEmpty)
        #expect(try line.send("CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n").isEmpty)
        #expect(!line.channel.isActive)
    }

    @Test("a malformed body after the response closes the connection without a second response")
    func answeredBefore() throws {
        let line = try line()
        #expect(try line.ask("/v1/x", "Transfer-Encoding: chunked\r\n", method: "POST").isEmpty)
        line.backend.respond("early")
        #expect(status(try line.received()) == "HTTP/1.1 200")
        #expect(try sendMalformed("x\r\n", line).isEmpty)
        #expect(!line.channel.isActive)
    }

    @Test(
        "refuses a slow body with 408 after ten seconds, for every method and path",
        arguments: [("POST", "/v1/rooms"), ("POST", "/nowhere"), ("GET", "/v1/x"), ("PUT", "/live/r/index.m3u8")]
    )
    func drips(method: String, path: String) throws {
        let line = try line()
        #expect(try line.ask(path, "Content-Length: 1000\r\n", method: method).isEmpty)
        var answer: [UInt8] = []
        var seconds = 0
        while answer.isEmpty, seconds < 60 {
            line.channel.embeddedEventLoop.advanceTime(by: .seconds(1))
            seconds += 1
            // The decoder throws an error if a connection ends within a body.
            answer = (try? line.send("x")) ?? []
            if answer.isEmpty { answer = try line.received() }
        }
        #expect(seconds == 10 && status(answer) == "HTTP/1.1 408")
        #expect(isClosed(line))
    }

    @Test("a slow body after its response closes the connection")
    func dripsBehindAnswer() throws {
        let line = try line()
        #expect(try line.ask("/v1/x", "Content-Length: 1000\r\n", method: "POST").isEmpty)
        line.backend.respond("not allowed")
        _ = try line.received()
        line.channel.embeddedEventLoop.advanceTime(by: .seconds(9))
        #expect(line.channel.isActive)
        line.channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(try !line.channel.isActive && line.received().isEmpty)
    }

    @Test("a large body after the response to its request closes the connection")
    func surplus() throws {
        let line = try line(HTTPLimits(pipelinedBytes: 100))
        #expect(try line.ask("/v1/x", "Content-Length: 1000\r\n", method: "POST").isEmpty)
        line.backend.respond("not allowed")
        #expect(status(try line.received()) == "HTTP/1.1 200")
        #expect(try line.send(String(repeating: "x", count: 100)).isEmpty && line.channel.isActive)
        _ = try? line.send("x")
        #expect(try line.received().isEmpty && line.backend.bodies.utf8.count == 100)
        #expect(isClosed(line))
    }

    @Test("a large body has more time in proportion to its size, two minutes at most")
    func large() throws {
        let limits = HTTPLimits()
        #expect(limits.bodyTime(bytes: 0) == .seconds(10))
        #expect(limits.bodyTime(bytes: 5 << 14) == .seconds(15))
        #expect(limits.bodyTime(bytes: .max) == .seconds(120))
        let line = try line()
        let piece = String(repeating: "x", count: 1 << 14)
        #expect(try line.ask("/v1/x", "Content-Length: \(30 << 14)\r\n", method: "PUT").isEmpty)
        for _ in 0..<29 {
            line.channel.embeddedEventLoop.advanceTime(by: .seconds(1))
            #expect(try line.send(piece).isEmpty)
        }
        #expect(line.channel.isActive && line.backend.ends == 0)
        #expect(try line.send(piece).isEmpty)
        #expect(line.backend.ends == 1)
        line.channel.embeddedEventLoop.advanceTime(by: .seconds(10))
        line.backend.respond("thanks")
        #expect(status(try line.received()) == "HTTP/1.1 200" && line.channel.isActive)
    }
}
