import Codecs
import Media
import Testing

@Suite("Decoding hosts' sound")
struct AudioDecoderTests {
    private struct Heard {
        var left: [Float] = []
        var right: [Float] = []
        var blocks: [(timestamp: Double, frameCount: Int, isContinuous: Bool)] = []
    }

    private func decode(_ sound: FlashVideo, codec: AudioCodec = .aac) throws -> Heard {
        var decoder = try AudioDecoder(codec: codec, configuration: sound.audioConfiguration)
        var heard = Heard()
        for packet in sound.sounds {
            try decoder.decode(packet) { block in
                heard.blocks.append((block.timestamp, block.frameCount, block.isContinuous))
                block.withChannels { left, right in
                    heard.left += left
                    heard.right += right
                }
            }
        }
        return heard
    }

    @Test(
        "a mono tone of any rate arrives at 48 kHz on both sides, at its pitch, level and length",
        arguments: [("aac", 44_100), ("aac", 22_050), ("aac", 48_000), ("libmp3lame", 44_100), ("libmp3lame", 22_050)]
    )
    func monoTone(encoder: String, rate: Int) throws {
        let sound = try FlashVideo(
            "-f",
            "lavfi",
            "-i",
            "sine=frequency=1000:sample_rate=\(rate):duration=3",
            "-af",
            "volume=4",
            "-c:a",
            encoder,
            "-b:a",
            "96k",
            "-ac",
            "1"
        )
        let heard = try decode(sound, codec: encoder == "aac" ? .aac : .mp3)
        #expect(abs(heard.left.count - 3 * 48_000) < 48_000 / 8)
        #expect(heard.left == heard.right)
        let middle = heard.left[24_000..<72_000]
        // The generator's tone has an amplitude of an eighth.
        #expect(abs(Tone.amplitude(of: 1000, in: middle) - 0.5) < 0.03)
        #expect(Tone.amplitude(of: 1090, in: middle) < 0.01)
        #expect(Tone.amplitude(of: 500, in: middle) < 0.01)
        #expect(heard.blocks.dropFirst().allSatisfy { $0.isContinuous })
    }

    @Test("block times follow the samples without a gap and stay with the packets")
    func times() throws {
        let sound = try FlashVideo(
            "-f",
            "lavfi",
            "-i",
            "sine=frequency=440:sample_rate=44100:duration=20",
            "-c:a",
            "aac",
            "-b:a",
            "96k"
        )
        let heard = try decode(sound)
        for (block, next) in zip(heard.blocks, heard.blocks.dropFirst()) {
            let end = block.timestamp + Double(block.frameCount) / 48
            #expect(abs(next.timestamp - end) < 0.05)
        }
        let last = try #require(heard.blocks.last)
        let lastPacket = try #require(sound.sounds.last)
        #expect(abs(last.timestamp - Double(lastPacket.timestamp)) < 2)
    }

    @Test("stereo keeps its sides apart, and surround is folded down with its centre on both")
    func layouts() throws {
        let stereo = try FlashVideo(
            "-f",
            "lavfi",
            "-i",
            "sine=440:d=2:r=48000",
            "-f",
            "lavfi",
            "-i",
            "sine=880:d=2:r=48000",
            "-filter_complex",
            "amerge=inputs=2",
            "-c:a",
            "aac",
            "-b:a",
            "128k"
        )
        var heard = try decode(stereo)
        #expect(abs(Tone.amplitude(of: 440, in: heard.left[24_000..<72_000]) - 0.125) < 0.01)
        #expect(Tone.amplitude(of: 880, in: heard.left[24_000..<72_000]) < 0.003)
        #expect(abs(Tone.amplitude(of: 880, in: heard.right[24_000..<72_000]) - 0.125) < 0.01)
        let surround = try FlashVideo(
            "-f",
            "lavfi",
            "-i",
            "sine=440:d=2:r=48000",
            "-filter_complex",
            "pan=5.1|FC=c0",
            "-c:a",
            "aac",
            "-b:a",
            "256k"
        )
        heard = try decode(surround)
        for side in [heard.left, heard.right] {
            #expect(abs(Tone.amplitude(of: 440, in: side[24_000..<72_000]) - 0.125 * 0.7071) < 0.01)
        }
    }

    @Test("a lost packet is a gap in time, and what follows is marked as not continuous")
    func lostPacket() throws {
        let sound = try FlashVideo("-f", "lavfi", "-i", "sine=440:d=2:r=48000", "-c:a", "aac", "-b:a", "96k")
        var decoder = try AudioDecoder(codec: .aac, configuration: sound.audioConfiguration)
        var breaks: [Double] = []
        for (index, packet) in sound.sounds.enumerated() where index != 40 {
            try decoder.decode(packet) { if !$0.isContinuous { breaks.append($0.timestamp) } }
        }
        #expect(breaks.count == 2)
        let last = try #require(breaks.last)
        #expect(abs(last - Double(sound.sounds[41].timestamp)) < 0.01)
    }
}
