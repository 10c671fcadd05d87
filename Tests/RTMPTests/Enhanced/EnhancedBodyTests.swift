import Media
import NIOCore
import Testing

@testable import RTMP

@Suite("Enhanced RTMP bodies")
struct EnhancedBodyTests {
    private func name(_ text: String) -> [UInt8] { Array(text.utf8) }

    private func video(_ bytes: [UInt8]) -> MediaPacket? {
        MediaPacket(videoBody: ByteBuffer(bytes: bytes), timestamp: 100)
    }

    private func audio(_ bytes: [UInt8]) -> MediaPacket? {
        MediaPacket(audioBody: ByteBuffer(bytes: bytes), timestamp: 100)
    }

    @Test(
        "identifies video codecs by FourCC",
        arguments: [
            ("avc1", .h264), ("hvc1", .hevc), ("av01", .av1), ("vp09", .vp9), ("vp08", .vp8), ("zzzz", .unknown),
        ]
            as [(String, VideoCodec)]
    )
    func videoCodecs(letters: String, codec: VideoCodec) {
        #expect(video([0x90] + name(letters) + [1, 2])?.content == .videoConfiguration(codec))
        let frame = video([0xA3] + name(letters) + [7, 8])
        #expect(frame?.content == .video(codec, isKey: false, isDisposable: false))
        #expect(frame?.payload == ByteBuffer(bytes: [7, 8]))
    }

    @Test(
        "identifies audio codecs by FourCC",
        arguments: [
            ("mp4a", .aac), (".mp3", .mp3), ("Opus", .opus), ("fLaC", .flac), ("ac-3", .ac3), ("ec-3", .eac3),
            ("????", .unknown),
        ] as [(String, AudioCodec)]
    )
    func audioCodecs(letters: String, codec: AudioCodec) {
        #expect(audio([0x90] + name(letters) + [1, 2])?.content == .audioConfiguration(codec))
        #expect(audio([0x91] + name(letters) + [7])?.content == .audio(codec))
        #expect(audio([0x91] + name(letters) + [7])?.payload == ByteBuffer(bytes: [7]))
        #expect(audio([0x92] + name(letters)) == nil)
    }

    @Test("reads a composition time for H.264 and HEVC only")
    func compositionTime() {
        for letters in ["avc1", "hvc1"] {
            let packet = video([0x91] + name(letters) + [0xFF, 0xFF, 0xF6, 9])
            #expect(packet?.compositionOffset == -10)
            #expect(packet?.isKeyframe == true)
            #expect(packet?.payload == ByteBuffer(bytes: [9]))
        }
        let plain = video([0x91] + name("av01") + [1, 2, 3, 9])
        #expect(plain?.compositionOffset == 0)
        #expect(plain?.payload == ByteBuffer(bytes: [1, 2, 3, 9]))
    }

    @Test("handles sequence end, metadata, seek commands and truncated bodies")
    func others() {
        #expect(video([0x92] + name("avc1"))?.content == .videoEnd)
        #expect(video([0x94] + name("avc1") + [2, 0, 1, 97]) == nil)
        #expect(video([0xD1, 0]) == nil)
        for count in 0..<8 { #expect(video(Array(([0x91] + name("avc1") + [0, 0, 0]).prefix(count))) == nil) }
    }

    @Test("skips consecutive short and long modifiers")
    func modifiers() {
        let short: [UInt8] = [2, 1, 2, 3, 0x07]
        let long: [UInt8] = [255, 1, 43] + Array(repeating: 0, count: 300) + [0x01]
        let packet = video([0x97] + short + long + name("avc1") + [0, 0, 5, 9])
        #expect(packet?.content == .video(.h264, isKey: true, isDisposable: false))
        #expect(packet?.compositionOffset == 5)
        #expect(packet?.payload == ByteBuffer(bytes: [9]))
        #expect(audio([0x97, 0, 9, 0x01] + name("mp4a") + [4])?.payload == ByteBuffer(bytes: [4]))
    }

    @Test("extracts the first track of a multitrack body")
    func tracks() {
        let one = video([0x96, 0x01] + name("avc1") + [0, 0, 0, 5, 9])
        #expect(one?.bytes == [0x91] + name("avc1") + [0, 0, 5, 9])
        #expect(one?.payload == ByteBuffer(bytes: [9]))
        #expect(video([0x96, 0x01] + name("avc1") + [3, 0, 0, 5, 9]) == nil)
        let many = video([0x96, 0x13] + name("avc1") + [1, 0, 0, 2, 8, 8, 0, 0, 0, 1, 9])
        #expect(many?.bytes == [0x93] + name("avc1") + [9])
        let mixed = audio([0x95, 0x21] + name("Opus") + [1, 0, 0, 1, 8] + name("mp4a") + [0, 0, 0, 2, 9, 7])
        #expect(mixed?.content == .audio(.aac))
        #expect(mixed?.payload == ByteBuffer(bytes: [9, 7]))
        #expect(audio([0x95, 0x21] + name("Opus") + [1, 0, 0, 9, 8]) == nil)
    }
}
