import Media
import NIOCore

/// Numbers that look random and are the same in every run (SplitMix64).
struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64

    init(seed: Int) {
        state = UInt64(seed)
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

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
