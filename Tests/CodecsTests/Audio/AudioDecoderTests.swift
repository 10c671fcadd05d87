import Codecs
import Media
import TestSupport
import Testing

@Suite("Decoding hosts' audio", .enabled(if: TestRun.isFull))
struct AudioDecoderTests {
    private struct DecodedAudioResult {
        var left: [Float] = []
        var right: [Float] = []
        var blocks: [(timestamp: Double, frameCount: Int, isContinuous: Bool)] = []
    }

    private func decode(_ sound: FlashVideo, codec: AudioCodec = .aac) throws -> DecodedAudioResult {
        var decoder = try AudioDecoder(codec: codec, configuration: sound.audioConfiguration)
        var received = DecodedAudioResult()
        for packet in sound.audioPackets {
            try decoder.decode(packet) { block in
                received.blocks.append((block.timestamp, block.frameCount, block.isContinuous))
                block.withChannels { left, right in
                    received.left += left
                    received.right += right
                }
            }
        }
        return received
    }

    @Test(
        "a mono tone of any rate arrives at 48 kHz on both sides, at its pitch, level and length",
        arguments: [("aac", 44_100), ("aac", 22_050), ("aac", 48_000), ("libmp3lame", 44_100), ("libmp3lame", 22_050)]
    )
    func monoTone(encoder: String, rate: Int) throws {
        let audio = try FlashVideo(
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
        let received = try decode(audio, codec: encoder == "aac" ? .aac : .mp3)
        #expect(abs(received.left.count - 3 * 48_000) < 48_000 / 8)
        #expect(received.left == received.right)
        let middle = received.left[24_000..<72_000]
        // The generator's tone has an amplitude of an eighth.
        #expect(abs(Tone.amplitude(of: 1000, in: middle) - 0.5) < 0.03)
        #expect(Tone.amplitude(of: 1090, in: middle) < 0.01)
        #expect(Tone.amplitude(of: 500, in: middle) < 0.01)
        #expect(received.blocks.dropFirst().allSatisfy { $0.isContinuous })
    }

    @Test("block times follow the samples without a gap and stay with the packets")
    func times() throws {
        let audio = try FlashVideo(
            "-f",
            "lavfi",
            "-i",
            "sine=frequency=440:sample_rate=44100:duration=20",
            "-c:a",
            "aac",
            "-b:a",
            "96k"
        )
        let received = try decode(audio)
        for (block, next) in zip(received.blocks, received.blocks.dropFirst()) {
            let end = block.timestamp + Double(block.frameCount) / 48
            #expect(abs(next.timestamp - end) < 0.05)
        }
        let last = try #require(received.blocks.last)
        let lastPacket = try #require(audio.audioPackets.last)
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
        var received = try decode(stereo)
        #expect(abs(Tone.amplitude(of: 440, in: received.left[24_000..<72_000]) - 0.125) < 0.01)
        #expect(Tone.amplitude(of: 880, in: received.left[24_000..<72_000]) < 0.003)
        #expect(abs(Tone.amplitude(of: 880, in: received.right[24_000..<72_000]) - 0.125) < 0.01)
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
        received = try decode(surround)
        for side in [received.left, received.right] {
            #expect(abs(Tone.amplitude(of: 440, in: side[24_000..<72_000]) - 0.125 * 0.7071) < 0.01)
        }
    }

    @Test("a lost packet is a gap in time, and what follows is marked as not continuous")
    func lostPacket() throws {
        let audio = try FlashVideo("-f", "lavfi", "-i", "sine=440:d=2:r=48000", "-c:a", "aac", "-b:a", "96k")
        var decoder = try AudioDecoder(codec: .aac, configuration: audio.audioConfiguration)
        var breaks: [Double] = []
        for (index, packet) in audio.audioPackets.enumerated() where index != 40 {
            try decoder.decode(packet) { if !$0.isContinuous { breaks.append($0.timestamp) } }
        }
        #expect(breaks.count == 2)
        let last = try #require(breaks.last)
        #expect(abs(last - Double(audio.audioPackets[41].timestamp)) < 0.01)
    }
}
