import Codecs
import Media
import NIOCore
import Stage
import Synchronization
import Testing

@testable import Mixer

@Suite("A live program whose machine is too slow for it", .serialized, .timeLimit(.minutes(2)))
struct LiveOverloadTests {
    /// Takes a program, so slowly that its pictures pile up, until it is told otherwise.
    private final class SlowSink: Sendable {
        let log = PacketLog()
        private let isSlow = Mutex(true)

        func take(_ packet: MediaPacket) {
            log.append(packet)
            guard packet.isVideo, isSlow.withLock({ $0 }) else { return }
            MonotonicSleep.until(MonotonicTime.now().advanced(milliseconds: 200))
        }

        func hurry() { isSlow.withLock { $0 = false } }
    }

    /// A step as it was seen to be taken, in milliseconds of program time.
    private struct Taken {
        let step: Degradation
        let at: Double
        let reason: String?
    }

    /// What came of a program, and what was seen of the mixer meanwhile.
    private struct Performance {
        var steps: [Taken] = []
        var economies: [Degradation: [VideoDecoder.Economy]] = [:]
        /// Of the host that joined when there was nothing but a slate.
        var lateEconomy: VideoDecoder.Economy?
        /// Pictures that were decoded while there was.
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
        preset: "veryfast",
        ladder: RenditionLadder(
            renditions: [Rendition(name: "small", width: 160, height: 90, videoBitrate: 100)],
            hasAudioOnly: true
        )
    )
    private static let hosts = (0..<6).map { "host-\($0)" }
    /// Seconds after which a step up is taken: those of a program on air would take the test half a minute.
    private static let patience = 0.3
    /// Milliseconds before its time at which a packet is there, so that no busy machine makes it late.
    private static let lead = 40.0

    private static func scene(_ hosts: [String]) -> Scene {
        var scene = Rehearsal.grid(hosts, width: program.width, height: program.height)
        scene.transition = 0
        // Names would lie over the small tiles' middle.
        scene.decoration.showsNames = false
        scene.decoration.showsMicrophones = false
        return scene
    }

    /// What arrives, in order: six red hosts, of whom the first and the last are heard.
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

