import Media
import NIOCore

/// Builds H.264 decoder configurations that available encoders do not produce.
struct AVCRecord {
    var width = 640
    var height = 352
    var profile: UInt8 = 66
    var level: UInt8 = 30
    var chromaFormat: UInt32 = 1
    var bitDepth: UInt32 = 8
    /// Cropped columns and rows, in units of two.
    var cropped: (right: UInt32, bottom: UInt32)?
    /// Further sequence parameter sets.
    var others: [[UInt8]] = []

    /// The record as a sequence header packet.
    var packet: MediaPacket { .h264Configuration(ByteBuffer(bytes: bytes), timestamp: 0) }

    var bytes: [UInt8] {
        let sets = ([parameterSet] + others).flatMap { [UInt8($0.count >> 8), UInt8($0.count & 0xFF)] + $0 }
        let pps: [UInt8] = [0x68, 0xCE, 0x0F, 0xC8]
        return [1, profile, 0, level, 0xFF, 0xE1 + UInt8(others.count)] + sets + [1, 0, 4] + pps
    }

    /// The sequence parameter set (H.264 7.3.2.1.1).
    var parameterSet: [UInt8] {
        var bits = Bits()
        bits.golomb(0)
        if profile >= 100 {
            bits.golomb(chromaFormat)
            if chromaFormat == 3 { bits.write([false]) }
            bits.golomb(bitDepth - 8)
            bits.golomb(bitDepth - 8)
            bits.write([false, false])
        }
        bits.golomb(0)
        bits.golomb(2)
        bits.golomb(1)
        bits.write([false])
        bits.golomb(UInt32(width / 16 - 1))
        bits.golomb(UInt32(height / 16 - 1))
        bits.write([true, true, cropped != nil])
        if let cropped { for side in [0, cropped.right, 0, cropped.bottom] { bits.golomb(side) } }
        bits.write([false, true])
        return [0x67, profile, 0, level] + bits.bytes
    }

    private struct Bits {
        private var bits: [Bool] = []

        mutating func write(_ more: [Bool]) { bits += more }

        mutating func golomb(_ value: UInt32) {
            let code = value + 1
            let length = UInt32.bitWidth - code.leadingZeroBitCount
            bits += Array(repeating: false, count: length - 1)
            for bit in (0..<length).reversed() { bits.append(code >> bit & 1 == 1) }
        }

        var bytes: [UInt8] {
            stride(from: 0, to: bits.count, by: 8).map { start in
                (0..<8).reduce(0) { byte, bit in
                    start + bit < bits.count && bits[start + bit] ? byte | 0x80 >> UInt8(bit) : byte
                }
            }
        }
    }
}
