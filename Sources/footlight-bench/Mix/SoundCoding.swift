import Codecs
import FootlightTesting
import Media

/// The cost of coding a program's sound by itself, with nothing else in the processor's caches.
enum SoundCoding {
    /// Processor seconds per second of sound.
    static func secondsPerSecond(of clip: Clip) throws -> Double {
        let packets = try clip.packets
        guard let configuration = packets.first(where: { $0.content == .audioConfiguration(.aac) }) else {
            throw ToolFailure("the clip has no sound")
        }
        var decoder = try AudioDecoder(codec: .aac, configuration: configuration)
        var blocks: [AudioBlock] = []
        for packet in packets where packet.content == .sound(.aac) {
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
