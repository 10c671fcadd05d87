import Media
import NIOCore
import Testing

@Suite("AudioSpecificConfig")
struct AACConfigurationTests {
    @Test(
        "what encoders send",
        arguments: [
            ([0x11, 0x90], 2, 48_000, 2, 1024), ([0x12, 0x10], 2, 44_100, 2, 1024), ([0x11, 0x88], 2, 48_000, 1, 1024),
            ([0x11, 0xB0], 2, 48_000, 6, 1024), ([0x11, 0xB8], 2, 48_000, 8, 1024), ([0x15, 0x88], 2, 8_000, 1, 1024),
            ([0x11, 0x94], 2, 48_000, 2, 960),
            // As ffmpeg writes it, with an empty sync extension behind.
            ([0x11, 0x88, 0x56, 0xE5, 0x00], 2, 48_000, 1, 1024),
            // HE-AAC with explicit signalling: core of 24 kHz.
            ([0x2B, 0x11, 0x88, 0x00], 5, 24_000, 2, 1024),
            // A rate written out: 37800.
            ([0x17, 0x80, 0x49, 0xD4, 0x10], 2, 37_800, 2, 1024),
        ] as [([UInt8], Int, Int, Int, Int)]
    )
    func known(bytes: [UInt8], type: Int, rate: Int, channels: Int, samples: Int) throws {
        let configuration = try AACConfiguration(ByteBuffer(bytes: bytes))
        #expect(configuration.objectType == type)
        #expect(configuration.sampleRate == rate)
        #expect(configuration.channelCount == channels)
        #expect(configuration.samplesPerFrame == samples)
        #expect(configuration.codecString == "mp4a.40.\(type)")
    }

    @Test("channels listed one by one are counted")
    func elementList() throws {
        // LC, 48 kHz, channel configuration 0; a list of one front pair, one single front, one low frequency element.
        let bytes: [UInt8] = [0x11, 0x80, 0x04, 0xC8, 0x01, 0x00, 0x20, 0x10]
        #expect(try AACConfiguration(ByteBuffer(bytes: bytes)).channelCount == 4)
    }

    @Test(
        "what is not AAC is refused",
        arguments: [[], [0x11], [0x16, 0x90], [0x01, 0x90], [0xF9, 0x00, 0, 0, 0]] as [[UInt8]]
    )
    func refused(bytes: [UInt8]) {
        #expect(throws: BitstreamError.self) { try AACConfiguration(ByteBuffer(bytes: bytes)) }
    }
}
