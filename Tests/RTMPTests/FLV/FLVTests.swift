import Media
import NIOCore
import Testing

@testable import RTMP

@Suite("FLV files")
struct FLVTests {
    private let packets: [MediaPacket] = [
        StreamMetadata.packet(
            width: 1280,
            height: 720,
            frameRate: 30,
            videoBitrate: 3000,
            audioBitrate: 128,
            sampleRate: 48_000,
            channels: 2,
            encoder: "Footlight"
        ),
        .h264Configuration(ByteBuffer(bytes: [1, 77, 0, 31]), timestamp: 0),
        .aacConfiguration(ByteBuffer(bytes: [0x11, 0x90]), timestamp: 0),
        .h264Frame(isKey: true, isDisposable: false, timestamp: 0, compositionOffset: 66, capacity: 9) {
            $0.writeBytes(0..<9)
        },
        .aacFrame(timestamp: 21, capacity: 3) { $0.writeBytes([1, 2, 3]) },
    ]

    private func file() -> ByteBuffer {
        var file = FLVTagWriter.header(hasAudio: true, hasVideo: true)
        for packet in packets { FLVTagWriter.write(packet, timestamp: packet.timestamp + 0xFFFF_FFF0, to: &file) }
        return file
    }

    @Test("writes the header and tags in the specified layout")
    func layout() {
        let header = FLVTagWriter.header(hasAudio: true, hasVideo: false)
        #expect(Array(header.readableBytesView) == [0x46, 0x4C, 0x56, 1, 4, 0, 0, 0, 9, 0, 0, 0, 0])
        var tag = ByteBuffer()
        FLVTagWriter.write(packets[4], timestamp: 0x0102_0304, to: &tag)
        let expected: [UInt8] = [8, 0, 0, 5, 2, 3, 4, 1, 0, 0, 0, 0xAF, 1, 1, 2, 3, 0, 0, 0, 16]
        #expect(Array(tag.readableBytesView) == expected)
        #expect(tag.readableBytes == packets[4].body.readableBytes + FLVTagWriter.overhead)
    }

    @Test("reads what was written, in chunks of any size, across the timestamp wrap", arguments: [1, 5, 64, Int.max])
    func roundTrip(step: Int) throws {
        var reader = FLVReader()
        var rest = file()
        var read: [MediaPacket] = []
        while let part = rest.readSlice(length: min(step, rest.readableBytes)), part.readableBytes > 0 {
            reader.append(part)
            while let packet = try reader.next() { read.append(packet) }
        }
        #expect(read.map(\.content) == packets.map(\.content))
        #expect(read.map(\.body) == packets.map(\.body))
        #expect(read.map { $0.timestamp - 0xFFFF_FFF0 } == packets.map(\.timestamp))
        #expect(read[3].compositionOffset == 66)
        let metadata = try #require(StreamMetadata(read[0]))
        #expect(metadata.width == 1280 && metadata.height == 720 && metadata.frameRate == 30)
        #expect(metadata.sampleRate == 48_000 && metadata.encoder == "Footlight")
    }

    @Test("rejects non-FLV data, unknown tags and oversized tags")
    func refused() {
        func read(_ bytes: [UInt8]) throws(FLVError) -> MediaPacket? {
            var reader = FLVReader()
            reader.append(ByteBuffer(bytes: bytes))
            return try reader.next()
        }
        let header = Array(FLVTagWriter.header(hasAudio: true, hasVideo: true).readableBytesView)
        #expect(throws: FLVError.notFLV) { try read([0x47, 0x40, 0]) }
        #expect(throws: FLVError.notFLV) { try read([0x46, 0x4C, 0x56, 1, 5, 0xFF, 0, 0, 9]) }
        #expect(throws: FLVError.unknownTag(7)) { try read(header + [7]) }
        #expect(throws: FLVError.tooLarge(0xFF_FFFF)) { try read(header + [9, 0xFF, 0xFF, 0xFF]) }
    }
}
