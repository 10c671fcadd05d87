import NIOCore

/// The simple RTMP handshake (RTMP 1.0, 5.2): a version byte, then two blocks of 1536 bytes each way.
enum Handshake {
    static let version: UInt8 = 3
    static let blockLength = 1536

    /// Appends a time stamp of our own, four zero bytes, and noise.
    static func writeBlock(to buffer: inout ByteBuffer, random: inout some RandomNumberGenerator) {
        buffer.writeRepeatingByte(0, count: 8)
        for _ in 0..<(blockLength - 8) / 8 {
            buffer.writeInteger(random.next())
        }
    }
}
