import Media
import NIOCore
import TestSupport
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

    @Test("parses legacy H.264: configuration, frames, signed composition time and sequence end")
    func legacy() {
        #expect(video([0x17, 0, 0, 0, 0, 1, 2])?.content == .videoConfiguration(.h264))
        let key = video([0x17, 1, 0, 0, 80, 0, 0, 0, 1, 5])
        #expect(key?.content == .video(.h264, isKey: true, isDisposable: false))
        #expect(key?.compositionOffset == 80)
        #expect(key?.presentationTimestamp == 1080)
        #expect(payload(key) == [0, 0, 0, 1, 5])
        #expect(video([0x27, 1, 0xFF, 0xFF, 0xD8, 1])?.compositionOffset == -40)
        #expect(video([0x37, 1, 0, 0, 0, 1])?.content == .video(.h264, isKey: false, isDisposable: true))
        #expect(video([0x47, 1, 0, 0, 0, 1])?.isKeyframe == true)
        #expect(video([0x17, 2, 0, 0, 0])?.content == .videoEnd)
    }

    @Test("ignores seek commands and empty or truncated bodies")
    func nothing() {
        for bytes in [
            [], [0x57, 0], [0x57, 1, 0, 0, 0, 1], [0x17], [0x17, 1, 0, 0], [0x17, 1, 0, 0, 0], [0x17, 9, 0, 0, 0, 1],
        ] {
            #expect(video(bytes.map { UInt8($0) }) == nil)
        }
    }

    @Test("identifies other legacy codecs")
    func otherCodecs() {
        let names: [(UInt8, VideoCodec)] = [
            (2, .sorensonH263), (3, .screenVideo), (4, .vp6), (5, .vp6), (6, .screenVideo), (9, .unknown),
        ]
        for (id, codec) in names {
            #expect(video([0x10 | id, 1, 2])?.content == .video(codec, isKey: true, isDisposable: false))
        }
        #expect(video([0x1C, 0, 0, 0, 0, 1])?.content == .videoConfiguration(.hevc))
        #expect(video([0x2C, 1, 0, 0, 5, 1])?.compositionOffset == 5)
    }

    @Test("detects HEVC sent with the codec ID of H.264")
    func mislabelledHEVC() {
        let record: [UInt8] = [1, 1, 0x60, 0, 0, 0] + Array(repeating: 0, count: 20)
        #expect(video([0x17, 0, 0, 0, 0] + record)?.content == .videoConfiguration(.hevc))
        let avc: [UInt8] = [1, 100, 0, 31] + Array(repeating: 0, count: 22)
        #expect(video([0x17, 0, 0, 0, 0] + avc)?.content == .videoConfiguration(.h264))
    }

    @Test("converts Annex B frames and configurations to length prefixes")
    func annexB() {
        let frame = video([0x17, 1, 0, 0, 0, 0, 0, 0, 1, 0x67, 1, 2, 0, 0, 1, 0x68, 3, 0, 0, 0, 1, 0x65, 4, 5, 6])
        #expect(payload(frame) == [0, 0, 0, 3, 0x67, 1, 2, 0, 0, 0, 2, 0x68, 3, 0, 0, 0, 4, 0x65, 4, 5, 6])
        let configuration = video([0x17, 0, 0, 0, 0, 0, 0, 0, 1, 0x67, 100, 0, 31, 9, 0, 0, 0, 1, 0x68, 7])
        #expect(
            payload(configuration) == [1, 100, 0, 31, 0xFF, 0xE1, 0, 5, 0x67, 100, 0, 31, 9, 1, 0, 2, 0x68, 7]
        )
    }

    @Test("keeps a length prefix that resembles a start code")
    func notAnnexB() {
        let unit: [UInt8] = [0, 0, 1, 4] + Array(repeating: 0x41, count: 260)
        #expect(payload(video([0x27, 1, 0, 0, 0] + unit)) == unit)
        let tiny: [UInt8] = [0, 0, 0, 1, 9, 0, 0, 0, 2, 0x41, 3]
        #expect(payload(video([0x27, 1, 0, 0, 0] + tiny)) == tiny)
    }

    @Test("parses random bodies within their bounds", arguments: 0..<20)
    func randomBytes(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
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

@Suite("Audio message bodies")
struct AudioBodyTests {
    private func audio(_ bytes: [UInt8]) -> MediaPacket? {
        MediaPacket(audioBody: ByteBuffer(bytes: bytes), timestamp: 5)
    }

    @Test("parses AAC configurations and frames, MP3, and the other codec IDs")
    func legacy() {
        #expect(audio([0xAF, 0, 0x12, 0x10])?.content == .audioConfiguration(.aac))
        #expect(audio([0xAF, 1, 9])?.content == .audio(.aac))
        #expect(audio([0xAF, 1, 9])?.payload == ByteBuffer(bytes: [9]))
        #expect(audio([0x2F, 0xFF, 0xFB])?.content == .audio(.mp3))
        #expect(audio([0x2F, 0xFF, 0xFB])?.payload == ByteBuffer(bytes: [0xFF, 0xFB]))
        let names: [(UInt8, AudioCodec)] = [
            (0, .pcm), (3, .pcm), (1, .adpcm), (14, .mp3), (6, .nellymoser), (7, .g711), (8, .g711), (11, .speex),
            (13, .opus), (12, .unknown),
        ]
        for (format, codec) in names { #expect(audio([format << 4 | 0x0F, 1])?.content == .audio(codec)) }
    }

    @Test(
        "ignores empty and truncated bodies",
        arguments: [[], [0xAF], [0xAF, 0], [0xAF, 1], [0xAF, 7, 1], [0x2F]]
    )
    func nothing(bytes: [UInt8]) {
        #expect(audio(bytes) == nil)
    }
}
