import FanOut
@testable import Gateway
import NIOCore
import NIOEmbedded
import Stage
import Testing
import Viewership

@Suite("Who tells by datagrams that somebody watches")
struct BeatHandlerTests {
    @Test("Servers on this machine and those that are trusted are heard, everybody else is counted as a stranger")
    func senders() throws {
        let ledger = ViewershipLedger(keys: SessionKeys(current: SessionKey(version: 1, secret: Array(1...32))))
        ledger.roomBegan("show", sid: "RM_1")
        let proxies = try #require(TrustedProxies(["198.51.100.0/24"]))
        let channel = EmbeddedChannel(handler: BeatHandler(proxies: proxies, viewership: ledger))
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
}
