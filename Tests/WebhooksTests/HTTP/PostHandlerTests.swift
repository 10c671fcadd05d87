import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import Webhooks

@Suite("Post handler")
struct PostHandlerTests {
    private func answer(to bytes: String) throws -> (answer: PostAnswer?, isOpen: Bool) {
        let channel = EmbeddedChannel()
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHTTPClientHandlers()
        try pipeline.addHandler(PostHandler())
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 2)).wait()
        let promise = channel.eventLoop.makePromise(of: PostAnswer.self)
        var found: PostAnswer?
        promise.futureResult.assumeIsolated().whenSuccess { found = $0 }
        let head = HTTPRequestHead(version: .http1_1, method: .POST, uri: "/in")
        channel.writeAndFlush(
            PostRequest(head: head, body: ByteBuffer(string: "{}"), deadline: .now() + .seconds(5), answer: promise),
            promise: nil
        )
        try channel.writeInbound(ByteBuffer(string: bytes))
        channel.embeddedEventLoop.run()
        let isOpen = channel.isActive
        _ = try? channel.finish(acceptAlreadyClosed: true)
        return (found, isOpen)
    }

    @Test("completes a request after head and body, with and without an informational response")
    func answers() throws {
        for before in ["", "HTTP/1.1 100 Continue\r\n\r\n"] {
            let (answer, isOpen) = try answer(
                to: before + "HTTP/1.1 503 Busy\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n"
            )
            #expect(answer == PostAnswer(status: 503, retryAfter: "7", isReusable: true))
            #expect(isOpen)
        }
    }

    @Test("closes the connection on a protocol switch, without buffering its bytes")
    func upgrade() throws {
        let head = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"
        let (answer, isOpen) = try answer(to: head + String(repeating: "x", count: 10_000))
        #expect(answer == nil && !isOpen)
    }
}
