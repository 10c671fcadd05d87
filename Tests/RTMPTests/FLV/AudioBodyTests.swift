import Media
import NIOCore
import Testing

@testable import RTMP

@Suite("Audio message bodies")
struct AudioBodyTests {
    private func audio(_ bytes: [UInt8]) -> MediaPacket? {
        MediaPacket(audioBody: ByteBuffer(bytes: bytes), timestamp: 5)
    }

    @Test("AAC configuration and frames, MP3, and the names of the rest")
    func legacy() {
        #expect(audio([0xAF, 0, 0x12, 0x10])?.content == .audioConfiguration(.aac))
        #expect(audio([0xAF, 1, 9])?.content == .sound(.aac))
        #expect(audio([0xAF, 1, 9])?.payload == ByteBuffer(bytes: [9]))
        #expect(audio([0x2F, 0xFF, 0xFB])?.content == .sound(.mp3))
        #expect(audio([0x2F, 0xFF, 0xFB])?.payload == ByteBuffer(bytes: [0xFF, 0xFB]))
        let names: [(UInt8, AudioCodec)] = [
            (0, .pcm), (3, .pcm), (1, .adpcm), (14, .mp3), (6, .nellymoser), (7, .g711), (8, .g711), (11, .speex),
            (13, .opus), (12, .unknown),
        ]
        for (format, codec) in names { #expect(audio([format << 4 | 0x0F, 1])?.content == .sound(codec)) }
    }

    @Test(
        "empty bodies and stumps carry nothing",
        arguments: [[], [0xAF], [0xAF, 0], [0xAF, 1], [0xAF, 7, 1], [0x2F]]
    )
    func nothing(bytes: [UInt8]) {
        #expect(audio(bytes) == nil)
    }
}
