import Media
import NIOCore
import TestSupport
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

@Suite("SeededGenerator is refused or read, and never crashes or loops")
struct BitstreamNoiseTests {
    private func readEverything(_ bytes: [UInt8]) {
        let buffer = ByteBuffer(bytes: bytes)
        if let set = try? SequenceParameterSet(buffer) {
            #expect((1...16_384).contains(set.width) && (1...16_384).contains(set.height))
            #expect(set.frameRate.map { $0 > 0 && $0 <= 1000 } ?? true)
        }
        _ = try? AVCConfiguration(buffer)
        if let audio = try? AACConfiguration(buffer) { #expect(audio.sampleRate > 0 && audio.channelCount > 0) }
        for size in 0...5 {
            let units = Array(NALUnits(in: buffer, lengthSize: size))
            #expect(units.allSatisfy { $0.bytes.readableBytes > 0 })
        }
        let converted = NALUnits.lengthPrefixed(fromAnnexB: buffer)
        #expect(converted.readableBytes == 0 || NALUnits.areWellFormed(in: converted))
        _ = NALUnits.isAnnexB(buffer)
    }

    @Test("random bytes")
    func random() {
        var noise = SeededGenerator(seed: 1)
        for _ in 0..<4000 {
            let count = Int.random(in: 0...80, using: &noise)
            var bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &noise) }
            if !bytes.isEmpty, Bool.random(using: &noise) { bytes[0] = 0x67 }
            readEverything(bytes)
        }
    }

    @Test("a real record with flipped bits and cut ends")
    func mutated() {
        var noise = SeededGenerator(seed: 2)
        for round in 0..<4000 {
            var bytes = round % 2 == 0 ? AVCConfigurationTests.record : Array(AVCConfigurationTests.record[8..<36])
            for _ in 0..<Int.random(in: 1...6, using: &noise) {
                bytes[Int.random(in: bytes.indices, using: &noise)] ^= 1 << UInt8.random(in: 0...7, using: &noise)
            }
            readEverything(Array(bytes.prefix(Int.random(in: 1...bytes.count, using: &noise))))
        }
    }
}
