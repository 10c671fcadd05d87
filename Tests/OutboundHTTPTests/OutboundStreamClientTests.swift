import NIOCore
import NIOPosix
import Testing

@testable import OutboundHTTP

@Suite("Streaming HTTP client", .timeLimit(.minutes(1)))
struct OutboundStreamClientTests {
    private let group = MultiThreadedEventLoopGroup.singleton

    private func client() -> OutboundStreamClient {
        OutboundStreamClient(
            connections: 4,
            connectTimeout: .seconds(1),
            idleTimeout: .seconds(5),
            readTimeout: .seconds(5),
            group: group
        )
    }

    private func target(_ port: Int, _ path: String, host: String = "127.0.0.1") -> OutboundTarget {
        OutboundTarget(isSecure: false, host: host, port: port, path: path)
    }

    @Test("passes on status, fields and body of a response, and the fields and the body of a request")
    func exchange() async throws {
        let server = try await RawServer(
            answer: "HTTP/1.1 409 Conflict\r\nX-One: 1\r\nX-One: 2\r\nContent-Length: 5\r\n\r\nhello"
        )
        let client = client()
        let fields = [("Host", "live.example"), ("X-Two", "2")].map { (name: $0.0, value: $0.1) }
        var request = OutboundStreamRequest("PUT", target(server.port, "/in?x=1"), headers: fields)
        let (parts, continuation) = AsyncThrowingStream.makeStream(of: ByteBuffer.self)
        continuation.yield(ByteBuffer(string: "ab"))
        continuation.finish()
        request.setBody(parts, length: 2)
        let answer = try await client.send(request, by: .now() + .seconds(5))
        #expect(answer.status == 409)
        #expect(answer.headers.filter { $0.name == "X-One" }.map(\.value) == ["1", "2"])
        var body = ""
        for try await part in answer.body { body += String(buffer: part) }
        #expect(body == "hello")
        let received = server.received
        #expect(received.hasPrefix("PUT /in?x=1 HTTP/1.1\r\n"))
        for line in ["Host: live.example", "X-Two: 2", "Content-Length: 2"] { #expect(received.contains(line)) }
        await client.shutdown()
        try await server.close()
    }

    @Test(
        "the path is sent as the target says that it will be",
        arguments: [
            "/live/show/index.m3u8", "/v1/rooms/a?x=1&y=%C3%BC", "/a b?c d|e", "/a?", "//a//b?x=[1]", "/a%2Fb?x=a+b",
        ]
    )
    func paths(path: String) async throws {
        let server = try await RawServer(answer: "HTTP/1.1 204 No Content\r\n\r\n")
        let client = client()
        let target = target(server.port, path)
        _ = try await client.send(OutboundStreamRequest("GET", target, headers: []), by: .now() + .seconds(5))
        let sent = try #require(target.sentPath)
        #expect(server.received.hasPrefix("GET \(sent) HTTP/1.1\r\n"), "\(server.received)")
        await client.shutdown()
        try await server.close()
    }

    @Test("tells a server that cannot be reached from one that breaks off or is silent")
    func faults() async throws {
        let client = client()
        func fault(
            _ port: Int,
            host: String = "127.0.0.1",
            within time: TimeAmount = .seconds(5)
        ) async -> OutboundFault? {
            do throws(OutboundFault) {
                let request = OutboundStreamRequest("GET", target(port, "/", host: host), headers: [])
                _ = try await client.send(request, by: .now() + time)
                return nil
            } catch {
                return error
            }
        }
        let former = try await RawServer(answer: "")
        try await former.close()
        #expect(await fault(former.port) == .unreachable)
        #expect(await fault(former.port, host: "localhost") == .unreachable)
        let closing = try await RawServer(answer: "", closes: true)
        #expect(await fault(closing.port) == .closed)
        try await closing.close()
        let silent = try await RawServer(answer: "")
        #expect(await fault(silent.port, within: .milliseconds(200)) == .timedOut)
        try await silent.close()
        #expect(target(80, "no-path").sentPath == nil)
        await client.shutdown()
    }
}
