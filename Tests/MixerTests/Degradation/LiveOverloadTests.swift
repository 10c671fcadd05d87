import Codecs
import Media
import NIOCore
import Stage
import Synchronization
import TestSupport
import Testing

@testable import Mixer

@Suite("Live program on an overloaded machine", .enabled(if: TestRun.isFull), .serialized, .timeLimit(.minutes(2)))
struct LiveOverloadTests {
    /// Consumes a program so slowly that its frames pile up, until it is sped up.
    private final class SlowSink: Sendable {
        let log = PacketLog()
        private let isSlow = Mutex(true)

        func receive(_ packet: MediaPacket) {
            log.append(packet)
            guard packet.isVideo, isSlow.withLock({ $0 }) else { return }
            MonotonicSleep.until(MonotonicTime.now().advanced(milliseconds: 200))
        }

        func speedUp() { isSlow.withLock { $0 = false } }
    }

    /// A change of the step, in milliseconds of program time.
    private struct StepChange {
        let step: Degradation
        let at: Double
        let reason: MixerLoad.Reason?
    }

    /// The packets of a program, and the observed state of the mixer.
    private struct Outcome {
        var steps: [StepChange] = []
        var economies: [Degradation: [VideoDecoder.Economy]] = [:]
        /// The economy of the host that joined during the slate.
        var lateEconomy: VideoDecoder.Economy?
        /// Frames decoded during the slate.
        var slateDecodes: Int64 = 0
        var takeovers: Int64 = 0
        var frames = MixerFrames()
        var program: [MediaPacket] = []
        var renditions: [String: [MediaPacket]] = [:]

        /// The program time in which `step` was in force on the way up, without its ends.
        func span(_ step: Degradation) -> Range<Int64> {
            guard let index = steps.firstIndex(where: { $0.step == step }) else { return 0..<0 }
            let start = Int64(steps[index].at) + 100
            return start..<max(Int64(steps[index + 1].at) - 200, start)
        }
    }

    private static let rate = 15
    private static let program = ProgramConfiguration(
        width: 320,
        height: 180,
        frameRate: FrameRate(15),
        preset: .veryfast,
        ladder: RenditionLadder(
            renditions: [Rendition(name: "small", width: 160, height: 90, videoBitrate: 100)],
            hasAudioOnly: true
        )
    )
    private static let hosts = (0..<6).map { "host-\($0)" }
    /// Seconds of overload before a step up; with the default the test would take half a minute.
    private static let upDelay = 0.3
    /// Milliseconds by which packets are delivered early, so that a busy test machine does not make them late.
    private static let lead = 40.0

    private static func scene(_ hosts: [String]) -> Scene {
        var scene = TestProgram.grid(hosts, width: program.width, height: program.height)
        scene.transition = 0
        // Names would cover the middle of small tiles.
        scene.decoration.showsNames = false
        scene.decoration.showsMicrophones = false
        return scene
    }

    /// The packets in order of arrival: six red hosts, of which the first and the last have audio.
    private static func arrivals() throws -> [(host: Int, packet: MediaPacket)] {
        let clips = try [440.0, nil, 880].map {
            try HostClip.plain(.red, tone: $0, width: 160, height: 90, frameRate: rate)
        }
        let packets = hosts.indices.flatMap { host in
            let clip = host == 0 ? clips[0] : host == 5 ? clips[2] : clips[1]
            return clip.packets(from: 0, to: 60_000).map { (host: host, packet: $0) }
        }
        return packets.sorted { ($0.packet.timestamp, $0.host) < ($1.packet.timestamp, $1.host) }
    }

