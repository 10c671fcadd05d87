/// H.264 pictures of one colour, made without an encoder (ITU-T H.264, baseline profile, CAVLC).
///
/// A key picture carries its samples as they are (I_PCM); every other repeats the one before it (all blocks skipped) and
/// takes a few bytes.
struct PatternPictures {
    /// In blocks of 16 pixels.
    let columns: Int
    let rows: Int
    /// Y, Cb and Cr, 16 to 240.
    let colour: (luma: UInt8, blue: UInt8, red: UInt8)

    /// Pictures others refer to since the last key picture, modulo 16.
    private var frame: UInt32 = 0
    private var keyPictures: UInt32 = 0

    init(columns: Int, rows: Int, colour: (luma: UInt8, blue: UInt8, red: UInt8)) {
        self.columns = columns
        self.rows = rows
        self.colour = colour
    }

    private var sequence: [UInt8] {
        var bits = BitWriter()
        // Profile 66 with the constraints of both baselines, level 3.0.
        for byte: UInt32 in [66, 0xC0, 30] { bits.write(byte, bits: 8) }
        bits.writeGolomb(0)
        // Frame numbers of 4 bits; pictures are shown in the order of decoding (type 2); one is referred to.
        bits.writeGolomb(0)
        bits.writeGolomb(2)
        bits.writeGolomb(1)
        bits.write(0, bits: 1)
        bits.writeGolomb(UInt32(columns - 1))
        bits.writeGolomb(UInt32(rows - 1))
        // Frames only, direct prediction by 8x8, no cropping, no further description.
        bits.write(0b1100, bits: 4)
        bits.end()
        return bits.unit(header: 0x67)
    }

    private var parameters: [UInt8] {
        var bits = BitWriter()
        bits.writeGolomb(0)
        bits.writeGolomb(0)
        bits.write(0b00, bits: 2)
        for _ in 0..<3 { bits.writeGolomb(0) }
        bits.write(0b000, bits: 3)
        for _ in 0..<3 { bits.writeGolomb(0) }
        // The slices say how they are filtered.
        bits.write(0b100, bits: 3)
        bits.end()
        return bits.unit(header: 0x68)
    }

    /// The AVCDecoderConfigurationRecord.
    var configuration: [UInt8] {
        let (sequence, parameters) = (sequence, parameters)
        return [1, sequence[1], sequence[2], sequence[3], 0xFF, 0xE1] + Self.length16(sequence) + sequence
            + [1] + Self.length16(parameters) + parameters
    }

    /// A key picture.
    mutating func key() -> [UInt8] {
        frame = 0
        keyPictures += 1
        var bits = BitWriter()
        for value: UInt32 in [0, 7, 0] { bits.writeGolomb(value) }
        bits.write(0, bits: 4)
        // Neighbouring key pictures have different numbers.
        bits.writeGolomb(keyPictures % 2)
        bits.write(0b00, bits: 2)
        bits.writeGolomb(0)
        bits.writeGolomb(1)
        for _ in 0..<columns * rows {
            bits.writeGolomb(25)
            bits.align()
            bits.append(repeatElement(colour.luma, count: 256))
            bits.append(repeatElement(colour.blue, count: 64))
            bits.append(repeatElement(colour.red, count: 64))
        }
        bits.end()
        return Self.prefixed(bits.unit(header: 0x65))
    }

    /// A picture like the one before it.
    mutating func same(isDisposable: Bool) -> [UInt8] {
        var bits = BitWriter()
        for value: UInt32 in [0, 5, 0] { bits.writeGolomb(value) }
        bits.write((frame + 1) % 16, bits: 4)
        // Neither another number of references nor another order of them, and no command on what is kept.
        bits.write(0b00, bits: 2)
        if !isDisposable { bits.write(0, bits: 1) }
        bits.writeGolomb(0)
        bits.writeGolomb(1)
        bits.writeGolomb(UInt32(columns * rows))
        bits.end()
        if !isDisposable { frame += 1 }
        return Self.prefixed(bits.unit(header: isDisposable ? 0x01 : 0x41))
    }

    private static func length16(_ unit: [UInt8]) -> [UInt8] {
        [UInt8(truncatingIfNeeded: unit.count >> 8), UInt8(truncatingIfNeeded: unit.count)]
    }

    private static func prefixed(_ unit: [UInt8]) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: unit.count >> $0) } + unit
    }
}
