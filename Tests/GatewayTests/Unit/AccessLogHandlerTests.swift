import FanOut
@testable import Gateway
import FootlightTesting
import NIOCore
import NIOEmbedded
import Stage
import Testing
import Viewership

@Suite("Access log lines by datagram")
struct AccessLogHandlerTests {
    @Test("accepts lines of this machine and of trusted servers, and counts others as rejected")
    func senders() throws {
        let ledger = ViewershipLedger(keys: SessionKeys(current: SessionKey(version: 1, secret: Array(1...32))))
        ledger.roomBegan("show", sid: "RM_1")
        let proxies = try #require(TrustedProxies(["198.51.100.0/24"]))
        let channel = EmbeddedChannel(handler: AccessLogHandler(proxies: proxies, viewership: ledger))
        func send(_ text: String, from address: String) throws {
            let sender = try SocketAddress(ipAddress: address, port: 40_000)
            try channel.writeInbound(AddressedEnvelope(remoteAddress: sender, data: ByteBuffer(string: text)))
        }
        func metric(_ name: String, _ reason: String? = nil) -> Double? {
            let samples = ledger.metrics().first { $0.name == name }?.samples
            return samples?.first { reason == nil || $0.labels.first?.value == reason }?.value
        }
        let sid = ledger.makeSession(room: "show")
        let line = "<190>Nov 21 18:00:00 hls: \(sid) /live/show/media.m3u8 200 512 0.003 HIT"
        for sender in ["192.0.2.1", "2001:db8::1", "199.51.100.1"] { try send(line, from: sender) }
        try send("nothing", from: "192.0.2.1")
        #expect(metric("footlight_beats_total") == 0)
        #expect(metric("footlight_beats_rejected_total", "sender") == 4)
        #expect(metric("footlight_beats_rejected_total", "malformed") == 0)
        for sender in ["127.0.0.1", "::1", "198.51.100.7"] { try send(line, from: sender) }
        try send("nothing", from: "127.0.0.1")
        #expect(metric("footlight_beats_total") == 3)
        #expect(metric("footlight_beats_rejected_total", "sender") == 4)
        #expect(metric("footlight_beats_rejected_total", "malformed") == 1)
    }

    @Test("accepts media lines of trusted senders only; after the first one playlists alone prove no session")
    func media() throws {
        let clock = ManualClock()
        let ledger = ViewershipLedger(
            keys: SessionKeys(current: SessionKey(version: 1, secret: Array(1...32))),
            clock: clock
        )
        ledger.roomBegan("show", sid: "RM_1")
        let channel = EmbeddedChannel(handler: AccessLogHandler(proxies: TrustedProxies(), viewership: ledger))
        func send(_ text: String, from address: String = "127.0.0.1") throws {
            let sender = try SocketAddress(ipAddress: address, port: 40_000)
            try channel.writeInbound(AddressedEnvelope(remoteAddress: sender, data: ByteBuffer(string: text)))
        }
        func begin(_ address: String) -> String? {
            guard case .viewer(let sid) = ledger.admit(PlayerRequest(userAgent: "x", address: address), to: "show")
            else { return nil }
            return sid
        }
        func ask(_ sid: String, times: Int) throws {
            for _ in 0..<times {
                clock.advance(by: .milliseconds(2500))
                try send("<190>Nov 21 18:00:00 hls: \(sid) /live/show/media.m3u8 200 512 0.003 HIT")
            }
        }
        var joins: Int { ledger.report(room: "show").joins }
        // A line of an untrusted sender has no effect.
        try send("192.0.2.9 /live/show/1x9/s1.m4s 200 5", from: "192.0.2.1")
        try ask(try #require(begin("192.0.2.7")), times: 2)
        #expect(joins == 1)
        try send("192.0.2.9 /live/show/1x9/s1.m4s 200 5")
        let alone = try #require(begin("192.0.2.8"))
        try ask(alone, times: 3)
        #expect(joins == 1)
        // Lines with an error status, without an address, or too long are malformed.
        for text in [
            "192.0.2.8 /live/show/1x9/s1.m4s 404 5", "- /live/show/1x9/s1.m4s 200 5",
            "192.0.2.8 /live/show/1x9/s1.m4s 200 " + String(repeating: "5", count: 2048),
        ] { try send(text) }
        let rejected = ledger.metrics().first { $0.name == "footlight_beats_rejected_total" }?.samples ?? []
        #expect(rejected.first { $0.labels.first?.value == "malformed" }?.value == 3)
        try ask(alone, times: 1)
        #expect(joins == 1)
        try send("192.0.2.8 /live/show/1x9/s1.m4s 200 5")
        try ask(alone, times: 1)
        #expect(joins == 2)
    }
}
