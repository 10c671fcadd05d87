import Media
import NIOCore
import TestSupport

extension SeededGenerator {
    /// Two thirds of the packets with flipped bits, or cut short, or both; the FLV header stays.
    mutating func damage(_ packet: MediaPacket) -> MediaPacket {
        guard Int.random(in: 0..<3, using: &self) > 0 else { return packet }
        var packet = packet
        let first = packet.body.readerIndex + packet.headerLength
        if Bool.random(using: &self), packet.body.writerIndex - first > 2 {
            packet.body.moveWriterIndex(to: Int.random(in: first + 1..<packet.body.writerIndex, using: &self))
        }
        for _ in 0..<Int.random(in: 1...12, using: &self) where packet.body.writerIndex > first {
            let index = Int.random(in: first..<packet.body.writerIndex, using: &self)
            let old = packet.body.getInteger(at: index, as: UInt8.self) ?? 0
            packet.body.setInteger(old ^ 1 << UInt8.random(in: 0..<8, using: &self), at: index)
        }
        return packet
    }
}
