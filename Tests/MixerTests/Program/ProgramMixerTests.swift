import Codecs
import Media
import Stage
import TestSupport
import Testing

@testable import Mixer

#if canImport(Glibc)
import Glibc
#endif

@Suite("The program in real time", .enabled(if: TestRun.isFull), .serialized) struct ProgramMixerTests {
    private let configuration = ProgramConfiguration(width: 320, height: 180, videoBitrate: 300, preset: .ultrafast)

    private func sleep(until moment: MonotonicTime) {
        MonotonicSleep.until(moment)
    }

    @Test("two hosts give thirty frames a second in order, and stop ends everything")
    func real() throws {
        let log = PacketLog()
        let mixer = try ProgramMixer(configuration: configuration, encoderOptions: "", sink: { log.append($0) })
        mixer.start()
        mixer.apply(TestProgram.grid(["a", "b"], width: 320, height: 180))
        let begin = MonotonicTime.now()
        let clips = [
            ("a", try HostClip.plain(.red, tone: 440)), ("b", try HostClip.plain(.blue, tone: 880)),
        ]
        let started = MonotonicTime.now()
        let packets = clips.flatMap { id, clip in
            clip.packets(from: 0, to: 3000).map { (mixer.addHost(id), $0) }
        }.sorted { $0.1.timestamp < $1.1.timestamp }
        for (input, packet) in packets {
            sleep(until: started.advanced(milliseconds: packet.timestamp))
            input.receive(packet, arrival: .now())
        }
        let statistics = mixer.statistics
        mixer.stop()
        let seconds = MonotonicTime.now().seconds(since: begin)
        let out = log.all
        #expect(zip(out, out.dropFirst()).allSatisfy { $0.timestamp <= $1.timestamp })
        let frames = out.filter { $0.isVideo && !$0.isConfiguration }
        #expect(abs(Double(frames.count) + Double(mixer.statistics.skippedFrames) - seconds * 30) < 5)
        #expect(statistics.hosts.map(\.id) == ["a", "b"])
        #expect(statistics.hosts.allSatisfy { $0.frames > 30 && $0.decodeErrors == 0 })
        #expect(statistics.processor.decode > 0 && statistics.processor.encode > 0 && statistics.processor.audio > 0)
        let count = log.all.count
        sleep(until: MonotonicTime.now().advanced(milliseconds: 100))
        #expect(log.all.count == count)
        // The last frame shows both.
        var decoder = try VideoDecoder(configuration: out[0])
        let canvas = try Canvas(width: 320, height: 180)
        for frame in frames { try decoder.decode(frame) { try? canvas.draw($0, in: canvas.bounds) } }
        let tiles = GridLayout.rectangles(count: 2, width: 320, height: 180)
        #expect(isNear(canvas.averageColour(of: TestProgram.middle(of: tiles[0])), .red))
        #expect(isNear(canvas.averageColour(of: TestProgram.middle(of: tiles[1])), .blue))
    }

    @Test("Adding is idempotent, a removed host's packets are ignored, and stopping twice is harmless")
    func lifecycle() throws {
        let mixer = try ProgramMixer(configuration: configuration, encoderOptions: "", sink: { _ in })
        let before = mixer.addHost("a")
        mixer.start()
        mixer.start()
        #expect(mixer.addHost("a") === before)
        mixer.removeHost("a")
        mixer.removeHost("a")
        before.receive(try HostClip.plain(nil, tone: 440).configuration[0], arrival: .now())
        #expect(mixer.addHost("a") !== before)
        mixer.stop()
        mixer.stop()
        #expect(mixer.statistics.encodeErrors == 0)
    }

    @Test("a configuration that no encoder accepts is an error at once")
    func badConfiguration() {
        let configuration = ProgramConfiguration(width: 321, height: 180)
        #expect(throws: CodecError.self) {
            _ = try ProgramMixer(configuration: configuration, sink: { _ in })
        }
    }
}

@Suite("A program that is more than a second late") struct ProgramJumpTests {
    @Test("the skipped frames are counted, and all others are made")
    func jump() throws {
        let ring = try CanvasRing(width: 320, height: 180)
        let output = RecordingOutput(ring: ring)
        let core = ProgramCore(
            ProgramConfiguration(width: 320, height: 180),
            anchor: ProgramAnchor(start: MonotonicTime(nanoseconds: 0), firstSample: 0),
            ring: ring,
            output: output,
            overlayCache: OverlayCache(AssetCache())
        )
        func run(from begin: Int, to end: Int) {
            for time in stride(from: begin, through: end, by: 10) {
                while core.step(at: TestProgram.moment(Double(time))) == nil {}
            }
        }
        run(from: 0, to: 2000)
        // Late by less than a second: everything is made up.
        run(from: 2900, to: 3000)
        var statistics = core.snapshot(at: TestProgram.moment(3000))
        #expect(statistics.jumps == 0 && statistics.jumpedFrames == 0)
        let frames = statistics.frames
        run(from: 5500, to: 6000)
        statistics = core.snapshot(at: TestProgram.moment(6000))
        #expect(statistics.jumps == 1)
        #expect((73...75).contains(statistics.jumpedFrames), "\(statistics.jumpedFrames)")
        // Thirty a second, except those.
        let made = statistics.frames - frames
        #expect((89...91).contains(made + statistics.jumpedFrames), "\(made)")
    }
}
