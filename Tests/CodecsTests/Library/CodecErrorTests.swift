import Codecs
import Media
import NIOCore
import Testing

@Suite("What the codecs refuse, and how they say it")
struct CodecErrorTests {
    @Test("the licence of the libraries is told, because it becomes the binary's")
    func licence() {
        #expect(CodecLibraries.licence.contains("GPL"))
        #expect(CodecLibraries.version.split(separator: ".").count == 3)
    }

    @Test("a codec without a decoder is named in the error")
    func unknownCodec() {
        let error = #expect(throws: CodecError.self) { _ = try AudioDecoder(codec: .speex, configuration: nil) }
        #expect(error?.code == .unavailable)
        #expect(error?.message.contains("Speex") == true)
        #expect(error?.isRetryable == false)
    }

    @Test("AAC without its configuration is refused before a decoder is made")
    func missingConfiguration() {
        let error = #expect(throws: CodecError.self) { _ = try AudioDecoder(codec: .aac, configuration: nil) }
        #expect(error?.code == .badConfiguration)
    }

    @Test(
        "a video configuration cut short, or none at all, is refused",
        arguments: [
            MediaPacket.h264Configuration(ByteBuffer(bytes: [1, 77, 64]), timestamp: 0),
            MediaPacket.h264Configuration(ByteBuffer(), timestamp: 0),
            MediaPacket.h264Configuration(ByteBuffer(bytes: Array(repeating: 9, count: 40)), timestamp: 0),
            MediaPacket.aacConfiguration(ByteBuffer(bytes: [0x11, 0x90]), timestamp: 0),
        ]
    )
    func shortConfiguration(packet: MediaPacket) {
        #expect(throws: CodecError.self) { _ = try VideoDecoder(configuration: packet) }
    }

    @Test("an x264 preset or option that does not exist is refused")
    func unknownPreset() {
        #expect(throws: CodecError.self) { _ = try VideoEncoder(VideoEncoderConfiguration(preset: "warp")) }
        #expect(throws: CodecError.self) { _ = try VideoEncoder(VideoEncoderConfiguration(width: 641)) }
        #expect(throws: CodecError.self) { _ = try AudioEncoder(AudioEncoderConfiguration(bitrate: 5)) }
    }
}
