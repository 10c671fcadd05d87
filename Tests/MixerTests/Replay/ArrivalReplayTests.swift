import Codecs
import Foundation
import Media
import NIOCore
import Stage
import Synchronization
import TestSupport
import Testing

@testable import Mixer

@Suite("Replay of a program from its arrivals", .enabled(if: TestRun.isFull), .serialized) struct ArrivalReplayTests {
    private let path = NSTemporaryDirectory() + "arrivals-\(UUID().uuidString)"

    private func remove() { try? FileManager.default.removeItem(atPath: path) }

    /// Runs a show with four clocks, jitter, a stall, a timestamp jump, joins, leaves, scenes and target changes.
    ///
    /// - Parameter steps: Degradation steps with their times in milliseconds.
    private func perform(_ renderer: ProgramRenderer, steps: [(time: Double, step: Degradation)] = []) throws {
        let colours: [YUVColour] = [.red, .green, .blue, .white]
        let names = ["a", "b", "c", "d"]
        var events: [(time: Double, event: () -> Void)] = []
        var inputs: [String: HostInput] = [:]
        var configurations: [String: [MediaPacket]] = [:]
        var generator = SeededGenerator(seed: 21)
        for (index, name) in names.enumerated() {
            let clip = try HostClip.plain(colours[index], tone: 300 + Double(index) * 170, width: 160, height: 90)
            configurations[name] = clip.configuration
            let rate = 1 + Double(index - 1) * 200e-6
            let joined = Double(index) * 700
            var last = 0.0
            for packet in clip.packets(from: 0, to: 9000) {
                var packet = packet
                var time = joined + Double(packet.timestamp) / rate + 30 + Double(generator.next() % 60_000) / 1000
                if index == 1, time > 4000, time < 5500 { time = 5500 }
                if index == 2, packet.timestamp > 5000 { packet.timestamp += 10_000 }
                last = max(last, time)
                let arrival = TestProgram.moment(last)
                events.append((last, { inputs[name]?.receive(packet, arrival: arrival) }))
            }
            events.append((joined, { inputs[name] = renderer.addHost(name) }))
            events.append((joined + 11, { renderer.apply(ScheduledProgram.scene(Array(names.prefix(index + 1)))) }))
        }
        for (time, step) in steps { events.append((time, { renderer.degrade(to: step) })) }
        events.append((5200, { renderer.setJitterTarget(120, for: "a") }))
        events.append((6100.3, { renderer.removeHost("b") }))
        events.append((6100.3, { renderer.apply(ScheduledProgram.scene(["d", "c", "a"])) }))
        let again = configurations["b"] ?? []
        events.append(
            (
                7003,
                {
                    inputs["b"] = renderer.addHost("b", jitterTarget: 90)
                    for packet in again { inputs["b"]?.receive(packet, arrival: TestProgram.moment(7003)) }
                }
            )
        )
        for (time, event) in events.enumerated().sorted(by: { ($0.1.time, $0.0) < ($1.1.time, $1.0) }).map(\.1) {
            renderer.advance(to: TestProgram.moment(time))
            event()
        }
    }

    @Test("every pixel and sample is the same in two replays and in the recorded program")
    func identical() throws {
        defer { remove() }
        let recorder = try ArrivalRecorder(path: path)
        let (width, height) = ScheduledProgram.size
        let ring = try CanvasRing(width: width, height: height)
        let output = FingerprintOutput(ring: ring)
        let configuration = ProgramConfiguration(width: width, height: height)
        let renderer = ProgramRenderer(configuration: configuration, ring: ring, output: output, recorder: recorder)
        try perform(renderer)
        recorder.close()
        #expect(recorder.end == .closed)

        let replay = try ArrivalReplay(path: path)
        #expect(replay.configuration == configuration && replay.seconds > 9)
        let (first, statistics) = try replay.fingerprint()
        let (second, _) = try replay.fingerprint()
        #expect(first == second)
        #expect(first.frames > 270 && first.samples > 9 * 48_000)
        #expect(first == output.fingerprint)
        // The same decisions, too.
        #expect(statistics.hosts.map(Decisions.init) == renderer.statistics.hosts.map(Decisions.init))
        #expect(statistics.hosts.count == 4)
    }

    @Test("degradation is replayed", arguments: [Degradation.fewerFrames, .slate])
    func degraded(step: Degradation) throws {
        defer { remove() }
        let (width, height) = ScheduledProgram.size
        let configuration = ProgramConfiguration(width: width, height: height)
        func show(
            _ recorder: ArrivalRecorder?,
            _ steps: [(time: Double, step: Degradation)]
        ) throws -> (fingerprint: ProgramFingerprint, statistics: MixerStatistics) {
            let ring = try CanvasRing(width: width, height: height)
            let output = FingerprintOutput(ring: ring)
            let renderer = ProgramRenderer(configuration: configuration, ring: ring, output: output, recorder: recorder)
            try perform(renderer, steps: steps)
            return (output.fingerprint, renderer.statistics)
        }
        let recorder = try ArrivalRecorder(path: path)
        // Scenes change during degradation.
        let live = try show(recorder, [(4001, step), (8003, .none)])
        recorder.close()
        let whole = try show(nil, [])

        let replay = try ArrivalReplay(path: path)
        let (first, statistics) = try replay.fingerprint()
        let (second, _) = try replay.fingerprint()
        #expect(first == second)
        #expect(first.video != whole.fingerprint.video && first.audio == whole.fingerprint.audio)
        #expect(first.frames == live.fingerprint.frames && first.audio == live.fingerprint.audio)
        // Four seconds with two frames of three.
        let spared = whole.fingerprint.frames - first.frames
        #expect((38...41).contains(spared), "\(spared)")
        #expect(statistics.shedFrames == spared)
        if step == .slate {
            // No host is visible, so whole GOPs were not decoded.
            let decoded = { (statistics: MixerStatistics) in statistics.hosts.reduce(0) { $0 + $1.frames } }
            #expect(decoded(statistics) < decoded(whole.statistics) - 100)
        } else {
            #expect(first.video == live.fingerprint.video)
        }
    }

    @Test("a difference of a single pixel or sample changes the fingerprint")
    func sensitive() throws {
        let ring = try CanvasRing(width: 32, height: 32)
        let (one, other) = (FingerprintOutput(ring: ring), FingerprintOutput(ring: ring))
        one.writeFrame(canvas: 0, index: 0)
        ring.canvases[1].fill(PixelRectangle(x: 30, y: 30, width: 2, height: 2), YUVColour(y: 17, u: 128, v: 128))
        other.writeFrame(canvas: 1, index: 0)
        #expect(one.fingerprint.video != other.fingerprint.video)
        var samples = [Float](repeating: 0, count: 960)
        one.writeAudio(left: samples, right: samples, count: 960, firstSample: 0)
        samples[959] = .leastNonzeroMagnitude
        other.writeAudio(left: samples, right: samples, count: 960, firstSample: 0)
        #expect(one.fingerprint.audio != other.fingerprint.audio)
    }

    /// The program's decisions about a host, without effects of the machine.
    private struct Decisions: Equatable {
        let id: String
        let offset: Double?
        let drift: Double
        let counts: [Int64]

        init(_ host: MixerStatistics.Host) {
            id = host.id
            offset = host.offset
            drift = host.driftPartsPerMillion
            counts = [
                host.packets, host.late, host.framesDropped, host.framesRepeated, host.audioGaps, host.audioSkips,
                host.offsetSteps, host.timestampDiscontinuities,
            ]
        }
    }

    @Test("a replay makes the same decisions as the live mixer with its threads and its real clock")
    func live() throws {
        defer { remove() }
        let recorder = try ArrivalRecorder(path: path)
        let configuration = ProgramConfiguration(width: 160, height: 90, videoBitrate: 200, preset: .ultrafast)
        let log = PacketLog()
        let mixer = try ProgramMixer(configuration: configuration, encoderOptions: "", recorder: recorder) {
            log.append($0)
        }
        mixer.start()
        let clips = [("a", try HostClip.plain(.red, tone: 440)), ("b", try HostClip.plain(.blue, tone: 880))]
        let begun = MonotonicTime.now()
        mixer.apply(ScheduledProgram.scene(["a", "b"]))
        let inputs = Dictionary(uniqueKeysWithValues: clips.map { ($0.0, mixer.addHost($0.0)) })
        var packets = clips.flatMap { id, clip in clip.packets(from: 0, to: 3000).map { (id, $0) } }
        packets.sort { $0.1.timestamp < $1.1.timestamp }
        var hasChanged = false
        for (id, packet) in packets {
            MonotonicSleep.until(begun.advanced(milliseconds: packet.timestamp))
            if packet.timestamp > 1500, !hasChanged {
                hasChanged = true
                mixer.apply(ScheduledProgram.scene(["b", "a"]))
                mixer.setJitterTarget(250, for: "a")
            }
            inputs[id]?.receive(packet, arrival: .now())
        }
        mixer.stop()
        recorder.close()
        #expect(recorder.end == .closed)
        let statistics = mixer.statistics

        let again = PacketLog()
        let replayed = try ArrivalReplay(path: path).render(encoderOptions: "") { again.append($0) }
        let (then, now) = (log.all, again.all)
        let audioPackets = zip(then.filter(\.isAudio), now.filter(\.isAudio)).map { ($0, $1) }
        #expect(audioPackets.count > 100)
        #expect(audioPackets.allSatisfy { $0.timestamp == $1.timestamp && $0.body == $1.body })
        // A machine that was late with a frame is not part of the arrivals.
        guard statistics.lateTicks == 0, statistics.skippedFrames == 0, statistics.jumps == 0 else { return }
        let frames = zip(then.filter(\.isVideo), now.filter(\.isVideo)).map { ($0, $1) }
        #expect(frames.count > 60)
        #expect(frames.allSatisfy { $0.timestamp == $1.timestamp })
        let others = frames.filter { $0.body != $1.body }.map(\.0.timestamp)
        #expect(others.isEmpty, "another picture at \(others) ms")
        #expect(replayed.hosts.map(\.timestampDiscontinuities) == [0, 0])
    }
}