    private func perform(_ arrivals: [(host: Int, packet: MediaPacket)]) throws -> Performance {
        var performance = Performance()
        let sink = SlowSink()
        let logs = ["small": PacketLog(), RenditionLadder.audioName: PacketLog()]
        let mixer = try ProgramMixer(configuration: Self.program, sink: { sink.take($0) })
        mixer.gauge.follow(DegradationLadder(upPatience: Self.patience))
        try mixer.offerRenditions { logs[$0]?.append($1) }
        mixer.apply(Self.scene(Self.hosts))
        let inputs = Self.hosts.map { mixer.addHost($0) }
        let anchor = inputs[0].anchor
        func decoded() -> Int64 { inputs.reduce(0) { $0 + $1.media.withLock { $0.pictureCount } } }
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
            if mixer.load.degradation == load.degradation { performance.economies[load.degradation] = economies }
            if load.degradation != performance.steps.last?.step ?? Degradation.none {
                performance.steps.append(Taken(step: load.degradation, at: now, reason: load.reason))
                if load.degradation == .none { end = now + 3000 }
            }
            if let taken = performance.steps.last, taken.step == .slate {
                // The scene of somebody who joins is in force before the host is there.
                if now > taken.at + 300, late == nil {
                    mixer.apply(Self.scene(Self.hosts + ["late"]))
                    MonotonicSleep.until(MonotonicTime.now().advanced(milliseconds: 80))
                    late = mixer.addHost("late")
                    performance.slateDecodes = -decoded()
                } else if now > taken.at + 1500, performance.lateEconomy == nil {
                    performance.lateEconomy = late?.economy.withLock { $0 }
                    performance.slateDecodes += decoded()
                    sink.hurry()
                }
            }
            MonotonicSleep.until(MonotonicTime.now().advanced(milliseconds: 10))
        }
        mixer.stop()
        performance.takeovers = mixer.encoder.snapshot().takeovers
        performance.frames = mixer.frames
        performance.program = sink.log.all
        performance.renditions = logs.mapValues(\.all)
        return performance
    }

    /// The sound of the same arrivals where the machine has all the time there is.
    private func soundWithoutHaste(
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
                inputs[host].receive(packet, arrival: Rehearsal.moment(Double(packet.timestamp)))
                next += 1
            }
            renderer.advance(to: Rehearsal.moment(time))
        }
        return log.all.filter(\.isAudio)
    }

    /// Which tiles of the picture shown last before each of `times` are red.
    private func areRed(_ program: [MediaPacket], _ hosts: [String], at times: [Int64]) throws -> [[Bool]] {
        var decoder = try VideoDecoder(configuration: try #require(program.first { $0.isVideo }))
        let canvas = try Canvas(width: Self.program.width, height: Self.program.height)
        let tiles = Self.scene(hosts).tiles.map { Rehearsal.middle(of: $0.rectangle) }
        let pictures = program.filter { $0.isVideo && !$0.isConfiguration }
        let wanted = times.map { time in pictures.last { $0.timestamp < time }?.timestamp ?? -1 }
        var red: [Int64: [Bool]] = [:]
        for packet in pictures {
            try decoder.decode(packet) { picture in
                guard wanted.contains(packet.timestamp) else { return }
                _ = try? canvas.draw(picture, in: canvas.bounds)
                red[packet.timestamp] = tiles.map { isNear(canvas.averageColour(of: $0), .red) }
            }
        }
        return wanted.map { red[$0] ?? [] }
    }

    @Test("Its threads do without one thing after the other, take it back later, and the sound is what it always is")
    func overload() throws {
        let arrivals = try Self.arrivals()
        let performance = try perform(arrivals)
        let steps = performance.steps
        let up = Array(Degradation.allCases.dropFirst())
        guard steps.map(\.step) == up + [.none] else {
            Issue.record("\(steps)")
            return
        }
        #expect(steps.dropLast().allSatisfy { $0.reason == "encoder_queue" } && steps.last?.reason == nil, "\(steps)")
        try checkPictures(performance)
        try checkSound(performance, arrivals)
        checkDecoding(performance)
        checkRenditions(performance)
    }

    private func checkPictures(_ performance: Performance) throws {
        let pictures = performance.program.filter { $0.isVideo && !$0.isConfiguration }
        #expect(performance.program.count { $0.isVideo && $0.isConfiguration } == 1 && performance.takeovers >= 2)
        let times = pictures.map(\.timestamp)
        #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
        // One of three is left out on purpose, and never the one that begins a group.
        let spared = performance.span(.fewerPictures).lowerBound..<performance.span(.slate).upperBound
        for time in times where spared.contains(time) {
            let index = Int((Double(time) * Double(Self.rate) / 1000).rounded())
            #expect(index % 3 != 2 || index % Self.program.pictureGroupLength == 0, "\(time)")
        }
        let lost = performance.frames.lost
        #expect(lost[.degrade, default: 0] > 5 && lost[.encode, default: 0] > 20, "\(lost)")
        let end = times.last ?? 0
        #expect(times.count { $0 > end - 2000 } == 2 * Self.rate)

        let whole = Array(repeating: true, count: 6)
        let looks: [(Degradation, [Bool])] = [
            (.lighterDecoding, whole), (.fewerPictures, whole), (.fewerTiles, [true, true, true, true, false, false]),
            (.noRenditions, [true, true, true, true, false, false]), (.slate, whole.map { !$0 }),
        ]
        let seen = try areRed(
            performance.program,
            Self.hosts,
            at: looks.map { performance.span($0.0).upperBound }
        )
        for ((step, expected), red) in zip(looks, seen) { #expect(red == expected, "\(step)") }
        // All that had their pictures before have them again, in the places of the scene that came meanwhile.
        let back = try areRed(performance.program, Self.hosts + ["late"], at: [end])
        #expect(back.first == whole + [false])
    }

    private func checkSound(_ performance: Performance, _ arrivals: [(host: Int, packet: MediaPacket)]) throws {
        let sounds = performance.program.filter(\.isAudio)
        let seconds = Double(sounds.last?.timestamp ?? 0) / 1000
        #expect(seconds > 8)
        let expected = try soundWithoutHaste(arrivals, seconds: seconds + 1)
        let others = zip(sounds, expected).filter { $0.timestamp != $1.timestamp || $0.body != $1.body }
        #expect(others.isEmpty && expected.count >= sounds.count, "other sound at \(others.map(\.0.timestamp)) ms")
        let apart = performance.renditions[RenditionLadder.audioName, default: []].filter(\.isAudio)
        #expect(apart.count > sounds.count - 5 && zip(sounds, apart).allSatisfy { $0.payload == $1.payload })
    }

    private func checkDecoding(_ performance: Performance) {
        let skip = VideoDecoder.Economy.skipDisposable
        let economies = performance.economies
        #expect(economies[.lightestCoding] == Array(repeating: .none, count: 6))
        #expect(economies[.lighterDecoding] == [.none, skip, skip, skip, skip, skip])
        #expect(economies[.fewerTiles] == [.none, skip, skip, skip, .onlyKeys, .onlyKeys])
        #expect(economies[.slate] == Array(repeating: .onlyKeys, count: 6))
        #expect(economies[Degradation.none] == Array(repeating: .none, count: 6))
        #expect(performance.lateEconomy == .onlyKeys)
        #expect(performance.slateDecodes <= 6, "\(performance.slateDecodes)")
    }

    private func checkRenditions(_ performance: Performance) {
        let pictures = performance.renditions["small", default: []].filter { $0.isVideo && !$0.isConfiguration }
        let steps = performance.steps
        guard let first = steps.first(where: { $0.step == .noRenditions }), let last = steps.last else { return }
        let gone = Int64(first.at) + 100..<Int64(last.at) - 50
        #expect(!pictures.contains { gone.contains($0.timestamp) })
        #expect(pictures.contains { $0.timestamp < gone.lowerBound })
        let again = pictures.first { $0.timestamp >= gone.upperBound }
        // Where they are taken up again, it is with a key picture of the program's.
        let keys = performance.program.filter(\.isKeyPicture).map(\.timestamp)
        #expect(again?.isKeyPicture == true && keys.contains(again?.timestamp ?? -1))
    }

    @Test("What its threads take to compose and to code is what is judged")
    func work() throws {
        let mixer = try ProgramMixer(configuration: Self.program, sink: { _ in })
        // So low a bound that any work is too much.
        let ladder = DegradationLadder(worst: .lightestCoding, bounds: (up: 1e-6, down: 0), upPatience: 0.3)
        mixer.gauge.follow(ladder)
        mixer.start()
        var seen: [Degradation] = []
        let deadline = MonotonicTime.now().advanced(milliseconds: 20_000)
        while MonotonicTime.now() < deadline, seen.last != .lightestCoding {
            let load = mixer.load
            if load.degradation != seen.last { seen.append(load.degradation) }
            if load.degradation != .none { #expect(load.reason == "frame_work" && load.ratio > 0) }
            MonotonicSleep.until(MonotonicTime.now().advanced(milliseconds: 20))
        }
        mixer.stop()
        #expect(seen == [.none, .lighterCoding, .lightestCoding])
        #expect(mixer.frames.counts.reduce(0, +) > 5)
    }
}
