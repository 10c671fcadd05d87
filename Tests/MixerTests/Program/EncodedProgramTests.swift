import Codecs
import Media
import Stage
import Synchronization
import TestSupport
import Testing

@testable import Mixer

/// Stores the packets that a sink receives.
final class PacketLog: Sendable {
    private let packets = Mutex<[MediaPacket]>([])

    var all: [MediaPacket] { packets.withLock { $0 } }

    func append(_ packet: MediaPacket) {
        packets.withLock { $0.append(packet) }
    }
}

@Suite("The encoded program", .enabled(if: TestRun.isFull)) struct EncodedProgramTests {
    private func render(_ rate: FrameRate, firstSample: Int64 = 0, seconds: Double) throws -> [MediaPacket] {
        let log = PacketLog()
        let renderer = try ProgramRenderer(
            configuration: ProgramConfiguration(
                width: 320,
                height: 180,
                frameRate: rate,
                videoBitrate: 300,
                preset: .ultrafast
            ),
            firstSample: firstSample,
            encoderOptions: "",
            sink: { log.append($0) }
        )
        renderer.apply(TestProgram.grid(["a"], width: 320, height: 180))
        let input = renderer.addHost("a")
        for packet in try HostClip.flashAndBeep().packets(from: 0, to: Int64(seconds * 1000)) {
            let time = TestProgram.moment(Double(packet.timestamp) + 25)
            renderer.advance(to: time)
            input.receive(packet, arrival: time)
        }
        renderer.advance(to: MonotonicTime(nanoseconds: Int64(seconds * 1e9)))
        return log.all
    }

    @Test(
        "configurations come first, timestamps never decrease, and GOPs are exactly two seconds",
        arguments: [FrameRate(30), FrameRate(25), FrameRate(30000, per: 1001), FrameRate(60)]
    )
    func order(rate: FrameRate) throws {
        let packets = try render(rate, seconds: 7)
        #expect(packets[0].content == .videoConfiguration(.h264))
        #expect(packets[1].content == .audioConfiguration(.aac))
        #expect(zip(packets, packets.dropFirst()).allSatisfy { $0.timestamp <= $1.timestamp })
        let frames = packets.filter { $0.isVideo && !$0.isConfiguration }
        for (index, frame) in frames.enumerated() {
            let exact = Int64(index) * 1000 * Int64(rate.denominator) / Int64(rate.numerator)
            #expect(frame.timestamp == exact)
            #expect(frame.isKeyframe == (index % Int((rate.perSecond * 2).rounded()) == 0))
        }
        #expect(frames.count > Int(6.8 * rate.perSecond))
        let audio = packets.filter { $0.isAudio && !$0.isConfiguration }
        let steps = zip(audio, audio.dropFirst()).map { $1.timestamp - $0.timestamp }
        #expect(Set(steps) == [21, 22])
    }

    @Test("a program that takes over continues at its first sample")
    func takenOver() throws {
        let packets = try render(FrameRate(30), firstSample: 48_000 * 7200, seconds: 3)
        #expect(packets[0].timestamp == 7_200_000)
        #expect(packets.first { $0.isKeyframe }?.timestamp == 7_200_000)
        #expect(packets.allSatisfy { $0.timestamp >= 7_200_000 && $0.timestamp < 7_203_050 })
    }

    @Test("flash and beep stay in sync through both encoders")
    func sync() throws {
        let packets = try render(FrameRate(30), seconds: 7.5)
        var video = try VideoDecoder(configuration: packets[0])
        var audio = try AudioDecoder(codec: .aac, configuration: packets[1])
        let canvas = try Canvas(width: 320, height: 180)
        var flashes: [Double] = []
        var wasOn = false
        var samples: [Float] = []
        var start: Double?
        for packet in packets where !packet.isConfiguration {
            if packet.isVideo {
                try video.decode(packet) { frame in
                    try? canvas.draw(frame, in: canvas.bounds)
                    let isOn = canvas.luma(x: 160, y: 90) > 150
                    if isOn, !wasOn { flashes.append(Double(frame.presentationTimestamp)) }
                    wasOn = isOn
                }
            } else {
                try audio.decode(packet) { block in
                    start = start ?? block.timestamp
                    block.withChannels { left, _ in samples.append(contentsOf: left) }
                }
            }
        }
        let begin = try #require(start)
        var beeps: [Double] = []
        var quietSince = 0
        for (index, sample) in samples.enumerated() where abs(sample) > 0.1 {
            if index - quietSince > 24_000 { beeps.append(begin + Double(index) / 48) }
            quietSince = index
        }
        #expect(flashes.count >= 6)
        for flash in flashes.dropFirst() {
            let nearest = beeps.map { abs($0 - flash) }.min() ?? 1e9
            #expect(nearest < 20, "flash at \(flash), beeps \(beeps)")
        }
    }

    @Test("a keyframe can be requested")
    func keyframeRequest() throws {
        let log = PacketLog()
        let renderer = try ProgramRenderer(
            configuration: ProgramConfiguration(width: 320, height: 180, videoBitrate: 300, preset: .ultrafast),
            encoderOptions: "",
            sink: { log.append($0) }
        )
        renderer.advance(to: TestProgram.moment(1000))
        renderer.requestKeyframe()
        renderer.advance(to: TestProgram.moment(3000))
        let keys = log.all.filter(\.isKeyframe).map(\.timestamp)
        #expect(keys == [0, 1033, 2000])
    }
}

