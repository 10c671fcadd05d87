import HLS
import Media
import NIOCore
import RTMP

@testable import Ingest

extension FuzzTarget {
    /// Configurations of H.264 and AAC, parameter sets, and access units in both formats.
    static let codec = FuzzTarget("codec") { input in
        var input = input
        let kind = input.byte()
        let bytes = input.rest
        switch kind & 3 {
        case 0:
            guard let configuration = try? AVCConfiguration(bytes) else { return }
            demand(configuration.sps.width <= 16_384, "sizes are bounded")
            _ = try? AVCConfiguration(
                sequenceParameterSets: configuration.sequenceParameterSets,
                pictureParameterSets: configuration.pictureParameterSets
            )
            _ = configuration.codecString
        case 1:
            _ = try? SequenceParameterSet(bytes)
        case 2:
            guard let configuration = try? AACConfiguration(bytes) else { return }
            demand((1...93).contains(configuration.channelCount), "channels are bounded")
        default:
            let size = Int(kind >> 2 & 3) + 1
            demand(Array(NALUnits(in: bytes, lengthSize: size)).count <= bytes.readableBytes, "units are bounded")
            _ = NALUnits.isDisposable(bytes, lengthSize: size)
            _ = NALUnits.lengthPrefixed(fromAnnexB: bytes)
            var host = HostMediaValidator(limit: (1920, 1088))
            let record: [UInt8] = [
                1, 66, 0, 30, 0xFF, 0xE1, 0, 9, 0x67, 66, 0, 30, 0xDA, 0x02, 0x80, 0xB7, 0xE4, 1, 0, 4, 0x68, 0xCE,
                0x0F,
                0xC8,
            ]
            let now = MonotonicTime(nanoseconds: 0)
            _ = try? host.admit(.h264Configuration(ByteBuffer(bytes: record), timestamp: 0), now: now)
            let frame = MediaPacket.h264Frame(
                isKey: true,
                isDisposable: false,
                timestamp: 0,
                compositionOffset: 0,
                capacity: bytes.readableBytes
            ) { $0.writeImmutableBuffer(bytes) }
            _ = try? host.admit(frame, now: now)
        }
    }
}

extension FuzzTarget {
    /// FLV tags, legacy and enhanced, through validation and segmentation.
    static let flv = FuzzTarget("flv") { input in
        var reader = FLVReader()
        reader.append(FLVTagWriter.header(hasAudio: true, hasVideo: true))
        reader.append(input.rest)
        var host = HostMediaValidator(limit: (1920, 1088))
        var timeline = PublishTimeline(origin: MonotonicTime(nanoseconds: 0))
        var segmenter = Segmenter()
        var now = MonotonicTime(nanoseconds: 0)
        while let packet = try? reader.next() {
            now = now.advanced(milliseconds: 20)
            _ = StreamMetadata(packet)
            _ = segmenter.append(packet)
            guard var admitted = try? host.admit(packet, now: now) else { continue }
            admitted.timestamp = timeline.rebase(admitted, arrival: now)
            _ = segmenter.append(admitted)
        }
        _ = segmenter.finish()
    }
}
