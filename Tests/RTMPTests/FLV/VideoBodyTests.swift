import Media
import NIOCore
import Testing

@testable import RTMP

@Suite("Video message bodies")
struct VideoBodyTests {
    private func video(_ bytes: [UInt8]) -> MediaPacket? {
        MediaPacket(videoBody: ByteBuffer(bytes: bytes), timestamp: 1000)
    }

    private func payload(_ packet: MediaPacket?) -> [UInt8]? {
        packet.map { Array($0.payload.readableBytesView) }
    }

    @Test("legacy H.264: configuration, pictures, composition time with its sign, and the end")
    func legacy() {
        #expect(video([0x17, 0, 0, 0, 0, 1, 2])?.content == .videoConfiguration(.h264))
        let key = video([0x17, 1, 0, 0, 80, 0, 0, 0, 1, 5])
        #expect(key?.content == .picture(.h264, isKey: true, isDisposable: false))
        #expect(key?.compositionOffset == 80)
        #expect(key?.presentationTimestamp == 1080)
        #expect(payload(key) == [0, 0, 0, 1, 5])
        #expect(video([0x27, 1, 0xFF, 0xFF, 0xD8, 1])?.compositionOffset == -40)
        #expect(video([0x37, 1, 0, 0, 0, 1])?.content == .picture(.h264, isKey: false, isDisposable: true))
        #expect(video([0x47, 1, 0, 0, 0, 1])?.isKeyPicture == true)
        #expect(video([0x17, 2, 0, 0, 0])?.content == .videoEnd)
    }

    @Test("seek commands, empty bodies and stumps carry nothing")
    func nothing() {
        for bytes in [
            [], [0x57, 0], [0x57, 1, 0, 0, 0, 1], [0x17], [0x17, 1, 0, 0], [0x17, 1, 0, 0, 0], [0x17, 9, 0, 0, 0, 1],
        ] {
            #expect(video(bytes.map { UInt8($0) }) == nil)
        }
    }

    @Test("other legacy codecs are known by name")
    func otherCodecs() {
        let names: [(UInt8, VideoCodec)] = [
            (2, .sorensonH263), (3, .screenVideo), (4, .vp6), (5, .vp6), (6, .screenVideo), (9, .unknown),
        ]
        for (id, codec) in names {
            #expect(video([0x10 | id, 1, 2])?.content == .picture(codec, isKey: true, isDisposable: false))
        }
        #expect(video([0x1C, 0, 0, 0, 0, 1])?.content == .videoConfiguration(.hevc))
        #expect(video([0x2C, 1, 0, 0, 5, 1])?.compositionOffset == 5)
    }

    @Test("HEVC under the number of H.264 is found out by its record")
    func hiddenHEVC() {
        let record: [UInt8] = [1, 1, 0x60, 0, 0, 0] + Array(repeating: 0, count: 20)
        #expect(video([0x17, 0, 0, 0, 0] + record)?.content == .videoConfiguration(.hevc))
        let avc: [UInt8] = [1, 100, 0, 31] + Array(repeating: 0, count: 22)
        #expect(video([0x17, 0, 0, 0, 0] + avc)?.content == .videoConfiguration(.h264))
    }

    @Test("start codes become lengths, in pictures and in the configuration")
    func annexB() {
        let picture = video([0x17, 1, 0, 0, 0, 0, 0, 0, 1, 0x67, 1, 2, 0, 0, 1, 0x68, 3, 0, 0, 0, 1, 0x65, 4, 5, 6])
        #expect(payload(picture) == [0, 0, 0, 3, 0x67, 1, 2, 0, 0, 0, 2, 0x68, 3, 0, 0, 0, 4, 0x65, 4, 5, 6])
        let configuration = video([0x17, 0, 0, 0, 0, 0, 0, 0, 1, 0x67, 100, 0, 31, 9, 0, 0, 0, 1, 0x68, 7])
        #expect(
            payload(configuration) == [1, 100, 0, 31, 0xFF, 0xE1, 0, 5, 0x67, 100, 0, 31, 9, 1, 0, 2, 0x68, 7]
        )
    }

    @Test("a length that looks like a start code stays a length")
    func notAnnexB() {
        let unit: [UInt8] = [0, 0, 1, 4] + Array(repeating: 0x41, count: 260)
        #expect(payload(video([0x27, 1, 0, 0, 0] + unit)) == unit)
        let tiny: [UInt8] = [0, 0, 0, 1, 9, 0, 0, 0, 2, 0x41, 3]
        #expect(payload(video([0x27, 1, 0, 0, 0] + tiny)) == tiny)
    }

    @Test("random bodies never do harm", arguments: 0..<20)
    func junk(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for _ in 0..<200 {
            let bytes = (0..<Int.random(in: 0...60, using: &random)).map { _ in
                Bool.random(using: &random)
                    ? UInt8.random(in: 0...2, using: &random) : UInt8.random(in: 0...255, using: &random)
            }
            for packet in [video(bytes), MediaPacket(audioBody: ByteBuffer(bytes: bytes), timestamp: 0)] {
                if let packet { #expect(packet.headerLength <= packet.body.readableBytes) }
            }
            _ = MediaPacket(dataBody: ByteBuffer(bytes: bytes), timestamp: 0)
        }
    }
}
