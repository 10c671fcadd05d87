import FanOut
@testable import Gateway
import Logging
import NIOCore
import NIOEmbedded
import TestSupport
import Testing
import Viewership

@Suite("Randomly mutated requests", .enabled(if: TestRun.isFull))
struct RequestHeadFuzzTests {
    private static let seeds = [
        "GET /live/show/index.m3u8 HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip, br;q=0.1\r\n\r\n",
        "GET /live/show/media.m3u8?sid=a&_HLS_msn=3&_HLS_part=1&_HLS_skip=YES HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /live/show/1/s1.m4s HTTP/1.1\r\nHost: a\r\nRange: bytes=0-99,200-\r\nCMCD-Session: sid=\"x\",v=1\r\n\r\n",
        "GET /live/show.flv?sid=a&CMCD=bs%2Csid%3D%22x%22 HTTP/1.1\r\nHost: a\r\n\r\n",
        "OPTIONS /live/show/index.m3u8 HTTP/1.1\r\nHost: a\r\nOrigin: https://b\r\n\r\n",
        "POST /v1/rooms HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nConnection: keep-alive, close\r\n\r\nbody",
        "PUT /v1/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTrailer: T\r\n\r\n4;x=y\r\nbody\r\n0\r\nT: u\r\n\r\n",
        "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.0\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-Forwarded-For: 1.2.3.4, [::1]:5\r\n\r\n",
    ].map { Array($0.utf8) }

    private static let tokens = [
        "\r\n", "\n", "\r", "\r\n\r\n", " ", "\t", "\0", ":", "?", "%", "%00", "%zz", "/../", "99999999999999999999",
        "-1",
        "0x10", "Content-Length: 7\r\n", "Transfer-Encoding: chunked\r\n", "Connection: Upgrade\r\nUpgrade: x\r\n",
        "HTTP/9.9", "Expect: 100-continue\r\n", "\u{fffd}", "http://b/", "*", ";",
    ].map { Array($0.utf8) }

    private static func mutated(_ random: inout SeededGenerator) -> [UInt8] {
        var bytes = seeds[Int.random(in: 0..<seeds.count, using: &random)]
        for _ in 0..<Int.random(in: 0...6, using: &random) {
            let place = Int.random(in: 0...bytes.count, using: &random)
            let end = min(bytes.count, place + Int.random(in: 0...12, using: &random))
            switch Int.random(in: 0..<7, using: &random) {
            case 0: bytes.insert(UInt8.random(in: 0...255, using: &random), at: place)
            case 1 where place < bytes.count: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 2: bytes.removeSubrange(place..<end)
            case 3: bytes.insert(contentsOf: tokens[Int.random(in: 0..<tokens.count, using: &random)], at: place)
            case 4: bytes.insert(contentsOf: Array(bytes[place..<end]), at: place)
            case 5:
                let count = [100, 1000, 3000][Int.random(in: 0..<3, using: &random)]
                bytes.insert(contentsOf: [UInt8](repeating: bytes.last ?? 32, count: count), at: place)
            default: bytes += seeds[Int.random(in: 0..<seeds.count, using: &random)]
            }
        }
        return bytes
    }

    @Test("are answered, refused or pending, without a server error")
    func heads() throws {
        var random = SeededGenerator(seed: 20_261)
        let loop = EmbeddedEventLoop()
        let configuration = FanOutConfiguration()
        let feeds = FeedDirectory(group: loop, configuration: configuration)
        feeds.open("show")
        let ledger = ViewershipLedger(keys: SessionKeys(current: SessionKey(version: 1, secret: Array(1...32))))
        ledger.roomBegan("show", sid: "RM_1")
        let service = MediaService(feeds: feeds, hls: HLSDirectory(configuration: configuration.hls), audience: ledger)
        let setup = PublicHTTPChannel(responder: { _, _, _ in }, service: service, headerLimit: 1024)
        var statuses: [String: Int] = [:]
        for number in 0..<4000 {
            let bytes = Self.mutated(&random)
            let channel = EmbeddedChannel(loop: loop)
            _ = try setup.setup(channel: channel, logger: Logger(label: "test")).wait()
            try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 2)).wait()
            var rest = bytes[...]
            while !rest.isEmpty, channel.isActive {
                let count = Bool.random(using: &random) ? rest.count : Int.random(in: 1...rest.count, using: &random)
                // Decoder errors are thrown here.
                _ = try? channel.writeInbound(ByteBuffer(bytes: rest.prefix(count)))
                rest = rest.dropFirst(count)
                loop.run()
            }
            var answer = ByteBuffer()
            while let buffer = try channel.readOutbound(as: ByteBuffer.self) { answer.writeImmutableBuffer(buffer) }
            if answer.readableBytes > 0 {
                let line = answer.getString(at: 0, length: min(12, answer.readableBytes)) ?? ""
                let isKnown = ["2", "3", "4"].contains { line.hasPrefix("HTTP/1.1 \($0)") }
                #expect(isKnown, "\(number): \(line) to \(String(decoding: bytes, as: UTF8.self).debugDescription)")
                statuses[line, default: 0] += 1
            }
            channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
            try? channel.close().wait()
            loop.run()
        }
        for status in ["200", "400", "404", "405"] { #expect(statuses["HTTP/1.1 \(status)", default: 0] > 5) }
        #expect(feeds.load.viewers == 0, "\(statuses)")
    }
}
