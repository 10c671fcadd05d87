@testable import FanOut
import HTTPTypes
import NIOCore
import Testing

@Suite("Answers of the media side")
struct MediaResponseTests {
    private let segment = MediaResponse.segment([
        ByteBuffer(string: "abcde"), ByteBuffer(string: "fghij"), ByteBuffer(string: "klmno"),
    ])

    private func text(_ body: [ByteBuffer]) -> String { body.map { String(buffer: $0) }.joined() }

    @Test("A segment says that it never changes, and its buffers go out as they are")
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

    @Test("HEAD tells what GET would, without the body")
    func head() {
        let (get, _) = segment.resolved(method: .get, range: "bytes=2-3")
        let (head, body) = segment.resolved(method: .head, range: "bytes=2-3")
        #expect(head == get)
        #expect(body.isEmpty)
    }

    @Test("A range is cut over the borders of buffers", arguments: 0..<15)
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

    @Test("A range behind the end is refused with the length")
    func unsatisfiable() {
        let (head, body) = segment.resolved(method: .get, range: "bytes=15-")
        #expect(head.status == .rangeNotSatisfiable)
        #expect(head.headerFields[.contentRange] == "bytes */15")
        #expect(head.headerFields[.contentLength] == "0")
        #expect(body.isEmpty)
    }

    @Test("A playlist is whole whatever range is asked for")
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
