import NIOCore

/// The simple RTMP handshake (RTMP 1.0, 5.2): a version byte, then two blocks of 1536 bytes each way.
enum Handshake {
    static let version: UInt8 = 3
    static let blockLength = 1536

    /// Appends a time stamp of our own, four zero bytes, and noise.
    static func writeBlock(to buffer: inout ByteBuffer) {
        buffer.writeRepeatingByte(0, count: 8)
        // It has to differ, not to be secret; a draw for each eight bytes of it would be two hundred calls to the system.
        var state = UInt64.random(in: .min ... .max)
        for _ in 0..<(blockLength - 8) / 8 {
            buffer.writeInteger(nextNoise(&state))
        }
    }

    /// SplitMix64.
    private static func nextNoise(_ state: inout UInt64) -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var noise = state
        noise = (noise ^ (noise >> 30)) &* 0xBF58_476D_1CE4_E5B9
        noise = (noise ^ (noise >> 27)) &* 0x94D0_49BB_1331_11EB
        return noise ^ (noise >> 31)
    }
}
