import Media
import NIOCore

/// Writes an initialization segment: `ftyp`, and a `moov` with empty tracks because all media is in fragments
/// (ISO/IEC 14496-12 8.8).
enum MovieHeader {
    static func write(_ format: ProgramFormat) -> ByteBuffer {
        var writer = BoxWriter(capacity: 1536)
        // iso6: signed composition offsets, 64-bit decode times, data offsets counted from the moof.
        writer.box("ftyp") { box in
            box.write("iso6")
            box.write(UInt32(0))
            for brand: StaticString in ["iso6", "avc1", "mp41"] { box.write(brand) }
        }
        writer.box("moov") { moov in
            movie(&moov)
            if let video = format.video { videoTrack(&moov, video) }
            if let audio = format.audio { audioTrack(&moov, audio) }
            moov.box("mvex") { mvex in
                if format.video != nil { extends(&mvex, ProgramFormat.videoTrack) }
                if format.audio != nil { extends(&mvex, ProgramFormat.audioTrack) }
            }
        }
        return writer.bytes
    }

    private static func movie(_ moov: inout BoxWriter) {
        moov.fullBox("mvhd") { box in
            box.zeros(8)
            box.write(UInt32(1000))
            box.write(UInt32(0))
            box.write(UInt32(0x0001_0000))
            box.write(UInt16(0x0100))
            box.zeros(10)
            matrix(&box)
            box.zeros(24)
            box.write(ProgramFormat.audioTrack + 1)
        }
    }

    private static func videoTrack(_ moov: inout BoxWriter, _ video: AVCConfiguration) {
        let pixel = video.sps.sampleAspectRatio
        let shownWidth = (video.sps.width * pixel.width + pixel.height / 2) / pixel.height
        moov.box("trak") { trak in
            header(&trak, ProgramFormat.videoTrack, volume: 0, width: shownWidth, height: video.sps.height)
            trak.box("mdia") { mdia in
                mediaHeader(&mdia, timescale: ProgramFormat.videoTimescale, handler: "vide", name: "Video")
                mdia.box("minf") { minf in
                    minf.fullBox("vmhd", flags: 1) { $0.zeros(8) }
                    dataInformation(&minf)
                    sampleTable(&minf) { SampleEntry.write(video, to: &$0) }
                }
            }
        }
    }

    private static func audioTrack(_ moov: inout BoxWriter, _ audio: AACConfiguration) {
        moov.box("trak") { trak in
            header(&trak, ProgramFormat.audioTrack, volume: 0x0100, width: 0, height: 0)
            trak.box("mdia") { mdia in
                mediaHeader(&mdia, timescale: UInt32(audio.sampleRate), handler: "soun", name: "Sound")
                mdia.box("minf") { minf in
                    minf.fullBox("smhd") { $0.zeros(4) }
                    dataInformation(&minf)
                    sampleTable(&minf) { SampleEntry.write(audio, to: &$0) }
                }
            }
        }
    }

    private static func header(_ trak: inout BoxWriter, _ id: UInt32, volume: UInt16, width: Int, height: Int) {
        // Enabled, and part of the movie.
        trak.fullBox("tkhd", flags: 3) { box in
            box.zeros(8)
            box.write(id)
            box.zeros(8 + 8)
            box.write(UInt16(0))
            box.write(UInt16(id))
            box.write(volume)
            box.zeros(2)
            matrix(&box)
            box.write(UInt32(min(width, 0xFFFF)) << 16)
            box.write(UInt32(min(height, 0xFFFF)) << 16)
        }
    }

    private static func mediaHeader(
        _ mdia: inout BoxWriter,
        timescale: UInt32,
        handler: StaticString,
        name: StaticString
    ) {
        mdia.fullBox("mdhd") { box in
            box.zeros(8)
            box.write(timescale)
            box.write(UInt32(0))
            // The language "und" in three times five bits.
            box.write(UInt16(0x55C4))
            box.zeros(2)
        }
        mdia.fullBox("hdlr") { box in
            box.zeros(4)
            box.write(handler)
            box.zeros(12)
            box.write(name)
            box.zeros(1)
        }
    }

