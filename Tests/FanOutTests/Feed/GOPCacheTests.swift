import Media
import NIOCore
import Testing

@testable import FanOut

@Suite("GOP cache")
struct GOPCacheTests {
    private var group = GOPCache(limit: (8_000, 8 << 20))

    private mutating func append(_ batch: MediaPacket...) {
        group.append(batch, start: group.startIndex(in: batch))
    }

    private var timestamps: [Int64] { group.packets.map(\.timestamp) }

    @Test("starts at the latest keyframe")
    mutating func latestKeyframe() {
        append(Packets.video(), Packets.audio(), Packets.key(0), Packets.frame(40))
        append(Packets.audioFrame(50))
        #expect(timestamps == [0, 40, 50])
        append(Packets.frame(80), Packets.key(120), Packets.audioFrame(130))
        #expect(timestamps == [120, 130])
    }

    @Test("starts at the later of two keyframes in a batch")
    mutating func twoKeyframes() {
        append(Packets.video(), Packets.key(0), Packets.key(40), Packets.frame(80))
        #expect(timestamps == [40, 80])
    }

    @Test("a configuration right before a keyframe is in the preamble and not repeated among the packets")
    mutating func configurationBeforeKeyframe() {
        append(Packets.audioFrame(90), Packets.video(100), Packets.audio(100), Packets.key(100))
        #expect(group.preamble.map(\.content) == [.videoConfiguration(.h264), .audioConfiguration(.aac)])
        #expect(group.packets.map(\.isKeyframe) == [true])
    }

    @Test("does not cache frames before the first keyframe")
    mutating func beforeFirstKeyframe() {
        append(Packets.video(), Packets.frame(0), Packets.audioFrame(10))
        #expect(group.packets.isEmpty)
        #expect(group.preamble.map(\.content) == [.videoConfiguration(.h264)])
    }

    @Test("the preamble has the configuration at the start of the GOP, not a later one")
    mutating func preambleAtGOPStart() {
        append(Packets.audio(0), Packets.video(0), Packets.key(0))
        append(Packets.audio(500, [0x12, 0x10]), Packets.audioFrame(510))
        let preamble = group.preamble.map { Array($0.payload.readableBytesView) }
        #expect(preamble == [Packets.avcRecord, [0x11, 0x90]])
        #expect(group.packets.map(\.content).contains(.audioConfiguration(.aac)))
        append(Packets.key(1_000))
        #expect(group.preamble.map { Array($0.payload.readableBytesView) } == [Packets.avcRecord, [0x12, 0x10]])
    }

    @Test("any audio frame of a feed without video is a start point")
    mutating func audioOnly() {
        append(Packets.audio())
        append(Packets.audioFrame(0), Packets.audioFrame(21))
        #expect(timestamps == [0, 21])
        append(Packets.audioFrame(42))
        #expect(timestamps == [42])
    }

    @Test("audio is no start point while video flows, but two seconds after the last frame")
    mutating func videoStops() {
        append(Packets.video(), Packets.key(0))
        append(Packets.audioFrame(1_900))
        #expect(timestamps == [0, 1_900])
        append(Packets.audioFrame(2_010))
        #expect(timestamps == [2_010])
        append(Packets.frame(2_020), Packets.audioFrame(2_030))
        #expect(timestamps == [2_010, 2_020, 2_030])
    }

    @Test("audio becomes a start point two seconds after a video configuration without frames")
    mutating func announcedOnly() {
        append(Packets.video(0), Packets.audio(0))
        append(Packets.audioFrame(20))
        #expect(group.packets.isEmpty)
        append(Packets.audioFrame(2_020))
        #expect(timestamps == [2_020])
    }

    @Test("a video configuration in the same batch prevents audio from being a start point")
    mutating func announcedInBatch() {
        #expect(group.startIndex(in: [Packets.video(0), Packets.audioFrame(0)]) == nil)
    }

    @Test("drops a GOP longer than eight seconds, and caches nothing until the next start point")
    mutating func tooLong() {
        append(Packets.video(), Packets.key(0))
        for time in stride(from: 40, through: 8_000, by: 40) { append(Packets.frame(Int64(time))) }
        #expect(group.packets.count == 201)
        append(Packets.frame(8_040))
        #expect(group.packets.isEmpty)
        append(Packets.frame(8_080))
        #expect(group.packets.isEmpty)
        append(Packets.key(8_120))
        #expect(timestamps == [8_120])
    }

