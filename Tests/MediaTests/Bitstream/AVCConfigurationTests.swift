import Media
import NIOCore
import Testing

@Suite("AVCDecoderConfigurationRecord")
struct AVCConfigurationTests {
    /// 638x358, Constrained Baseline, level 3.0, 30 frames a second, BT.709, limited range: made by x264.
    static let record: [UInt8] = [
        0x01, 0x42, 0xC0, 0x1E, 0xFF, 0xE1, 0x00, 0x1C, 0x67, 0x42, 0xC0, 0x1E, 0xDA, 0x02, 0x80, 0xBF, 0xA9, 0xB0,
        0x16, 0xA0, 0x20, 0x20, 0x28, 0x00, 0x00, 0x03, 0x00, 0x08, 0x00, 0x00, 0x03, 0x01, 0xE4, 0x78, 0xB1, 0x75,
        0x01, 0x00, 0x04, 0x68, 0xCE, 0x0F, 0xC8,
    ]
    private var sps: ByteBuffer { ByteBuffer(bytes: Self.record[8..<36]) }
    private var pps: ByteBuffer { ByteBuffer(bytes: Self.record[39...]) }

    @Test("a record of x264")
    func known() throws {
        let configuration = try AVCConfiguration(ByteBuffer(bytes: Self.record))
        #expect(configuration.codecString == "avc1.42C01E")
        #expect(configuration.nalLengthSize == 4)
        #expect(configuration.sequenceParameterSets == [sps])
        #expect(configuration.pictureParameterSets == [pps])
        #expect((configuration.sps.width, configuration.sps.height) == (638, 358))
        #expect((configuration.sps.codedWidth, configuration.sps.codedHeight) == (640, 368))
        #expect(configuration.sps.frameRate == 30)
        #expect(configuration.sps.usability?.isFullRange == false)
        #expect(configuration.sps.usability?.colour?.matrix == 1)
        #expect(configuration.sps.usability?.reorderedFrames == 0)
        #expect(configuration.sps.sampleAspectRatio == (1, 1))
    }

    @Test("parameter sets with start codes, sent in place of a record, become the same record")
    func fromAnnexB() throws {
        var stream = ByteBuffer(bytes: [0, 0, 0, 1])
        stream.writeImmutableBuffer(sps)
        stream.writeBytes([0, 0, 0, 1])
        stream.writeImmutableBuffer(pps)
        let configuration = try AVCConfiguration(stream)
        #expect(Array(configuration.record.readableBytesView) == Self.record)
        #expect(try configuration == AVCConfiguration(ByteBuffer(bytes: Self.record)))
    }

    @Test("every shorter record is refused")
    func truncated() {
        for length in 0..<Self.record.count {
            #expect(throws: BitstreamError.self) { try AVCConfiguration(ByteBuffer(bytes: Self.record[..<length])) }
        }
    }

    @Test("a record without parameter sets is refused")
    func empty() {
        #expect(throws: BitstreamError.invalid(field: "numOfSequenceParameterSets")) {
            try AVCConfiguration(ByteBuffer(bytes: [1, 66, 0, 30, 0xFF, 0xE0, 0]))
        }
        #expect(throws: BitstreamError.invalid(field: "configurationVersion")) {
            try AVCConfiguration(ByteBuffer(bytes: [2] + Self.record.dropFirst()))
        }
    }
}