@Suite("Hosts with unusual formats") struct UnusualFormatTests {
    @Test("B-frames, 25 frames a second, 4:3, and mono 44.1 kHz are shown in sync")
    func ordinary() throws {
        let packets = try FLVClip.make([
            "-f", "lavfi", "-i", "color=c=0xC81E1E:s=400x300:r=25:d=5",
            "-f", "lavfi", "-i", "sine=f=440:r=44100:d=5",
            "-vf", "drawbox=x=0:y=0:w=400:h=300:c=white:t=fill:enable='lt(mod(t,1),0.2)',format=yuv420p",
            "-af", "volume=volume='if(lt(mod(t,1),0.2),4,0.4)':eval=frame,asetnsamples=441",
            "-c:v", "libx264", "-preset", "veryfast", "-bf", "3", "-g", "50", "-x264-params", "b-adapt=0",
            "-c:a", "aac", "-ac", "1", "-ar", "44100", "-b:a", "96k",
        ])
        #expect(packets.contains { $0.compositionOffset > 0 })
        let program = try TestProgram()
        program.show(["a"])
        program.feed("a", packets) { Double($0) + 30 }
        program.run(to: 5000)
        let host = program.host("a")
        #expect(host.decodeErrors == 0 && host.audioGaps == 0 && host.offsetSteps == 0)
        #expect(host.framesDropped <= 2)
        #expect(TestTone.level(of: 440, in: program.output.audio(from: 1000, to: 4800)) > 0.03)
        // The middle is red or white, filled to the edges of a 16:9 tile.
        let frames = program.output.frames.filter { (1000..<4700).contains(program.time(of: $0.index)) }
        #expect(
            frames.allSatisfy { isNear($0.colours[0], .red, within: 12) || isNear($0.colours[0], .white, within: 12) }
        )
        let flashes = zip(frames, frames.dropFirst()).compactMap { before, after in
            before.colours[0].y < 120 && after.colours[0].y > 200 ? program.time(of: after.index) : nil
        }
        #expect(flashes.count >= 3)
        for flash in flashes {
            // The loud part begins within one of ffmpeg's steps of 10 ms from the flash.
            let window = program.output.audio(from: Int(flash) - 150, to: Int(flash) + 150)
            let beep = window.firstIndex { abs($0) > 0.2 }.map { Double($0) / 48 }
            #expect(abs((beep ?? 1e9) - flash) < 40)
        }
    }
}
