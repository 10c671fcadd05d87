@testable import FanOut
import Foundation
import HTTPTypes
import NIOCore
import Stage
import Testing

@Suite("Playlists as gzip files")
struct GzipTests {
    /// What `gzip` makes of the bytes.
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

    @Test("What is compressed is the same when it is expanded, empty or large")
    func roundTrip() throws {
        for text in ["", "a", String(repeating: "#EXTINF:2.00000,\ns1.m4s\n", count: 2_000)] {
            let compressed = try #require(Gzip.compress(ByteBuffer(string: text)))
            #expect(try expand(compressed) == text)
        }
    }

    @Test(
        "Only who says that it reads gzip gets it",
        arguments: [
            (nil, false), ("", false), ("gzip", true), ("GZIP", true), ("deflate, gzip;q=1.0, br", true),
            ("gzip;q=0", false), ("gzip; q=0.000", false), ("identity", false), ("*", true), ("*;q=0", false),
            ("br, *;q=0.1", true), ("gzip;q=x", false), (",,;;,", false), ("gzipped", false),
        ] as [(String?, Bool)]
    )
    func acceptance(header: String?, isAccepted: Bool) {
        #expect(Gzip.isAccepted(header) == isAccepted)
    }

    @Test("A media playlist is compressed for those who read it, and caches are told that it comes in two forms")
    func playlists() throws {
        let stand = try SiteStand()
        stand.goOnAir("r")
        let path = "/live/r/media.m3u8?sid=r-1"
        let plain = try #require(try stand.exchange(path))
        let compressed = try #require(try stand.exchange(path, fields: [.acceptEncoding: "gzip, deflate, br"]))
        #expect(plain.head.headerFields[.contentEncoding] == nil)
        #expect(compressed.head.headerFields[.contentEncoding] == "gzip")
        for answer in [plain, compressed] {
            #expect(answer.head.headerFields[.vary] == "Accept-Encoding")
            #expect(answer.head.headerFields[.contentLength] == "\(answer.body.readableBytes)")
        }
        #expect(try expand(compressed.body) == plain.text)
        #expect(compressed.body.readableBytes * 3 < plain.body.readableBytes)
    }

    @Test("So is a multivariant playlist, each viewer's own")
    func multivariantPlaylists() throws {
        let stand = try SiteStand()
        stand.goOnAir("r")
        let path = "/live/r/index.m3u8"
        let plain = try #require(try stand.exchange(path))
        #expect(plain.head.headerFields[.contentEncoding] == nil && plain.head.headerFields[.vary] == "Accept-Encoding")
        let compressed = try #require(try stand.exchange(path, fields: [.acceptEncoding: "gzip"]))
        #expect(compressed.head.headerFields[.contentEncoding] == "gzip")
        #expect(compressed.head.headerFields[.cacheControl] == "no-store")
        // All but the session ids in it is the same.
        let ids = /sid=[^"\n&]+/
        let text = try expand(compressed.body)
        #expect(text.replacing(ids, with: "") == plain.text.replacing(ids, with: "") && text.contains("sid="))
        #expect(text != plain.text)
    }

    @Test("A player that knows nothing of low latency gets every segment, one that asks for a delta update the newest")
    func plainPlayers() throws {
        let stand = try SiteStand()
        stand.goOnAir("r", seconds: 40)
        let whole = try #require(try stand.exchange("/live/r/media.m3u8?sid=r-1")?.text)
        let delta = try #require(try stand.exchange("/live/r/media.m3u8?sid=r-1&_HLS_skip=YES")?.text)
        #expect(whole.split(separator: "\n").filter { !$0.hasPrefix("#") }.count == 10)
        #expect(delta.contains("#EXT-X-SKIP:SKIPPED-SEGMENTS=3\n"))
        #expect(delta.split(separator: "\n").filter { !$0.hasPrefix("#") }.count == 7)
        #expect(stand.audience.events.map(\.playback) == [.hls, .llhls])
    }
}
