import Codecs
import FootlightTesting
import Media
import Stage

/// What decoding one host and encoding a program costs, with nothing in between.
///
/// The pictures still have to be brought from one to the other; the time for that is not counted. As for a mix, reading
/// the host's packets and opening the codecs is.
struct CodecFloor {
    let clip: Clip
    let program: ProgramConfiguration

    /// Processor seconds per second of program.
    func run() throws -> Double {
        let before = ProcessorTime.own
        let packets = try clip.packets
        guard let pictures = packets.first(where: { $0.content == .videoConfiguration(.h264) }),
            let sound = packets.first(where: { $0.content == .audioConfiguration(.aac) })
        else { throw ToolFailure("the clip is not whole") }
        var video = try VideoDecoder(configuration: pictures)
        var audio = try AudioDecoder(codec: .aac, configuration: sound)
        var coder = try VideoEncoder(
            VideoEncoderConfiguration(
                width: program.width,
                height: program.height,
                bitrate: program.videoBitrate * 1000
            )
        )
        var soundCoder = try AudioEncoder()
        let canvas = try Canvas(width: program.width, height: program.height)
        var (index, sample): (Int64, Int64) = (0, 0)
        var between = 0.0
        for packet in packets {
            switch packet.content {
            case .picture:
                var decoded: [Picture] = []
                try video.decode(packet) { decoded.append($0) }
                for picture in decoded {
                    let start = ProcessorTime.own
                    try canvas.draw(picture, in: canvas.bounds)
                    between += ProcessorTime.own - start
                    try coder.encode(canvas, index: index, timestamp: index * 1000 / 30, forceKey: false) { _ in }
                    index += 1
                }
            case .sound(.aac):
                var blocks: [AudioBlock] = []
                try audio.decode(packet) { blocks.append($0) }
                for block in blocks {
                    try block.withChannels { left, right in
                        guard let leftStart = left.baseAddress, let rightStart = right.baseAddress else { return }
                        let count = left.count
                        try soundCoder.encode(left: leftStart, right: rightStart, count: count, firstSample: sample) {
                            _ in
                        }
                        sample += Int64(count)
                    }
                }
            default: break
            }
        }
        return (ProcessorTime.own - before - between) / Double(clip.seconds)
    }
}
