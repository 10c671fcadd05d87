import Codecs
import Media
import Stage
import Synchronization
import Testing

@testable import Mixer

@Suite("Adaptive encoder")
struct AdaptiveEncoderTests {
    private final class Packets: Sendable {
        let all = Mutex<[MediaPacket]>([])
    }

    @Test("the parameter sets of all speed levels are identical for every preset")
    func parameterSets() throws {
        let presets = ProgramConfiguration.Preset.allCases
        for (preset, own) in presets.flatMap({ [($0, VideoEncoderConfiguration.usualOptions), ($0, "")] }) {
            let program = ProgramConfiguration(width: 640, height: 360, preset: preset)
            let records = try (0...2).map { speedLevel in
                let options = VideoEncoderConfiguration.options(own, of: preset.rawValue, speedLevel: speedLevel)
                return try VideoEncoder(VideoEncoderConfiguration(program, options: options)).configuration
            }
            #expect(records[1] == records[0] && records[2] == records[0], "\(preset)")
        }
    }

    @Test("another encoder takes over at a keyframe, and every frame is decoded with its own timestamp")
    func takeover() throws {
        let rendition = Rendition(name: "small", width: 320, height: 180, videoBitrate: 300)
        let program = ProgramConfiguration(
            width: 640,
            height: 360,
            videoBitrate: 1000,
            ladder: RenditionLadder(renditions: [rendition], hasAudioOnly: false)
        )
        let ring = try CanvasRing(width: 640, height: 360)
        let (packets, small) = (Packets(), Packets())
        let encoder = try ProgramEncoder(
            program,
            encoderOptions: VideoEncoderConfiguration.usualOptions,
            firstSample: 0,
            ring: ring,
            sink: { packet in packets.all.withLock { $0.append(packet) } }
        )
        try encoder.encodeRenditions(hasThreads: false) { (_, packet) in small.all.withLock { $0.append(packet) } }
        for index in Int64(0)..<240 {
            if index == 30 { encoder.degrade(to: .lightestCoding) }
            if index == 150 { encoder.degrade(to: .none) }
            let canvas = 0
            ring.canvases[canvas].fill(ring.canvases[canvas].bounds, YUVColour(y: 60, u: 110, v: 140))
            let bar = PixelRectangle(x: Int(index * 2) % 500, y: 40, width: 100, height: 200)
            ring.canvases[canvas].fill(bar, YUVColour(y: 200, u: 90, v: 160))
            ring.retain(canvas)
            encoder.writeFrame(canvas: canvas, index: index)
            let taken = encoder.snapshot().takeovers
            #expect(taken == (index < 60 ? 0 : index < 180 ? 1 : 2), "\(index)")
            #expect(encoder.renditions.map(\.takeovers) == [taken], "\(index)")
        }
        let silence = [Float](repeating: 0, count: ProgramTime.quantum)
        silence.withUnsafeBufferPointer { zeros in
            guard let start = zeros.baseAddress else { return }
            // More audio than the eight seconds of video.
            for quantum in 0..<Int64(9 * 48_000 / ProgramTime.quantum) {
                encoder.writeAudio(
                    left: start,
                    right: start,
                    count: ProgramTime.quantum,
                    firstSample: quantum * Int64(ProgramTime.quantum)
                )
            }
        }
        for packets in [packets, small] { try check(packets.all.withLock { $0 }) }
        #expect(encoder.snapshot().errors == 0 && encoder.renditions.allSatisfy { $0.errors == 0 })
    }

    /// Checks that every frame is there, keyframes are at their indices, and the first parameter sets decode
    /// everything.
    private func check(_ all: [MediaPacket]) throws {
        #expect(all.count { $0.content == .videoConfiguration(.h264) } == 1)
        let frames = all.filter { if case .video = $0.content { true } else { false } }
        #expect(frames.count == 240)
        #expect(frames.indices.filter { frames[$0].isKeyframe } == [0, 60, 120, 180])
        let configuration = try #require(all.first { $0.content == .videoConfiguration(.h264) })
        var decoder = try VideoDecoder(configuration: configuration)
        var times: [Int64] = []
        for packet in frames { try decoder.decode(packet) { times.append($0.presentationTimestamp) } }
        decoder.flush { times.append($0.presentationTimestamp) }
        #expect(times == frames.map(\.presentationTimestamp))
    }
}
