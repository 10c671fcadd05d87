import Media
import NIOCore
import Testing

@testable import RTMP

@Suite("What a server session grants its peer")
struct PeerLimitTests {
    private var call: ByteBuffer {
        var payload = ByteBuffer()
        payload.writeAMF0(["connect", 1, .object(["app": "a"])])
        return payload
    }

    @Test("an aggregate from a player ends the connection, whatever is in it", arguments: [8, 9, 18, 20] as [UInt8])
    func aggregateOfPlayer(type: UInt8) {
        var peer = Peer.playing()
        peer.message(22, Peer.aggregate(of: type, call, bytes: 2000), streamID: 1)
        let run = SessionRun(peer.bytes)
        #expect(run.plays.count == 1)
        #expect(run.violation == RTMPViolation("an aggregate from a peer that does not publish"))
    }

    @Test("a command or control message in a publisher's aggregate ends the connection unanswered")
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

    @Test("a small message of a large aggregate does not keep it alive")
    func aggregateSlices() throws {
        var peer = Peer.publishing(chunkSize: 60_000)
        peer.message(22, Peer.aggregate(of: 8, ByteBuffer(bytes: [0xAF, 1, 9]), bytes: 50_000), streamID: 1)
        let run = SessionRun(peer.bytes, step: 4096)
        #expect(run.packets.count == 50_000 / 18)
        #expect(try #require(run.packets.first).body.storageCapacity < 256)
    }

    @Test("a peer that does not publish announces at most 64 KiB, a publisher 4 MiB", arguments: [8, 9, 22] as [UInt8])
    func announcedLengths(type: UInt8) {
        func header(_ length: Int) -> ByteBuffer {
            var bytes = ByteBuffer(bytes: [6, 0, 0, 0])
            bytes.writeInteger24(UInt32(length))
            bytes.writeBytes([type, 1, 0, 0, 0])
            return bytes
        }
        for stranger in [Peer.connected(), Peer.playing()] {
            var run = SessionRun(stranger.bytes)
            run.feed(header(65_536))
            #expect(run.violation == nil)
            run = SessionRun(stranger.bytes)
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

    @Test("a second connect ends the connection of whoever sends it")
    func secondConnect() {
        for first in [Peer.connected(), Peer.playing(), Peer.publishing()] {
            var peer = first
            peer.command("connect", 9, .object(["app": "live"]))
            let run = SessionRun(peer.bytes)
            #expect(run.violation == RTMPViolation("a second connect"))
            #expect(run.answers(to: 9).isEmpty)
        }
    }

    @Test("a player may send 64 KiB a minute, and what it sent before it played is part of them")
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
        #expect(run.violation == RTMPViolation("too much for a player to say"))
    }

    @Test("playing again and again does not give a player more to say")
    func playingAgain() {
        var run = SessionRun(Peer.playing().bytes)
        var again = Peer()
        again.command("deleteStream", 0, .null, 1)
        again.command("play", 7, .null, "room", streamID: 1)
        for _ in 0..<1000 { run.feed(again.bytes) }
        #expect(run.violation != nil)
        #expect(run.plays.count < 900)
    }

    @Test("what players say in an hour of 50 Mbit/s, with an acknowledgement every 250 kB, is granted")
    func talkativePlayer() {
        var run = SessionRun(Peer.playing().bytes)
        var saying = Peer()
        for _ in 0..<25 { saying.message(3, ByteBuffer(integer: UInt32(1)), chunkStream: 2) }
        saying.message(4, ByteBuffer(bytes: [0, 3, 0, 0, 0, 1, 0, 0, 0x0B, 0xB8]), chunkStream: 2)
        saying.message(4, ByteBuffer(bytes: [0, 7, 1, 2, 3, 4]), chunkStream: 2)
        saying.command("pause", 5, .null, .boolean(true), 0, streamID: 1)
        for _ in 0..<3600 {
            run.now = run.now.advanced(seconds: 1)
            run.feed(saying.bytes)
        }
        #expect(run.violation == nil)
    }

    @Test("a flood of pings or commands is handled turn by turn, each with bounded answers, and none is left out")
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
        #expect(run.largestOutput < RTMPLimits().turnAnswerBytes + 1000)
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

    @Test("an aggregate of very many sounds is handled turn by turn")
    func manySounds() {
        var peer = Peer.publishing(chunkSize: 60_000)
        peer.message(22, Peer.aggregate(of: 8, ByteBuffer(bytes: [0xAF, 1, 9]), bytes: 40_000), streamID: 1)
        let run = SessionRun(peer.bytes)
        #expect(run.packets.count == 40_000 / 18)
        #expect(run.pauses >= 22)
    }
}
