import Media
import NIOCore
import TestSupport
import Testing

@testable import RTMP

@Suite("Peer limits of a server session", .enabled(if: TestRun.isFull))
struct PeerLimitTests {
    private var call: ByteBuffer {
        var payload = ByteBuffer()
        payload.writeAMF0(["connect", 1, .object(["app": "a"])])
        return payload
    }

    @Test("rejects an aggregate from a player, whatever its messages", arguments: [8, 9, 18, 20] as [UInt8])
    func aggregateOfPlayer(type: UInt8) {
        var peer = Peer.playing()
        peer.message(22, Peer.aggregate(of: type, call, bytes: 2000), streamID: 1)
        let run = SessionRun(peer.bytes)
        #expect(run.plays.count == 1)
        #expect(run.violation == RTMPViolation("an aggregate from a peer that does not publish"))
    }

    @Test("rejects command and control messages inside a publisher's aggregate")
    func commandsInAggregate() {
        for type in [1, 2, 3, 4, 5, 6, 15, 17, 20, 22, 77] as [UInt8] {
            var peer = Peer.publishing()
            var body = Peer.aggregate(of: 8, ByteBuffer(bytes: [0xAF, 1, 9]), bytes: 100)
            body.writeImmutableBuffer(Peer.aggregate(of: type, call, bytes: 2000))
            peer.message(22, body, streamID: 1)
            let run = SessionRun(peer.bytes)
            #expect(run.violation == RTMPViolation("a message of type \(type) in an aggregate"))
            #expect(run.packets.count == 5)
            #expect(run.answers(to: 1).count == 1)
        }
    }

    @Test("copies a small message of a large aggregate")
    func aggregateSlices() throws {
        var peer = Peer.publishing(chunkSize: 60_000)
        peer.message(22, Peer.aggregate(of: 8, ByteBuffer(bytes: [0xAF, 1, 9]), bytes: 50_000), streamID: 1)
        let run = SessionRun(peer.bytes, step: 4096)
        #expect(run.packets.count == 50_000 / 18)
        #expect(try #require(run.packets.first).body.storageCapacity < 256)
    }

    @Test("limits announced lengths to 64 KiB, and to 4 MiB while publishing", arguments: [8, 9, 22] as [UInt8])
    func announcedLengths(type: UInt8) {
        func header(_ length: Int) -> ByteBuffer {
            var bytes = ByteBuffer(bytes: [6, 0, 0, 0])
            bytes.writeInteger24(UInt32(length))
            bytes.writeBytes([type, 1, 0, 0, 0])
            return bytes
        }
        for peer in [Peer.connected(), Peer.playing()] {
            var run = SessionRun(peer.bytes)
            run.feed(header(65_536))
            #expect(run.violation == nil)
            run = SessionRun(peer.bytes)
            run.feed(header(65_537))
            #expect(run.violation == RTMPViolation("a message of 65537 bytes, type \(type)"))
        }
        var run = SessionRun(Peer.publishing().bytes)
        run.feed(header(4 << 20))
        #expect(run.violation == nil)
        var ended = Peer.publishing()
        ended.command("FCUnpublish", 4, .null, "sk_key")
        run = SessionRun(ended.bytes)
        #expect(run.streamsEnded == 1)
        run.feed(header(65_537))
        #expect(run.violation != nil)
    }

    @Test("rejects a second connect")
    func secondConnect() {
        for first in [Peer.connected(), Peer.playing(), Peer.publishing()] {
            var peer = first
            peer.command("connect", 9, .object(["app": "live"]))
            let run = SessionRun(peer.bytes)
            #expect(run.violation == RTMPViolation("a second connect"))
            #expect(run.answers(to: 9).isEmpty)
        }
    }

    @Test("limits a player to 64 KiB per minute, including bytes sent before playback")
    func playingBytes() {
        var run = SessionRun(Peer.playing().bytes)
        var pings = Peer()
        while pings.bytes.readableBytes < 40_000 {
            pings.message(4, ByteBuffer(bytes: [0, 6, 1, 2, 3, 4]), chunkStream: 2)
        }
        run.feed(pings.bytes, step: 256)
        #expect(run.violation == nil)
        run.now = run.now.advanced(seconds: 61)
        run.feed(pings.bytes, step: 256)
        #expect(run.violation == nil)
        run.now = run.now.advanced(seconds: 30)
        run.feed(pings.bytes, step: 256)
        #expect(run.violation == RTMPViolation("too many bytes from a player"))
    }

    @Test("does not reset the byte limit when playback restarts")
    func playingAgain() {
        var run = SessionRun(Peer.playing().bytes)
        var again = Peer()
        again.command("deleteStream", 0, .null, 1)
        again.command("play", 7, .null, "room", streamID: 1)
        for _ in 0..<1000 { run.feed(again.bytes) }
        #expect(run.violation != nil)
        #expect(run.plays.count < 900)
    }

    @Test("accepts an hour of acknowledgements at 50 Mbit/s, one per 250 kB")
    func acknowledgements() {
        var run = SessionRun(Peer.playing().bytes)
        var messages = Peer()
        for _ in 0..<25 { messages.message(3, ByteBuffer(integer: UInt32(1)), chunkStream: 2) }
        messages.message(4, ByteBuffer(bytes: [0, 3, 0, 0, 0, 1, 0, 0, 0x0B, 0xB8]), chunkStream: 2)
        messages.message(4, ByteBuffer(bytes: [0, 7, 1, 2, 3, 4]), chunkStream: 2)
        messages.command("pause", 5, .null, .boolean(true), 0, streamID: 1)
        for _ in 0..<3600 {
            run.now = run.now.advanced(seconds: 1)
            run.feed(messages.bytes)
        }
        #expect(run.violation == nil)
    }

    @Test("processes a flood of pings or commands in turns with bounded responses, without omitting any")
    func turns() {
        var pings = Peer.publishing()
        for _ in 0..<3000 { pings.message(4, ByteBuffer(bytes: [0, 6, 1, 2, 3, 4]), chunkStream: 2) }
        var run = SessionRun(pings.bytes)
        #expect(run.pauses >= 29)
        #expect(run.largestOutput < 10_000)
        #expect(run.replies.count { $0.type == 4 && $0.payload.getInteger(at: 0) == UInt16(7) } == 3000)

        var commands = Peer()
        for number in 0..<1000 { commands.command("FCSubscribe", Double(number + 10), .null) }
        run = SessionRun(Peer.publishing().bytes)
        run.feed(commands.bytes)
        #expect(run.pauses >= 9)
        #expect(run.largestOutput < RTMPLimits().turnResponseBytes + 1000)
        #expect(run.answers(to: 1009).count == 1)

        var large = Peer()
        for number in 0..<10 {
            let text = AMF0Value.string(String(repeating: "x", count: 4000))
            large.command("x", Double(number + 10), .null, text, text, text, text)
        }
        run = SessionRun(Peer.publishing().bytes)
        run.feed(large.bytes)
        #expect(run.pauses >= 5)
        #expect(run.answers(to: 19).count == 1)
    }

    @Test("processes an aggregate of many audio messages in turns")
    func manyAudioMessages() {
        var peer = Peer.publishing(chunkSize: 60_000)
        peer.message(22, Peer.aggregate(of: 8, ByteBuffer(bytes: [0xAF, 1, 9]), bytes: 40_000), streamID: 1)
        let run = SessionRun(peer.bytes)
        #expect(run.packets.count == 40_000 / 18)
        #expect(run.pauses >= 22)
    }
}
