@testable import FanOut
import Foundation
import HTTPTypes
import NIOCore
import Stage
import Testing

@Suite("Gzip playlists")
struct GzipTests {
    /// Returns the output of `gzip -dc` for the bytes.
    private func expand(_ bytes: ByteBuffer) throws -> String {
        let process = Process()
        let (input, output) = (Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["gzip", "-dc"]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        try input.fileHandleForWriting.write(contentsOf: Data(bytes.readableBytesView))
        try input.fileHandleForWriting.close()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return String(decoding: data, as: UTF8.self)
    }

    @Test("expanding restores the compressed bytes, empty or large")
    func roundTrip() throws {
        for text in ["", "a", String(repeating: "#EXTINF:2.00000,\ns1.m4s\n", count: 2_000)] {
            let compressed = try #require(Gzip.compress(ByteBuffer(string: text)))
            #expect(try expand(compressed) == text)
        }
    }

    @Test(
        "compresses only for clients that accept gzip",
        arguments: [
            (nil, false), ("", false), ("gzip", true), ("GZIP", true), ("deflate, gzip;q=1.0, br", true),
            ("gzip;q=0", false), ("gzip; q=0.000", false), ("identity", false), ("*", true), ("*;q=0", false),
            ("br, *;q=0.1", true), ("gzip;q=x", false), (",,;;,", false), ("gzipped", false),
        ] as [(String?, Bool)]
    )
    func acceptance(header: String?, isAccepted: Bool) {
        #expect(Gzip.isAccepted(header) == isAccepted)
    }

    @Test("compresses a media playlist for players that accept gzip, and sends Vary")
    func playlists() throws {
        let fixture = try MediaServiceFixture()
        fixture.goOnAir("r")
        let path = "/live/r/media.m3u8?sid=r-1"
        let plain = try #require(try fixture.exchange(path))
        let compressed = try #require(try fixture.exchange(path, fields: [.acceptEncoding: "gzip, deflate, br"]))
        #expect(plain.head.headerFields[.contentEncoding] == nil)
        #expect(compressed.head.headerFields[.contentEncoding] == "gzip")
        for answer in [plain, compressed] {
            #expect(answer.head.headerFields[.vary] == "Accept-Encoding")
            #expect(answer.head.headerFields[.contentLength] == "\(answer.body.readableBytes)")
        }
        #expect(try expand(compressed.body) == plain.text)
        #expect(compressed.body.readableBytes * 3 < plain.body.readableBytes)
    }

    @Test("compresses each viewer's multivariant playlist")
    func multivariantPlaylists() throws {
        let fixture = try MediaServiceFixture()
        fixture.goOnAir("r")
        let path = "/live/r/index.m3u8"
        let plain = try #require(try fixture.exchange(path))
        #expect(plain.head.headerFields[.contentEncoding] == nil && plain.head.headerFields[.vary] == "Accept-Encoding")
        let compressed = try #require(try fixture.exchange(path, fields: [.acceptEncoding: "gzip"]))
        #expect(compressed.head.headerFields[.contentEncoding] == "gzip")
        #expect(compressed.head.headerFields[.cacheControl] == "no-store")
        // Only the session ids differ.
        let ids = /sid=[^"\n&]+/
        let text = try expand(compressed.body)
        #expect(text.replacing(ids, with: "") == plain.text.replacing(ids, with: "") && text.contains("sid="))
        #expect(text != plain.text)
    }

    @Test("a player without low latency gets every segment, a delta update the newest only")
    func plainPlayers() throws {
        let fixture = try MediaServiceFixture()
        fixture.goOnAir("r", seconds: 40)
        let whole = try #require(try fixture.exchange("/live/r/media.m3u8?sid=r-1")?.text)
        let delta = try #require(try fixture.exchange("/live/r/media.m3u8?sid=r-1&_HLS_skip=YES")?.text)
        #expect(whole.split(separator: "\n").filter { !$0.hasPrefix("#") }.count == 10)
        #expect(delta.contains("#EXT-X-SKIP:SKIPPED-SEGMENTS=3\n"))
        #expect(delta.split(separator: "\n").filter { !$0.hasPrefix("#") }.count == 7)
        #expect(fixture.audience.events.map(\.playback) == [.hls, .llhls])
    }
}
