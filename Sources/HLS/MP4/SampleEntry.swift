import Media
import NIOCore

/// Writes how the samples of a track are coded (ISO/IEC 14496-12 8.5.2, 14496-14, 14496-15).
enum SampleEntry {
    static func write(_ video: AVCConfiguration, to stsd: inout BoxWriter) {
        stsd.box("avc1") { box in
            box.zeros(6)
            box.write(UInt16(1))
            box.zeros(16)
            box.write(UInt16(truncatingIfNeeded: video.sps.width))
            box.write(UInt16(truncatingIfNeeded: video.sps.height))
            // 72 dots per inch, one picture per sample, no compressor name, 24 bits of colour.
            box.write(UInt32(0x0048_0000))
            box.write(UInt32(0x0048_0000))
            box.zeros(4)
            box.write(UInt16(1))
            box.zeros(32)
            box.write(UInt16(0x0018))
            box.write(UInt16(0xFFFF))
            box.box("avcC") { $0.write(video.record) }
            colour(&box, video.sps.usability)
            if let pixel = video.sps.usability?.sampleAspectRatio {
                box.box("pasp") {
                    $0.write(UInt32(pixel.width))
                    $0.write(UInt32(pixel.height))
                }
            }
        }
    }

    private static func colour(_ entry: inout BoxWriter, _ usability: VideoUsability?) {
        guard let colour = usability?.colour else { return }
        entry.box("colr") { box in
            box.write("nclx")
            box.write(UInt16(colour.primaries))
            box.write(UInt16(colour.transfer))
            box.write(UInt16(colour.matrix))
            box.write(UInt8(usability?.isFullRange == true ? 0x80 : 0))
        }
    }

    static func write(_ audio: AACConfiguration, to stsd: inout BoxWriter) {
        stsd.box("mp4a") { box in
            box.zeros(6)
            box.write(UInt16(1))
            box.zeros(8)
            box.write(UInt16(truncatingIfNeeded: audio.channelCount))
            box.write(UInt16(16))
            box.zeros(4)
            // 16.16 fixed point cannot hold 88.2 kHz and more; the configuration in `esds` is what counts.
            box.write(audio.sampleRate <= 0xFFFF ? UInt32(audio.sampleRate) << 16 : 0)
            box.fullBox("esds") { elementaryStream(&$0, audio.bytes) }
        }
    }

    /// ES_Descriptor (ISO/IEC 14496-1 7.2.6.5): nested descriptors, each a tag, a length, a body.
    private static func elementaryStream(_ box: inout BoxWriter, _ configuration: ByteBuffer) {
        let specific = configuration.readableBytes
        let decoder = 13 + descriptorHeader + specific
        descriptor(&box, tag: 3, length: 3 + descriptorHeader + decoder + descriptorHeader + 1)
        box.write(UInt16(0))
        box.write(UInt8(0))
        descriptor(&box, tag: 4, length: decoder)
        // MPEG-4 audio; audio stream, not upstream; buffer size and bit rates not said.
        box.write(UInt8(0x40))
        box.write(UInt8(0x15))
        box.zeros(3 + 4 + 4)
        descriptor(&box, tag: 5, length: specific)
        box.write(configuration)
        descriptor(&box, tag: 6, length: 1)
        box.write(UInt8(2))
    }

    private static let descriptorHeader = 5

    /// A descriptor's tag and its length in four bytes of seven bits, the form all readers know.
    private static func descriptor(_ box: inout BoxWriter, tag: UInt8, length: Int) {
        box.write(tag)
        for shift in [21, 14, 7] { box.write(UInt8((length >> shift) & 0x7F | 0x80)) }
        box.write(UInt8(length & 0x7F))
    }
}