    private func run(_ arrivals: [(host: Int, packet: MediaPacket)]) throws -> Outcome {
        var outcome = Outcome()
        let sink = SlowSink()
        let logs = ["small": PacketLog(), RenditionLadder.audioName: PacketLog()]
        let mixer = try ProgramMixer(configuration: Self.program, sink: { sink.receive($0) })
        mixer.loadMonitor.follow(DegradationPolicy(upDelay: Self.upDelay))
        try mixer.encodeRenditions { logs[$0]?.append($1) }
        mixer.apply(Self.scene(Self.hosts))
        let inputs = Self.hosts.map { mixer.addHost($0) }
        let anchor = inputs[0].anchor
        func decoded() -> Int64 { inputs.reduce(0) { $0 + $1.media.withLock { $0.frameCount } } }
        mixer.start()
        var next = 0
        var late: HostInput?
        var end = 60_000.0
        while true {
            let now = anchor.milliseconds(at: .now())
            guard now < end else { break }
            while next < arrivals.count, Double(arrivals[next].packet.timestamp) <= now + Self.lead {
                let (host, packet) = arrivals[next]
                inputs[host].receive(packet, arrival: anchor.start.advanced(milliseconds: packet.timestamp))
                next += 1
            }
            let load = mixer.load
            let economies = inputs.map { $0.economy.withLock { $0 } }
            if mixer.load.degradation == load.degradation { outcome.economies[load.degradation] = economies }
            if load.degradation != outcome.steps.last?.step ?? Degradation.none {
                outcome.steps.append(StepChange(step: load.degradation, at: now, reason: load.reason))
                if load.degradation == .none { end = now + 3000 }
            }
            if let change = outcome.steps.last, change.step == .slate {
                // The scene with the new host is applied before the host is added.
                if now > change.at + 300, late == nil {
                    mixer.apply(Self.scene(Self.hosts + ["late"]))
                    MonotonicSleep.until(MonotonicTime.now().advanced(milliseconds: 80))
                    late = mixer.addHost("late")
                    outcome.slateDecodes = -decoded()
                } else if now > change.at + 1500, outcome.lateEconomy == nil {
                    outcome.lateEconomy = late?.economy.withLock { $0 }
                    outcome.slateDecodes += decoded()
                    sink.speedUp()
                }
            }
            MonotonicSleep.until(MonotonicTime.now().advanced(milliseconds: 10))
        }
        mixer.stop()
        outcome.takeovers = mixer.encoder.snapshot().takeovers
        outcome.frames = mixer.frames
        outcome.program = sink.log.all
        outcome.renditions = logs.mapValues(\.all)
        return outcome
    }

    /// Returns the audio of the same arrivals on a machine that is fast enough.
    private func audioWithoutOverload(
        _ arrivals: [(host: Int, packet: MediaPacket)],
        seconds: Double
    ) throws -> [MediaPacket] {
        let log = PacketLog()
        let renderer = try ProgramRenderer(configuration: Self.program) { log.append($0) }
        renderer.apply(Self.scene(Self.hosts))
        let inputs = Self.hosts.map { renderer.addHost($0) }
        var next = 0
        for time in stride(from: 0, to: seconds * 1000, by: 10) {
            while next < arrivals.count, Double(arrivals[next].packet.timestamp) <= time + Self.lead {
                let (host, packet) = arrivals[next]
                inputs[host].receive(packet, arrival: TestProgram.moment(Double(packet.timestamp)))
                next += 1
            }
            renderer.advance(to: TestProgram.moment(time))
        }
        return log.all.filter(\.isAudio)
    }

