import Media
import NIOCore
import Testing

@Suite("Bits are read in order")
struct BitReaderTests {
    @Test("fields across byte borders")
    func fields() throws {
        let bytes = ByteBuffer(bytes: [0b1010_0110, 0xFF, 0x00, 0x12, 0x34])
        var reader = BitReader(bytes, skipsEmulationPrevention: false)
        #expect(try reader.bits(1) == 1)
        #expect(try reader.bits(3) == 0b010)
        #expect(try reader.bits(12) == 0x6FF)
        #expect(reader.bitsLeft == 24)
        #expect(try reader.bits(24) == 0x1234)
        #expect(throws: BitstreamError.truncated) { try reader.bits(1) }
        #expect(throws: BitstreamError.invalid(field: "bit count")) { try reader.bits(33) }
    }

    @Test("32 bits at an odd place")
    func wide() throws {
        var reader = BitReader(ByteBuffer(bytes: [0x7F, 0xFF, 0xFF, 0xFF, 0x80]), skipsEmulationPrevention: false)
        #expect(try reader.flag() == false)
        #expect(try reader.bits(32) == .max)
    }

    @Test("Exp-Golomb codes, unsigned and signed")
    func golomb() throws {
        // 1, 010, 011, 00100, 00101: 0, 1, 2, 3, 4.
        let bytes = ByteBuffer(bytes: [0b1010_0110, 0b0100_0010, 0b1000_0000])
        var unsigned = BitReader(bytes, skipsEmulationPrevention: false)
        #expect(try (0..<5).map { _ in try unsigned.unsignedGolomb() } == [0, 1, 2, 3, 4])
        var signed = BitReader(bytes, skipsEmulationPrevention: false)
        #expect(try (0..<5).map { _ in try signed.signedGolomb() } == [0, 1, -1, 2, -2])
        var zeros = BitReader(ByteBuffer(bytes: [0, 0, 0, 0, 0, 0]), skipsEmulationPrevention: false)
        #expect(throws: BitstreamError.invalid(field: "Exp-Golomb code")) { try zeros.unsignedGolomb() }
        var longest = BitReader(
            ByteBuffer(bytes: [0, 0, 0, 1, 0xFF, 0xFF, 0xFF, 0xFE]),
            skipsEmulationPrevention: false
        )
        #expect(try longest.unsignedGolomb() == .max - 1)
    }

    @Test("emulation prevention bytes are stepped over, other threes are not")
    func emulationPrevention() throws {
        let bytes = ByteBuffer(bytes: [0, 0, 3, 1, 3, 0, 0, 3, 0, 0, 3, 3, 0, 0, 3])
        var reader = BitReader(bytes, skipsEmulationPrevention: true)
        var read: [UInt32] = []
        while let byte = try? reader.bits(8) { read.append(byte) }
        #expect(read == [0, 0, 1, 3, 0, 0, 0, 0, 3, 0, 0])
    }
}