@Suite("Replay of a program with images, music and a static screen", .enabled(if: TestRun.isFull), .serialized)
struct ReplayedAssetsTests {
    private let path = NSTemporaryDirectory() + "arrivals-\(UUID().uuidString)"
    private static let size = (width: 160, height: 90)

    private func remove() { try? FileManager.default.removeItem(atPath: path) }

    private static func image(_ colour: YUVColour, width: Int = 64, height: Int = 36) throws -> ByteBuffer {
        let canvas = try Canvas(width: width, height: height)
        canvas.fill(canvas.bounds, .black)
        canvas.fill(PixelRectangle(x: 0, y: 0, width: width / 2, height: height), colour)
        return try canvas.png()
    }

    /// A camera, a screen, and a host with an avatar, before the room's background.
    private static func stage(_ hosts: [String] = ["a", "s", "c"]) -> Scene {
        var scene = TestProgram.grid(hosts, width: size.width, height: size.height)
        for index in scene.tiles.indices {
            if hosts[index] == "s" { scene.tiles[index].source = .screen }
            if hosts[index] == "c" { scene.tiles[index].avatar = "asset:face" }
        }
        scene.decoration.background = "asset:wall"
        scene.decoration.logo = Logo(asset: "asset:logo", opacity: 0.5, height: 0.3)
        return scene
    }

