import Codecs
import FootlightTesting
import Media
import Stage

/// What decoding one host and encoding a program costs, with nothing in between: the coder takes the decoder's pictures.
///
/// As for a mix, reading the host's packets and opening the codecs is counted.
struct CodecFloor {
    let clip: Clip
    let program: ProgramConfiguration
    /// Pictures that wait to be coded, as those of a host do that is held back: meanwhile they leave the processor's
    /// caches, and are read from memory again.
    var waitingPictures = 0

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
        var waiting: [Picture] = []
        func code(downTo count: Int) throws {
            while waiting.count > count {
                guard canvas.show(waiting.removeFirst()) else { throw ToolFailure("the clip is no full picture") }
                try coder.encode(canvas, index: index, timestamp: index * 1000 / 30, forceKey: false) { _ in }
                index += 1
            }
        }
        for packet in packets {
            switch packet.content {
            case .picture:
                try video.decode(packet) { waiting.append($0) }
                try code(downTo: waitingPictures)
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
        try code(downTo: 0)
        return (ProcessorTime.own - before) / Double(clip.seconds)
    }
}