    /// Returns which tiles of the last frame before each of `times` are red.
    private func areRed(_ program: [MediaPacket], _ hosts: [String], at times: [Int64]) throws -> [[Bool]] {
        var decoder = try VideoDecoder(configuration: try #require(program.first { $0.isVideo }))
        let canvas = try Canvas(width: Self.program.width, height: Self.program.height)
        let tiles = Self.scene(hosts).tiles.map { TestProgram.middle(of: $0.rectangle) }
        let frames = program.filter { $0.isVideo && !$0.isConfiguration }
        let requested = times.map { time in frames.last { $0.timestamp < time }?.timestamp ?? -1 }
        var red: [Int64: [Bool]] = [:]
        for packet in frames {
            try decoder.decode(packet) { frame in
                guard requested.contains(packet.timestamp) else { return }
                _ = try? canvas.draw(frame, in: canvas.bounds)
                red[packet.timestamp] = tiles.map { isNear(canvas.averageColour(of: $0), .red) }
            }
        }
        return requested.map { red[$0] ?? [] }
    }

    @Test("the program degrades step by step, recovers later, and its audio never changes")
    func overload() throws {
        let arrivals = try Self.arrivals()
        let outcome = try run(arrivals)
        let steps = outcome.steps
        let up = Array(Degradation.allCases.dropFirst())
        guard steps.map(\.step) == up + [.none] else {
            Issue.record("\(steps)")
            return
        }
        #expect(steps.dropLast().allSatisfy { $0.reason == .queue } && steps.last?.reason == nil, "\(steps)")
        try checkFrames(outcome)
        try checkAudio(outcome, arrivals)
        checkDecoding(outcome)
        checkRenditions(outcome)
    }

    private func checkFrames(_ outcome: Outcome) throws {
        let frames = outcome.program.filter { $0.isVideo && !$0.isConfiguration }
        #expect(outcome.program.count { $0.isVideo && $0.isConfiguration } == 1 && outcome.takeovers >= 2)
        let times = frames.map(\.timestamp)
        #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
        // One frame of three is dropped, but never one that begins a GOP.
        let spared = outcome.span(.fewerFrames).lowerBound..<outcome.span(.slate).upperBound
        for time in times where spared.contains(time) {
            let index = Int((Double(time) * Double(Self.rate) / 1000).rounded())
            #expect(index % 3 != 2 || index % Self.program.gopLength == 0, "\(time)")
        }
        let lost = outcome.frames.lost
        #expect(lost[.degrade, default: 0] > 5 && lost[.encode, default: 0] > 20, "\(lost)")
        let end = times.last ?? 0
        #expect(times.count { $0 > end - 2000 } == 2 * Self.rate)

        let whole = Array(repeating: true, count: 6)
        let expectations: [(Degradation, [Bool])] = [
            (.lighterDecoding, whole), (.fewerFrames, whole), (.fewerTiles, [true, true, true, true, false, false]),
            (.noRenditions, [true, true, true, true, false, false]), (.slate, whole.map { !$0 }),
        ]
        let seen = try areRed(
            outcome.program,
            Self.hosts,
            at: expectations.map { outcome.span($0.0).upperBound }
        )
        for ((step, expected), red) in zip(expectations, seen) { #expect(red == expected, "\(step)") }
        // All hosts show video again, in the layout of the scene that came meanwhile.
        let back = try areRed(outcome.program, Self.hosts + ["late"], at: [end])
        #expect(back.first == whole + [false])
    }

    private func checkAudio(_ outcome: Outcome, _ arrivals: [(host: Int, packet: MediaPacket)]) throws {
        let audioPackets = outcome.program.filter(\.isAudio)
        let seconds = Double(audioPackets.last?.timestamp ?? 0) / 1000
        #expect(seconds > 8)
        let expected = try audioWithoutOverload(arrivals, seconds: seconds + 1)
        let others = zip(audioPackets, expected).filter { $0.timestamp != $1.timestamp || $0.body != $1.body }
        #expect(others.isEmpty, "other audio at \(others.map(\.0.timestamp)) ms")
        #expect(expected.count >= audioPackets.count)
        let audioOnly = outcome.renditions[RenditionLadder.audioName, default: []].filter(\.isAudio)
        #expect(audioOnly.count > audioPackets.count - 5)
        #expect(zip(audioPackets, audioOnly).allSatisfy { $0.payload == $1.payload })
    }

    private func checkDecoding(_ outcome: Outcome) {
        let skip = VideoDecoder.Economy.skipDisposable
        let economies = outcome.economies
        #expect(economies[.lightestCoding] == Array(repeating: .none, count: 6))
        #expect(economies[.lighterDecoding] == [.none, skip, skip, skip, skip, skip])
        #expect(economies[.fewerTiles] == [.none, skip, skip, skip, .keyframesOnly, .keyframesOnly])
        #expect(economies[.slate] == Array(repeating: .keyframesOnly, count: 6))
        #expect(economies[Degradation.none] == Array(repeating: .none, count: 6))
        #expect(outcome.lateEconomy == .keyframesOnly)
        #expect(outcome.slateDecodes <= 6, "\(outcome.slateDecodes)")
    }

    private func checkRenditions(_ outcome: Outcome) {
        let frames = outcome.renditions["small", default: []].filter { $0.isVideo && !$0.isConfiguration }
        let steps = outcome.steps
        guard let first = steps.first(where: { $0.step == .noRenditions }), let last = steps.last else { return }
        let gone = Int64(first.at) + 100..<Int64(last.at) - 50
        #expect(!frames.contains { gone.contains($0.timestamp) })
        #expect(frames.contains { $0.timestamp < gone.lowerBound })
        let again = frames.first { $0.timestamp >= gone.upperBound }
        // Renditions resume with a keyframe of the program.
        let keys = outcome.program.filter(\.isKeyframe).map(\.timestamp)
        #expect(again?.isKeyframe == true && keys.contains(again?.timestamp ?? -1))
    }

    @Test("the frame times of composing and encoding are evaluated")
    func work() throws {
        let mixer = try ProgramMixer(configuration: Self.program, sink: { _ in })
        // A bound so low that any work exceeds it.
        let policy = DegradationPolicy(worst: .lightestCoding, bounds: (up: 1e-6, down: 0), upDelay: 0.3)
        mixer.loadMonitor.follow(policy)
        mixer.start()
        var seen: [Degradation] = []
        let deadline = MonotonicTime.now().advanced(milliseconds: 20_000)
        while MonotonicTime.now() < deadline, seen.last != .lightestCoding {
            let load = mixer.load
            if load.degradation != seen.last { seen.append(load.degradation) }
            if load.degradation != .none { #expect(load.reason == .work && load.ratio > 0) }
            MonotonicSleep.until(MonotonicTime.now().advanced(milliseconds: 20))
        }
        mixer.stop()
        #expect(seen == [.none, .lighterCoding, .lightestCoding])
        #expect(mixer.frames.counts.reduce(0, +) > 5)
    }
}
