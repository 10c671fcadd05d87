import FanOut
import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import Testing

@Suite("HTTP server codec")
struct HTTPServerCodecTests {
    /// Returns the request that a codec makes of a head; nil if it rejects it.
    private func request(_ head: HTTPRequestHead, by codec: any ChannelHandler) throws -> HTTPRequest? {
        let channel = EmbeddedChannel()
        try channel.pipeline.syncOperations.addHandler(codec)
        defer { _ = try? channel.finish(acceptAlreadyClosed: true) }
        do {
            try channel.writeInbound(HTTPServerRequestPart.head(head))
        } catch is HTTP1TypeConversionError {
            return nil
        }
        guard case .head(let request)? = try channel.readInbound(as: HTTPRequestPart.self) else { return nil }
        return request
    }

    @Test(
        "makes the same request of any target as NIO's codec",
        arguments: [
            "/", "/live/r/~sid/run/s12.p3.m4s", "/live/r/index.m3u8?token=a&x=%20y", "//a.example/b", "/a:b", "/%zz",
            "/a b", "/http://a.example/b", "/?", "/#f", "http://a.example/live/r.flv?x=1", "http://a.example",
            "HTTP://a.example?x", "*", "", "a/b", "?x", "/\u{e9}",
        ]
    )
    func targets(uri: String) throws {
        var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: uri)
        head.headers.add(name: "hOST", value: "a.example:8080")
        head.headers.add(name: "Accept", value: "a")
        head.headers.add(name: "accept", value: "b")
        head.headers.add(name: "Host", value: "second")
        head.headers.add(name: "Cookie", value: "a=1; b=2")
        let expected = try request(head, by: HTTP1ToHTTPServerCodec(secure: false))
        #expect(expected != nil)
        #expect(try request(head, by: HTTPServerCodec()) == expected)
    }

    @Test(
        "makes the same request of any method as NIO's codec, and rejects the same",
        arguments: [HTTPMethod.GET, .POST, .HEAD, .OPTIONS, .MSEARCH, .RAW(value: "X-Y"), .RAW(value: "not valid")]
    )
    func methods(method: HTTPMethod) throws {
        let head = HTTPRequestHead(version: .http1_1, method: method, uri: "/a")
        let expected = try request(head, by: HTTP1ToHTTPServerCodec(secure: false))
        #expect(try request(head, by: HTTPServerCodec()) == expected)
    }
}