    @Test("drops a GOP of more than eight mebibytes")
    mutating func tooLarge() {
        append(Packets.video(), Packets.key(0, bytes: 4 << 20))
        append(Packets.frame(40, bytes: 3 << 20))
        #expect(group.packets.count == 2)
        append(Packets.frame(80, bytes: 2 << 20))
        #expect(group.packets.isEmpty)
    }
}

@Suite("Encoded GOP")
struct EncodedGOPTests {
    private var group = GOPCache(limit: (8_000, 8 << 20))
    private var encoded = EncodedGOP(.flv)

    private mutating func append(_ batch: [MediaPacket]) {
        group.append(batch, start: group.startIndex(in: batch))
    }

    private var text: String {
        encoded.buffers.flatMap { FLVTag.read($0) ?? [] }.map(\.description).joined(separator: " ")
    }

    @Test("encodes on demand, and only once")
    mutating func catchesUp() {
        append([Packets.video(), Packets.key(0), Packets.frame(40)])
        append([Packets.audioFrame(50)])
        encoded.catchUp(with: group)
        #expect(text == "K0 p40 s50")
        encoded.catchUp(with: group)
        #expect(encoded.buffers.count == 1)
        append([Packets.frame(80)])
        encoded.catchUp(with: group)
        #expect(encoded.buffers.count == 2)
        #expect(text == "K0 p40 s50 p80")
    }

    @Test("reuses a buffer that was sent live, unless it follows a gap")
    mutating func keepsLive() {
        append([Packets.key(0)])
        let first = ViewerWireFormat.flv.encode([Packets.key(0)])
        encoded.append(first, packets: 1, of: group)
        #expect(encoded.buffers == [first])
        append([Packets.frame(40)])
        append([Packets.frame(80)])
        encoded.append(ViewerWireFormat.flv.encode([Packets.frame(80)]), packets: 1, of: group)
        #expect(text == "K0")
        encoded.catchUp(with: group)
        #expect(text == "K0 p40 p80")
    }

    @Test("joins a long GOP into few buffers for a joining viewer")
    mutating func fewPieces() {
        append([Packets.video(), Packets.key(0)])
        encoded.append(ViewerWireFormat.flv.encode([Packets.key(0)]), packets: 1, of: group)
        for number in 1...40 {
            let batch = [Packets.frame(Int64(number) * 40)]
            append(batch)
            encoded.append(ViewerWireFormat.flv.encode(batch), packets: 1, of: group)
        }
        let bytes = encoded.byteCount
        encoded.catchUp(with: group)
        #expect(encoded.buffers.count == 1)
        #expect(encoded.byteCount == bytes)
        #expect(encoded.buffers.reduce(0) { $0 + $1.readableBytes } == bytes)
        #expect(text == "K0 " + (1...40).map { "p\($0 * 40)" }.joined(separator: " "))
        let next = ViewerWireFormat.flv.encode([Packets.frame(1_640)])
        append([Packets.frame(1_640)])
        encoded.append(next, packets: 1, of: group)
        encoded.catchUp(with: group)
        #expect(encoded.buffers.count == 2)
        #expect(encoded.buffers.last == next)
    }

    @Test("stamps headers with the start time of the GOP, and metadata with zero")
    mutating func preambleTime() {
        append([Packets.metadata(0), Packets.video(0), Packets.audio(0), Packets.key(0)])
        append([Packets.key(2_000), Packets.frame(2_040)])
        let preamble = encoded.preamble(of: group)
        #expect(FLVTag.read(preamble)?.map(\.description) == ["m0", "V2000", "A2000"])
    }

    @Test("removes the old GOP on restart")
    mutating func restarts() {
        append([Packets.video(), Packets.key(0)])
        encoded.catchUp(with: group)
        _ = encoded.preamble(of: group)
        append([Packets.key(1_000)])
        encoded.restart()
        encoded.catchUp(with: group)
        #expect(text == "K1000")
        #expect(FLVTag.read(encoded.preamble(of: group))?.map(\.description) == ["V1000"])
    }
}
