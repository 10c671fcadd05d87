import Codecs
import Foundation
import Media
import Stage
import Synchronization
import Testing

@testable import Mixer

@Suite("A program made again from its arrivals", .serialized) struct ArrivalReplayTests {
    private let path = NSTemporaryDirectory() + "arrivals-\(UUID().uuidString)"

    private func remove() { try? FileManager.default.removeItem(atPath: path) }

    /// A show with something of everything: four clocks, jitter, a stall, a leap, joins, leaves, scenes, targets.
    ///
    /// - Parameter steps: What it does without, and from when on in milliseconds.
    private func perform(_ renderer: ProgramRenderer, steps: [(time: Double, step: Degradation)] = []) throws {
        let colours: [YUVColour] = [.red, .green, .blue, .white]
        let names = ["a", "b", "c", "d"]
        var events: [(time: Double, event: () -> Void)] = []
        var inputs: [String: HostInput] = [:]
        var configurations: [String: [MediaPacket]] = [:]
        var generator = SplitMix(seed: 21)
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
                let arrival = Rehearsal.moment(last)
                events.append((last, { inputs[name]?.receive(packet, arrival: arrival) }))
            }
            events.append((joined, { inputs[name] = renderer.addHost(name) }))
            events.append((joined + 11, { renderer.apply(Timetable.scene(Array(names.prefix(index + 1)))) }))
        }
        for (time, step) in steps { events.append((time, { renderer.degrade(to: step) })) }
        events.append((5200, { renderer.setJitterTarget(120, for: "a") }))
        events.append((6100.3, { renderer.removeHost("b") }))
        events.append((6100.3, { renderer.apply(Timetable.scene(["d", "c", "a"])) }))
        let again = configurations["b"] ?? []
        events.append(
            (
                7003,
                {
                    inputs["b"] = renderer.addHost("b", jitterTarget: 90)
                    for packet in again { inputs["b"]?.receive(packet, arrival: Rehearsal.moment(7003)) }
                }
            )
        )
        for (time, event) in events.enumerated().sorted(by: { ($0.1.time, $0.0) < ($1.1.time, $1.0) }).map(\.1) {
            renderer.advance(to: Rehearsal.moment(time))
            event()
        }
    }

    @Test("Every pixel and every sample is the same in two runs, and the same as in the program that was recorded")
    func identical() throws {
        defer { remove() }
        let recorder = try ArrivalRecorder(path: path)
        let (width, height) = Timetable.size
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
        #expect(first.pictures > 270 && first.samples > 9 * 48_000)
        #expect(first == output.fingerprint)
        // The same decisions, too.
        #expect(statistics.hosts.map(Decisions.init) == renderer.statistics.hosts.map(Decisions.init))
        #expect(statistics.hosts.count == 4)
    }

    @Test("What the program did without is left out again", arguments: [Degradation.fewerPictures, .slate])
    func degraded(step: Degradation) throws {
        defer { remove() }
        let (width, height) = Timetable.size
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
        // Scenes come while it goes on.
        let live = try show(recorder, [(4001, step), (8003, .none)])
        recorder.close()
        let whole = try show(nil, [])

        let replay = try ArrivalReplay(path: path)
        let (first, statistics) = try replay.fingerprint()
        let (second, _) = try replay.fingerprint()
        #expect(first == second)
        #expect(first.picture != whole.fingerprint.picture && first.sound == whole.fingerprint.sound)
        #expect(first.pictures == live.fingerprint.pictures && first.sound == live.fingerprint.sound)
        // Four seconds with two pictures of three.
        let spared = whole.fingerprint.pictures - first.pictures
        #expect((38...41).contains(spared), "\(spared)")
        #expect(statistics.sparedPictures == spared)
        if step == .slate {
            // Nobody is seen, so whole groups of the hosts' pictures were not decoded.
            let decoded = { (statistics: MixerStatistics) in statistics.hosts.reduce(0) { $0 + $1.pictures } }
            #expect(decoded(statistics) < decoded(whole.statistics) - 100)
        } else {
            #expect(first.picture == live.fingerprint.picture)
        }
    }

    @Test("A single pixel or sample that differs is seen")
    func sensitive() throws {
        let ring = try CanvasRing(width: 32, height: 32)
        let (one, other) = (FingerprintOutput(ring: ring), FingerprintOutput(ring: ring))
        one.takePicture(canvas: 0, index: 0)
        ring.canvases[1].fill(PixelRectangle(x: 30, y: 30, width: 2, height: 2), YUVColour(y: 17, u: 128, v: 128))
        other.takePicture(canvas: 1, index: 0)
        #expect(one.fingerprint.picture != other.fingerprint.picture)
        var samples = [Float](repeating: 0, count: 960)
        one.takeSound(left: samples, right: samples, count: 960, firstSample: 0)
        samples[959] = .leastNonzeroMagnitude
        other.takeSound(left: samples, right: samples, count: 960, firstSample: 0)
        #expect(one.fingerprint.sound != other.fingerprint.sound)
    }

    /// What the program decided about a host, without what the machine had to do with it.
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
                host.packets, host.late, host.picturesDropped, host.picturesRepeated, host.soundGaps, host.soundSkips,
                host.offsetSteps, host.timestampLeaps,
            ]
        }
    }

    @Test("What the live mixer decided, with its threads and its real clock, is what the replay decides")
    func live() throws {
        defer { remove() }
        let recorder = try ArrivalRecorder(path: path)
        let configuration = ProgramConfiguration(width: 160, height: 90, videoBitrate: 200, preset: "ultrafast")
        let log = PacketLog()
        let mixer = try ProgramMixer(configuration: configuration, encoderOptions: "", recorder: recorder) {
            log.append($0)
        }
        mixer.start()
        let clips = [("a", try HostClip.plain(.red, tone: 440)), ("b", try HostClip.plain(.blue, tone: 880))]
        let begun = MonotonicTime.now()
        mixer.apply(Timetable.scene(["a", "b"]))
        let inputs = Dictionary(uniqueKeysWithValues: clips.map { ($0.0, mixer.addHost($0.0)) })
        var packets = clips.flatMap { id, clip in clip.packets(from: 0, to: 3000).map { (id, $0) } }
        packets.sort { $0.1.timestamp < $1.1.timestamp }
        var hasChanged = false
        for (id, packet) in packets {
            MonotonicSleep.until(begun.advanced(milliseconds: packet.timestamp))
            if packet.timestamp > 1500, !hasChanged {
                hasChanged = true
                mixer.apply(Timetable.scene(["b", "a"]))
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
        let sounds = zip(then.filter(\.isAudio), now.filter(\.isAudio)).map { ($0, $1) }
        #expect(sounds.count > 100)
        #expect(sounds.allSatisfy { $0.timestamp == $1.timestamp && $0.body == $1.body })
        // A machine that was late with a picture is no part of what arrived.
        guard statistics.lateTicks == 0, statistics.skippedPictures == 0, statistics.jumps == 0 else { return }
        let pictures = zip(then.filter(\.isVideo), now.filter(\.isVideo)).map { ($0, $1) }
        #expect(pictures.count > 60)
        #expect(pictures.allSatisfy { $0.timestamp == $1.timestamp })
        let others = pictures.filter { $0.body != $1.body }.map(\.0.timestamp)
        #expect(others.isEmpty, "another picture at \(others) ms")
        #expect(replayed.hosts.map(\.timestampLeaps) == [0, 0])
    }
}
