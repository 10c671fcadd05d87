import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTPTypes
import Testing

@testable import FanOut

@Suite("Media responses")
struct MediaResponseTests {
    private let segment = MediaResponse.segment([
        ByteBuffer(string: "abcde"), ByteBuffer(string: "fghij"), ByteBuffer(string: "klmno"),
    ])

    private func text(_ body: [ByteBuffer]) -> String { body.map { String(buffer: $0) }.joined() }

    @Test("a segment is immutable, and its buffers are sent without copies")
    func wholeSegment() {
        let (head, body) = segment.resolved(method: .get, range: nil)
        #expect(head.status == .ok)
        #expect(head.headerFields[.contentType] == "video/mp4")
        #expect(head.headerFields[.cacheControl] == "public, max-age=3600, immutable")
        #expect(head.headerFields[.contentLength] == "15")
        #expect(head.headerFields[.acceptRanges] == "bytes")
        #expect(head.headerFields[.accessControlAllowOrigin] == "*")
        #expect(text(body) == "abcdefghijklmno")
    }

    @Test(
        "the encoded head of a whole file has the bytes of one that passes through the encoder",
        arguments: [true, false]
    )
    func encodedHead(isLast: Bool) throws {
        let dates = HTTPDateCache { 784_111_777 }
        let channel = EmbeddedChannel()
        try channel.pipeline.syncOperations.addHandlers([HTTPResponseEncoder(), HTTPServerCodec()])
        var (head, _) = segment.resolved(method: .get, range: nil)
        head.headerFields[.date] = dates.text
        if isLast { head.headerFields[.connection] = "close" }
        try channel.writeOutbound(HTTPResponsePart.head(head))
        let expected = try #require(try channel.readOutbound(as: ByteBuffer.self))
        let encoded = segment.encodedFileHead(method: .get, range: nil, dates: dates, isLast: isLast)
        #expect(encoded.map { String(buffer: $0) } == String(buffer: expected))
        _ = try channel.finish(acceptAlreadyClosed: true)
    }

    @Test("only the response to a GET request for a whole file has an encoded head")
    func notEncoded() {
        let dates = HTTPDateCache { 784_111_777 }
        let playlist = MediaResponse.playlist(ByteBuffer(string: "#"), cacheControl: "no-store", isCompressed: false)
        let heads = [
            segment.encodedFileHead(method: .head, range: nil, dates: dates, isLast: false),
            segment.encodedFileHead(method: .get, range: "bytes=0-", dates: dates, isLast: false),
            playlist.encodedFileHead(method: .get, range: nil, dates: dates, isLast: false),
            MediaResponse.wrongMethod.encodedFileHead(method: .get, range: nil, dates: dates, isLast: false),
        ]
        #expect(heads.allSatisfy { $0 == nil })
    }

    @Test("HEAD has the header of GET without the body")
    func head() {
        let (get, _) = segment.resolved(method: .get, range: "bytes=2-3")
        let (head, body) = segment.resolved(method: .head, range: "bytes=2-3")
        #expect(head == get)
        #expect(body.isEmpty)
    }

    @Test("a range is sliced over buffer boundaries", arguments: 0..<15)
    func ranges(first: Int) {
        let letters = Array("abcdefghijklmno")
        for last in first..<15 {
            let (head, body) = segment.resolved(method: .get, range: "bytes=\(first)-\(last)")
            #expect(head.status == .partialContent)
            #expect(head.headerFields[.contentRange] == "bytes \(first)-\(last)/15")
            #expect(head.headerFields[.contentLength] == "\(last - first + 1)")
            #expect(text(body) == String(letters[first...last]))
        }
    }

    @Test("a range after the end is 416 with the length")
    func unsatisfiable() {
        let (head, body) = segment.resolved(method: .get, range: "bytes=15-")
        #expect(head.status == .rangeNotSatisfiable)
        #expect(head.headerFields[.contentRange] == "bytes */15")
        #expect(head.headerFields[.contentLength] == "0")
        #expect(body.isEmpty)
    }

    @Test("a playlist ignores ranges")
    func playlist() {
        let response = MediaResponse.playlist(
            ByteBuffer(string: "#EXTM3U\n"),
            cacheControl: "no-store",
            isCompressed: false
        )
        let (head, body) = response.resolved(method: .get, range: "bytes=0-3")
        #expect(head.status == .ok)
        #expect(head.headerFields[.acceptRanges] == nil)
        #expect(head.headerFields[.contentType] == "application/vnd.apple.mpegurl")
        #expect(text(body) == "#EXTM3U\n")
    }
}

@Suite("Range headers")
struct ByteRangeTests {
    @Test(
        "resolves a single range against the length",
        arguments: [
            ("bytes=0-0", 0, 0), ("bytes=0-99", 0, 99), ("bytes=10-19", 10, 19), ("bytes=90-500", 90, 99),
            ("bytes=95-", 95, 99), ("bytes=0-", 0, 99), ("bytes=-1", 99, 99), ("bytes=-30", 70, 99),
            ("bytes=-1000", 0, 99), ("bytes=99-99", 99, 99),
        ]
    )
    func partial(header: String, first: Int, last: Int) {
        #expect(ByteRange.parse(header, length: 100) == .partial(ByteRange(first: first, last: last)))
    }

    @Test("a range after the end is unsatisfiable", arguments: ["bytes=100-", "bytes=100-200", "bytes=-0"])
    func unsatisfiable(header: String) {
        #expect(ByteRange.parse(header, length: 100) == .unsatisfiable)
        #expect(ByteRange.parse("bytes=-5", length: 0) == .unsatisfiable)
    }

    @Test(
        "any other form selects the whole body",
        arguments: [
            nil, "", "bytes", "bytes=", "bytes=-", "bytes=5-2", "bytes=0-1,5-6", "items=0-1", "bytes=a-b", "bytes=1-x",
            "bytes=+1-5", "bytes=--5", "bytes=1-2-3", "bytes=99999999999999999999-", "bytes= 0-1",
        ] as [String?]
    )
    func whole(header: String?) {
        #expect(ByteRange.parse(header, length: 100) == .whole)
    }
}