    private static func slate(_ music: String?, image: String? = nil) -> Scene {
        Scene(slate: Slate(kind: .startingSoon, text: "…", image: image, music: music))
    }

    /// A frame, a change soon after it, and then nothing.
    private static func screen() throws -> [MediaPacket] {
        let clip = try HostClip.make(
            width: 160,
            height: 90,
            frameRate: 10,
            paint: { canvas, index in canvas.fill(canvas.bounds, index < 4 ? .white : .green) },
            sample: nil
        )
        return clip.packets(from: 0, to: 600)
    }

    @Test("every pixel and sample is the same with files that are late, replaced or invalid")
    func identical() throws {
        defer { remove() }
        let recorder = try ArrivalRecorder(path: path)
        let ring = try CanvasRing(width: Self.size.width, height: Self.size.height)
        let output = FingerprintOutput(ring: ring)
        let renderer = ProgramRenderer(
            configuration: ProgramConfiguration(width: Self.size.width, height: Self.size.height),
            ring: ring,
            output: output,
            recorder: recorder
        )
        let camera = try HostClip.plain(.red, tone: 500, width: 160, height: 90)
        let (first, second) = (try AudioFile.tone(440), try AudioFile.tone(330, rate: 44_100))
        let (face, other) = (try Self.image(.blue), try Self.image(.white))
        let (wall, logo) = (try Self.image(.green), try Self.image(.red))
        let screen = try Self.screen()
        var inputs: [String: HostInput] = [:]
        var events: [(time: Double, event: () -> Void)] = [
            (0, { renderer.apply(Self.slate("asset:music", image: "asset:wall")) }),
            (203, { inputs["a"] = renderer.addHost("a") }),
            (205, { inputs["s"] = renderer.addHost("s", isScreenShare: true) }),
            (402, { renderer.provide(first, for: "asset:music") }),
            (431, { renderer.provide(wall, for: "asset:wall") }),
            (1999, { renderer.apply(Self.stage()) }),
            (2003, { renderer.provide(face, for: "asset:face") }),
            (2407, { renderer.provide(logo, for: "asset:logo") }),
            (3001, { renderer.provide(other, for: "asset:face") }),
            (3301, { renderer.provide(ByteBuffer(string: "no image"), for: "asset:logo") }),
            (5002, { renderer.apply(Self.slate("asset:music")) }),
            (6009, { renderer.provide(second, for: "asset:music") }),
            (7503, { renderer.apply(Self.slate("asset:other")) }),
            (7801, { renderer.provide(first, for: "asset:other") }),
            (9000, {}),
        ]
        for packet in camera.packets(from: 0, to: 4000) {
            let time = Double(packet.timestamp) + 230
            events.append((time, { inputs["a"]?.receive(packet, arrival: TestProgram.moment(time)) }))
        }
        for packet in screen {
            let time = Double(packet.timestamp) + 230
            events.append((time, { inputs["s"]?.receive(packet, arrival: TestProgram.moment(time)) }))
        }
        for (time, event) in events.enumerated().sorted(by: { ($0.1.time, $0.0) < ($1.1.time, $1.0) }).map(\.1) {
            renderer.advance(to: TestProgram.moment(time))
            event()
        }
        recorder.close()
        #expect(recorder.end == .closed)

        let replay = try ArrivalReplay(path: path)
        let (again, _) = try replay.fingerprint()
        // To the very end, where nothing has arrived for five seconds.
        #expect(again.frames == 271 && again.samples > 9 * 48_000 - 1024)
        #expect(again.frames == output.fingerprint.frames && again.samples == output.fingerprint.samples)
        #expect(again.video == output.fingerprint.video)
        #expect(again.audio == output.fingerprint.audio)
    }

