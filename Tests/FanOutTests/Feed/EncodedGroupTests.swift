@testable import FanOut
import Media
import NIOCore
import Testing

@Suite("A group of pictures as bytes")
struct EncodedGroupTests {
    private var group = PacketGroup(limit: (8_000, 8 << 20))
    private var encoded = EncodedGroup(.flv)

    private mutating func take(_ batch: [MediaPacket]) {
        group.append(batch, start: group.startingPoint(in: batch))
    }

    private var text: String {
        encoded.buffers.flatMap { FLVTag.read($0) ?? [] }.map(\.description).joined(separator: " ")
    }

    @Test("What nobody needed before is built when somebody does, once")
    mutating func catchesUp() {
        take([Packets.video(), Packets.key(0), Packets.picture(40)])
        take([Packets.sound(50)])
        encoded.catchUp(with: group)
        #expect(text == "K0 p40 s50")
        encoded.catchUp(with: group)
        #expect(encoded.buffers.count == 1)
        take([Packets.picture(80)])
        encoded.catchUp(with: group)
        #expect(encoded.buffers.count == 2)
        #expect(text == "K0 p40 s50 p80")
    }

    @Test("A buffer that went out live is kept as it is; one behind a gap is not")
    mutating func keepsLive() {
        take([Packets.key(0)])
        let first = ViewerWire.flv.encode([Packets.key(0)])
        encoded.append(first, packets: 1, of: group)
        #expect(encoded.buffers == [first])
        take([Packets.picture(40)])
        take([Packets.picture(80)])
        encoded.append(ViewerWire.flv.encode([Packets.picture(80)]), packets: 1, of: group)
        #expect(text == "K0")
        encoded.catchUp(with: group)
        #expect(text == "K0 p40 p80")
    }

    @Test("A joiner gets a long group in few pieces, and what follows behind them")
    mutating func fewPieces() {
        take([Packets.video(), Packets.key(0)])
        encoded.append(ViewerWire.flv.encode([Packets.key(0)]), packets: 1, of: group)
        for number in 1...40 {
            let batch = [Packets.picture(Int64(number) * 40)]
            take(batch)
            encoded.append(ViewerWire.flv.encode(batch), packets: 1, of: group)
        }
        let bytes = encoded.byteCount
        encoded.catchUp(with: group)
        #expect(encoded.buffers.count == 1)
        #expect(encoded.byteCount == bytes)
        #expect(encoded.buffers.reduce(0) { $0 + $1.readableBytes } == bytes)
        #expect(text == "K0 " + (1...40).map { "p\($0 * 40)" }.joined(separator: " "))
        let next = ViewerWire.flv.encode([Packets.picture(1_640)])
        take([Packets.picture(1_640)])
        encoded.append(next, packets: 1, of: group)
        encoded.catchUp(with: group)
        #expect(encoded.buffers.count == 2)
        #expect(encoded.buffers.last == next)
    }

    @Test("Headers carry the time at which the group begins, metadata none")
    mutating func preambleTime() {
        take([Packets.metadata(0), Packets.video(0), Packets.audio(0), Packets.key(0)])
        take([Packets.key(2_000), Packets.picture(2_040)])
        let preamble = encoded.preamble(of: group)
        #expect(FLVTag.read(preamble)?.map(\.description) == ["m0", "V2000", "A2000"])
    }

    @Test("After a restart nothing of the old group is left")
    mutating func restarts() {
        take([Packets.video(), Packets.key(0)])
        encoded.catchUp(with: group)
        _ = encoded.preamble(of: group)
        take([Packets.key(1_000)])
        encoded.restart()
        encoded.catchUp(with: group)
        #expect(text == "K1000")
        #expect(FLVTag.read(encoded.preamble(of: group))?.map(\.description) == ["V1000"])
    }
}
