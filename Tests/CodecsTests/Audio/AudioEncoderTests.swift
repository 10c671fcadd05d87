import Codecs
import Media
import NIOCore
import TestSupport
import Testing

@Suite("Coding the program's audio", .enabled(if: TestRun.isFull))
struct AudioEncoderTests {
    /// Codes samples `range`, made by `sample`, in parts of `part`.
    private func encode(
        _ encoder: inout AudioEncoder,
        _ range: Range<Int>,
        part: Int,
        sample: (Int) -> Float
    ) throws -> [MediaPacket] {
        var packets: [MediaPacket] = []
        var first = range.lowerBound
        while first < range.upperBound {
            let count = min(part, range.upperBound - first)
            let samples = (first..<first + count).map(sample)
            try samples.withUnsafeBufferPointer { buffer in
                let start = try #require(buffer.baseAddress)
                try encoder.encode(left: start, right: start, count: count, firstSample: Int64(first)) {
                    packets.append($0)
                }
            }
            first += count
        }
        return packets
    }

    @Test("the configuration says AAC-LC, 48 kHz, stereo")
    func configuration() throws {
        let configuration = try AACConfiguration(AudioEncoder().configuration)
        #expect(configuration.objectType == 2)
        #expect(configuration.sampleRate == 48_000)
        #expect(configuration.channelCount == 2)
        #expect(configuration.samplesPerFrame == 1024)
    }

    @Test(
        "packet times are counted from the absolute sample number, whatever the parts",
        arguments: [960, 480, 1601, 7]
    )
    func times(part: Int) throws {
        var encoder = try AudioEncoder()
        let start = 48_000 * 3600
        let packets = try encode(&encoder, start..<start + 96_000, part: part) { Tone.sample($0, frequency: 440) }
        #expect(encoder.priming == 1024)
        #expect(packets.count >= 92)
        for (index, packet) in packets.enumerated() {
            #expect(packet.timestamp == Int64(start + index * 1024 - 1024) * 1000 / 48_000)
            #expect(packet.content == .audio(.aac))
        }
    }

    @Test("a beep is heard at the very sample it was put in")
    func alignment() throws {
        var encoder = try AudioEncoder()
        let beep = 60_000..<62_400
        let packets = try encode(&encoder, 0..<96_000, part: 960) {
            beep.contains($0) ? Tone.sample($0, frequency: 2000) : 0
        }
        let configuration = MediaPacket.aacConfiguration(encoder.configuration, timestamp: 0)
        var decoder = try AudioDecoder(codec: .aac, configuration: configuration)
        var onset: Double?
        for packet in packets {
            try decoder.decode(packet) { block in
                block.withChannels { left, _ in
                    if onset == nil, let index = left.firstIndex(where: { abs($0) > 0.25 }) {
                        onset = block.timestamp + Double(index) / 48
                    }
                }
            }
        }
        let received = try #require(onset)
        #expect(abs(received - 1250) < 1.5, "\(received)")
    }

    @Test("a jump forward fills the frame begun and goes on at the new number; a step back is refused")
    func jumps() throws {
        var encoder = try AudioEncoder()
        var packets = try encode(&encoder, 0..<10_000, part: 960) { Tone.sample($0, frequency: 440) }
        packets += try encode(&encoder, 58_000..<100_000, part: 960) { Tone.sample($0, frequency: 440) }
        let times = packets.map(\.timestamp)
        #expect(times == times.sorted())
        #expect(Set(times).count == times.count)
        #expect(abs((times.last ?? 0) - 100_000 / 48) < 70)
        #expect(!times.contains { (240..<1150).contains($0) })
        let error = #expect(throws: CodecError.self) {
            _ = try encode(&encoder, 500..<1000, part: 960) { _ in 0 }
        }
        #expect(error?.code == .outOfOrder)
    }

    @Test("the bit rate is near the one asked for")
    func rate() throws {
        for bitrate in [64_000, 128_000] {
            var encoder = try AudioEncoder(AudioEncoderConfiguration(bitrate: bitrate))
            var random = SeededGenerator(seed: 3)
            let packets = try encode(&encoder, 0..<480_000, part: 960) { index in
                Tone.sample(index, frequency: 440) * 0.3 + Float.random(in: -0.2...0.2, using: &random)
            }
            let bits = Double(packets.map { $0.payload.readableBytes * 8 }.reduce(0, +)) / 10
            #expect(abs(bits / Double(bitrate) - 1) < 0.15, "\(bits)")
        }
    }
}
