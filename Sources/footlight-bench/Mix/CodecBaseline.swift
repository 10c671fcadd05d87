import Codecs
import Media
import Stage
import TestSupport

/// Measures decoding one host and encoding a program with nothing in between: the encoder uses the decoder's frames.
///
/// As for a mix, reading the host's packets and opening the codecs is included.
struct CodecBaseline {
    let clip: Clip
    let program: ProgramConfiguration
    /// Frames queued before the encoder, as in a host's jitter buffer: meanwhile they are evicted from the processor's
    /// caches, and have to be read from memory again.
    var queuedFrames = 0

    /// Runs once; returns processor seconds per second of program.
    func run() throws -> Double {
        let before = ProcessorTime.own
        let packets = try clip.packets
        guard let videoConfiguration = packets.first(where: { $0.content == .videoConfiguration(.h264) }),
            let audioConfiguration = packets.first(where: { $0.content == .audioConfiguration(.aac) })
        else { throw ToolFailure("the clip is incomplete") }
        var video = try VideoDecoder(configuration: videoConfiguration)
        var audio = try AudioDecoder(codec: .aac, configuration: audioConfiguration)
        var videoEncoder = try VideoEncoder(
            VideoEncoderConfiguration(
                width: program.width,
                height: program.height,
                bitrate: program.videoBitrate * 1000
            )
        )
        var audioEncoder = try AudioEncoder()
        let canvas = try Canvas(width: program.width, height: program.height)
        var (index, sample): (Int64, Int64) = (0, 0)
        var queue: [VideoFrame] = []
        func encode(downTo count: Int) throws {
            while queue.count > count {
                guard canvas.show(queue.removeFirst()) else { throw ToolFailure("the clip has another size") }
                try videoEncoder.encode(canvas, index: index, timestamp: index * 1000 / 30, forceKey: false) { _ in }
                index += 1
            }
        }
        for packet in packets {
            switch packet.content {
            case .video:
                try video.decode(packet) { queue.append($0) }
                try encode(downTo: queuedFrames)
            case .audio(.aac):
                var blocks: [AudioBlock] = []
                try audio.decode(packet) { blocks.append($0) }
                for block in blocks {
                    try block.withChannels { left, right in
                        guard let leftStart = left.baseAddress, let rightStart = right.baseAddress else { return }
                        let count = left.count
                        try audioEncoder.encode(left: leftStart, right: rightStart, count: count, firstSample: sample) {
                            _ in
                        }
                        sample += Int64(count)
                    }
                }
            default: break
            }
        }
        try encode(downTo: 0)
        return (ProcessorTime.own - before) / Double(clip.seconds)
    }
}

/// Measures encoding a program's audio alone, with nothing else in the processor's caches.
enum AudioEncodingCost {
    /// Returns processor seconds per second of audio.
    static func secondsPerSecond(of clip: Clip) throws -> Double {
        let packets = try clip.packets
        guard let configuration = packets.first(where: { $0.content == .audioConfiguration(.aac) }) else {
            throw ToolFailure("the clip has no audio")
        }
        var decoder = try AudioDecoder(codec: .aac, configuration: configuration)
        var blocks: [AudioBlock] = []
        for packet in packets where packet.content == .audio(.aac) {
            try decoder.decode(packet) { blocks.append($0) }
        }
        var encoder = try AudioEncoder()
        let before = ProcessorTime.own
        var first: Int64 = 0
        for block in blocks {
            try block.withChannels { left, right in
                guard let leftStart = left.baseAddress, let rightStart = right.baseAddress else { return }
                try encoder.encode(left: leftStart, right: rightStart, count: left.count, firstSample: first) { _ in }
                first += Int64(left.count)
            }
        }
        return (ProcessorTime.own - before) * 48_000 / Double(max(first, 1))
    }
}