    @Test("a replay shows the files, music and static screen of the live mixer")
    func live() throws {
        defer { remove() }
        let camera = try HostClip.plain(.red, tone: 500, width: 160, height: 90)
        let music = try AudioFile.tone(
            440,
            seconds: 3,
            rate: 44_100,
            ["-c:a", "libmp3lame", "-b:a", "128k"],
            suffix: "mp3"
        )
        let (face, wall) = (try Self.image(.blue), try Self.image(.green))
        let screen = try Self.screen()
        let recorder = try ArrivalRecorder(path: path)
        let log = PacketLog()
        let mixer = try ProgramMixer(
            configuration: ProgramConfiguration(
                width: Self.size.width,
                height: Self.size.height,
                videoBitrate: 200,
                preset: .ultrafast
            ),
            encoderOptions: "",
            recorder: recorder
        ) { log.append($0) }
        mixer.start()
        let begun = MonotonicTime.now()
        let (a, s) = (mixer.addHost("a"), mixer.addHost("s", isScreenShare: true))
        var events: [(time: Int64, event: () -> Void)] = [
            (0, { mixer.apply(Self.slate("asset:music", image: "asset:wall")) }),
            (300, { mixer.provide(music, for: "asset:music") }),
            (310, { mixer.provide(wall, for: "asset:wall") }),
            (2000, { mixer.apply(Self.stage()) }),
            (2100, { mixer.provide(face, for: "asset:face") }),
            (3000, { mixer.apply(Self.slate("asset:music")) }),
            (3900, { mixer.apply(Self.stage(["s", "c", "a"])) }),
            (5200, {}),
        ]
        for packet in camera.packets(from: 0, to: 4500) {
            events.append((packet.timestamp, { a.receive(packet, arrival: .now()) }))
        }
        for packet in screen { events.append((packet.timestamp, { s.receive(packet, arrival: .now()) })) }
        for (time, event) in events.enumerated().sorted(by: { ($0.1.time, $0.0) < ($1.1.time, $1.0) }).map(\.1) {
            MonotonicSleep.until(begun.advanced(milliseconds: time))
            event()
        }
        mixer.stop()
        recorder.close()
        #expect(recorder.end == .closed)
        let statistics = mixer.statistics

        let again = PacketLog()
        try ArrivalReplay(path: path).render(encoderOptions: "") { again.append($0) }
        let (then, now) = (log.all, again.all)
        let audioPackets = zip(then.filter(\.isAudio), now.filter(\.isAudio)).map { ($0, $1) }
        #expect(audioPackets.count > 200)
        let unlike = audioPackets.filter { $0.timestamp != $1.timestamp || $0.body != $1.body }.map(\.0.timestamp)
        #expect(unlike.isEmpty, "other sound at \(unlike) ms")
        // A machine that was late with a frame is not part of the arrivals.
        guard statistics.lateTicks == 0, statistics.skippedFrames == 0, statistics.jumps == 0 else { return }
        let frames = zip(then.filter(\.isVideo), now.filter(\.isVideo)).map { ($0, $1) }
        #expect(frames.count > 140)
        let others = frames.filter { $0.timestamp != $1.timestamp || $0.body != $1.body }.map(\.0.timestamp)
        #expect(others.isEmpty, "another picture at \(others) ms")
    }
}
