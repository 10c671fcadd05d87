import NIOCore

/// The numbers and blocks of a recording of arrivals.
extension ByteBuffer {
    mutating func writeCount(_ value: UInt64) {
        var value = value
        while value >= 0x80 {
            writeInteger(UInt8(truncatingIfNeeded: value) | 0x80)
            value >>= 7
        }
        writeInteger(UInt8(value))
    }

    mutating func writeSigned(_ value: Int64) {
        writeCount(UInt64(bitPattern: (value << 1) ^ (value >> 63)))
    }

    mutating func writeBlock(_ bytes: some Collection<UInt8>) {
        writeCount(UInt64(bytes.count))
        writeBytes(bytes)
    }

    mutating func readCount() -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            guard let byte = readInteger(as: UInt8.self) else { return nil }
            value |= UInt64(byte & 0x7F) << shift
            if byte & 0x80 == 0 { return value }
        }
        return nil
    }

    mutating func readSigned() -> Int64? {
        readCount().map { Int64(bitPattern: $0 >> 1) ^ -Int64(bitPattern: $0 & 1) }
    }

    mutating func readBlock() -> ByteBuffer? {
        guard let count = readCount(), count <= UInt64(readableBytes) else { return nil }
        return readSlice(length: Int(count))
    }
}