    private static func dataInformation(_ minf: inout BoxWriter) {
        minf.box("dinf") { dinf in
            dinf.fullBox("dref") { dref in
                dref.write(UInt32(1))
                // The media is in the same file.
                dref.fullBox("url ", flags: 1) { _ in }
            }
        }
    }

    private static func sampleTable(_ minf: inout BoxWriter, _ entry: (inout BoxWriter) -> Void) {
        minf.box("stbl") { stbl in
            stbl.fullBox("stsd") { stsd in
                stsd.write(UInt32(1))
                entry(&stsd)
            }
            stbl.fullBox("stts") { $0.zeros(4) }
            stbl.fullBox("stsc") { $0.zeros(4) }
            stbl.fullBox("stsz") { $0.zeros(8) }
            stbl.fullBox("stco") { $0.zeros(4) }
        }
    }

    private static func extends(_ mvex: inout BoxWriter, _ track: UInt32) {
        mvex.fullBox("trex") { box in
            box.write(track)
            box.write(UInt32(1))
            box.zeros(12)
        }
    }

    private static func matrix(_ box: inout BoxWriter) {
        for value: UInt32 in [0x0001_0000, 0, 0, 0, 0x0001_0000, 0, 0, 0, 0x4000_0000] { box.write(value) }
    }
}

/// The tracks of a program and their decoder configurations, from which an initialization segment is made.
struct ProgramFormat: Equatable {
    static let videoTrack: UInt32 = 1
    static let audioTrack: UInt32 = 2
    /// Ticks per second of the video track; a millisecond has 90 ticks.
    static let videoTimescale: UInt32 = 90_000
    static let videoTicksPerMillisecond: Int64 = 90

    var video: AVCConfiguration?
    var audio: AACConfiguration?

    /// Ticks per second of the audio track, which is the sample rate.
    var audioTimescale: UInt32 { UInt32(audio?.sampleRate ?? 48_000) }

    var codecs: String {
        [video?.codecString, audio?.codecString].compactMap(\.self).joined(separator: ",")
    }
}

/// Writes the sample entries of a track (ISO/IEC 14496-12 8.5.2, 14496-14, 14496-15).
enum SampleEntry {
    static func write(_ video: AVCConfiguration, to stsd: inout BoxWriter) {
        stsd.box("avc1") { box in
            box.zeros(6)
            box.write(UInt16(1))
            box.zeros(16)
            box.write(UInt16(truncatingIfNeeded: video.sps.width))
            box.write(UInt16(truncatingIfNeeded: video.sps.height))
            // 72 dots per inch, one frame per sample, no compressor name, 24 bits of colour.
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
            // 16.16 fixed point cannot represent 88.2 kHz and above; decoders use the configuration in `esds`.
            box.write(audio.sampleRate <= 0xFFFF ? UInt32(audio.sampleRate) << 16 : 0)
            box.fullBox("esds") { elementaryStream(&$0, audio.bytes) }
        }
    }

    /// Writes an ES_Descriptor (ISO/IEC 14496-1 7.2.6.5): nested descriptors of tag, length and body.
    private static func elementaryStream(_ box: inout BoxWriter, _ configuration: ByteBuffer) {
        let specific = configuration.readableBytes
        let decoder = 13 + descriptorHeader + specific
        descriptor(&box, tag: 3, length: 3 + descriptorHeader + decoder + descriptorHeader + 1)
        box.write(UInt16(0))
        box.write(UInt8(0))
        descriptor(&box, tag: 4, length: decoder)
        // MPEG-4 audio; audio stream, not upstream; buffer size and bit rates unspecified.
        box.write(UInt8(0x40))
        box.write(UInt8(0x15))
        box.zeros(3 + 4 + 4)
        descriptor(&box, tag: 5, length: specific)
        box.write(configuration)
        descriptor(&box, tag: 6, length: 1)
        box.write(UInt8(2))
    }

    private static let descriptorHeader = 5

    /// Writes a descriptor's tag and its length in four bytes of seven bits, the form all readers support.
    private static func descriptor(_ box: inout BoxWriter, tag: UInt8, length: Int) {
        box.write(tag)
        for shift in [21, 14, 7] { box.write(UInt8((length >> shift) & 0x7F | 0x80)) }
        box.write(UInt8(length & 0x7F))
    }
}
