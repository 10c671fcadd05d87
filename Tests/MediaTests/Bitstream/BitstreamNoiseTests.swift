import Media
import NIOCore
import Testing

@Suite("Noise is refused or read, and never crashes or loops")
struct BitstreamNoiseTests {
    /// The same noise in every run (SplitMix64).
    private struct Noise: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var value = state
            value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
            value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
            return value ^ (value >> 31)
        }
    }

    private func readEverything(_ bytes: [UInt8]) {
        let buffer = ByteBuffer(bytes: bytes)
        if let set = try? SequenceParameterSet(buffer) {
            #expect((1...16_384).contains(set.width) && (1...16_384).contains(set.height))
            #expect(set.frameRate.map { $0 > 0 && $0 <= 1000 } ?? true)
        }
        _ = try? AVCConfiguration(buffer)
        if let sound = try? AACConfiguration(buffer) { #expect(sound.sampleRate > 0 && sound.channelCount > 0) }
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
        var noise = Noise(state: 1)
        for _ in 0..<4000 {
            let count = Int.random(in: 0...80, using: &noise)
            var bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &noise) }
            if !bytes.isEmpty, Bool.random(using: &noise) { bytes[0] = 0x67 }
            readEverything(bytes)
        }
    }

    @Test("a real record with flipped bits and cut ends")
    func mutated() {
        var noise = Noise(state: 2)
        for round in 0..<4000 {
            var bytes = round % 2 == 0 ? AVCConfigurationTests.record : Array(AVCConfigurationTests.record[8..<36])
            for _ in 0..<Int.random(in: 1...6, using: &noise) {
                bytes[Int.random(in: bytes.indices, using: &noise)] ^= 1 << UInt8.random(in: 0...7, using: &noise)
            }
            readEverything(Array(bytes.prefix(Int.random(in: 1...bytes.count, using: &noise))))
        }
    }
}
