/// Writes the bits of an H.264 NAL unit, the highest of each byte first (ITU-T H.264, 7.2 and 9.1).
struct BitWriter {
    private(set) var bytes: [UInt8] = []
    /// Bits of the last byte that are not yet used.
    private var free = 0

    mutating func write(_ value: UInt32, bits: Int) {
        for bit in stride(from: bits - 1, through: 0, by: -1) {
            if free == 0 {
                bytes.append(0)
                free = 8
            }
            free -= 1
            bytes[bytes.count - 1] |= UInt8(truncatingIfNeeded: value >> UInt32(bit) & 1) << UInt8(free)
        }
    }

    /// An unsigned Exp-Golomb code; signed ones are only needed for 0, which is the same.
    mutating func writeGolomb(_ value: UInt32) {
        let code = value + 1
        let length = UInt32.bitWidth - code.leadingZeroBitCount
        write(0, bits: length - 1)
        write(code, bits: length)
    }

    /// Fills the byte that has begun with zeros.
    mutating func align() {
        free = 0
    }

    /// Whole bytes, behind `align`.
    mutating func append(_ data: Repeated<UInt8>) {
        bytes.append(contentsOf: data)
    }

    /// The stop bit that ends every unit.
    mutating func end() {
        write(1, bits: 1)
        align()
    }

    /// The unit behind its header byte, with a 3 wherever the bytes could be taken for a start code.
    func unit(header: UInt8) -> [UInt8] {
        var unit = [header]
        var zeros = 0
        for byte in bytes {
            if zeros == 2, byte <= 3 {
                unit.append(3)
                zeros = 0
            }
            unit.append(byte)
            zeros = byte == 0 ? zeros + 1 : 0
        }
        return unit
    }
}
