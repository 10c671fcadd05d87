import Codecs
import Foundation
import Media
import NIOCore
import Stage
import Synchronization
import TestSupport
import Testing

@testable import Mixer

@Suite("Program on an overloaded machine", .enabled(if: TestRun.isFull))
struct OverloadTests {
    /// The packets of the program and its renditions.
    private final class Received: Sendable {
        private let packets = Mutex<[String: [MediaPacket]]>([:])

        func append(_ packet: MediaPacket, to name: String) {
            packets.withLock { $0[name, default: []].append(packet) }
        }

        subscript(name: String) -> [MediaPacket] { packets.withLock { $0[name] ?? [] } }

        /// The timestamps of a stream's frames within a time range, in milliseconds.
        func frames(_ name: String, _ time: Range<Int64>) -> [Int64] {
            self[name].filter { $0.isVideo && !$0.isConfiguration && time.contains($0.timestamp) }.map(\.timestamp)
        }
    }

    private static let program = ProgramConfiguration(
        width: 320,
        height: 180,
        frameRate: FrameRate(10),
        preset: .veryfast,
        ladder: RenditionLadder(
            renditions: [Rendition(name: "small", width: 160, height: 90, videoBitrate: 100)],
            hasAudioOnly: true
        )
    )
    private static let hosts = (0..<6).map { "host-\($0)" }
    /// The second from which on the machine is fast again.
    private static let recoveryTime = 27.0
    private static let end = 40.0

    /// A change of the step.
    private struct StepChange {
        let step: Degradation
        let at: Double
        let reason: MixerLoad.Reason?
    }

    /// Runs six hosts, of which the first has audio, on a machine that is overloaded until `recoveryTime`.
    private func run() throws -> (steps: [StepChange], colours: [Degradation: [YUVColour]], received: Received) {
        let received = Received()
        let renderer = try ProgramRenderer(configuration: Self.program) { received.append($0, to: "program") }
        try renderer.encodeRenditions { received.append($1, to: $0) }
        renderer.simulatedLoad = SimulatedLoad(
            start: MonotonicTime(nanoseconds: 0),
            rate: 10
        ) { now, _ in now.nanoseconds < Int64(Self.recoveryTime * 1e9) ? 0.2 : 0.02 }
        var scene = TestProgram.grid(Self.hosts, width: 320, height: 180)
        // Names would cover the middle of small tiles.
        scene.decoration.showsNames = false
        scene.decoration.showsMicrophones = false
        renderer.apply(scene)
        let loud = try HostClip.plain(.red, tone: 440, width: 160, height: 90, frameRate: 10)
        let feeds = Self.hosts.map { id in
            let clip = id == Self.hosts[0] ? loud : loud.video
            return (renderer.addHost(id), clip.packets(from: 0, to: Int64(Self.end * 1000)))
        }
        var next = Array(repeating: 0, count: feeds.count)
        var steps: [StepChange] = []
        var colours: [Degradation: [YUVColour]] = [:]
        for time in stride(from: Int64(0), to: Int64(Self.end * 1000), by: 50) {
            let now = MonotonicTime(nanoseconds: time * 1_000_000)
            for (index, (input, packets)) in feeds.enumerated() {
                while next[index] < packets.count, packets[next[index]].timestamp <= time {
                    input.receive(packets[next[index]], arrival: now)
                    next[index] += 1
                }
            }
            renderer.advance(to: now)
            guard let load = renderer.simulatedLoad?.load else { continue }
            if load.degradation != steps.last?.step ?? Degradation.none {
                steps.append(StepChange(step: load.degradation, at: Double(time) / 1000, reason: load.reason))
            }
            // The last value of each step remains, after all transitions.
            colours[load.degradation] = scene.tiles.map { tile in
                renderer.newestCanvas.averageColour(of: TestProgram.middle(of: tile.rectangle))
            }
        }
        return (steps, colours, received)
    }

    @Test("the program degrades step by step, never its audio, and recovers in time")
    func overload() throws {
        let (steps, colours, received) = try run()
        let up = Array(Degradation.allCases.dropFirst())
        #expect(steps.map(\.step) == up + [.none], "\(steps)")
        for (one, next) in zip(steps, steps.dropFirst()).prefix(up.count - 1) {
            #expect((3...4).contains(next.at - one.at), "\(next)")
        }
        // At once and over all steps, as soon as a second of frames was fast enough.
        let back = steps.last?.at ?? 0
        #expect((1...4).contains(back - Self.recoveryTime), "\(back)")
        #expect(steps.dropLast().allSatisfy { $0.reason == .work } && steps.last?.reason == nil)
        func span(_ step: Degradation) -> Range<Int64> {
            let index = steps.firstIndex { $0.step == step } ?? 0
            return Int64(steps[index].at * 1000)..<Int64(steps[index + 1].at * 1000)
        }

        // Video: one frame of three is dropped from its step on, the last tiles become cards, then a slate is shown.
        let whole = received.frames("program", span(.lighterDecoding)).count
        let fewer = received.frames("program", span(.fewerFrames)).count
        #expect(abs(Double(fewer) / Double(whole) - 2.0 / 3) < 0.07, "\(fewer) of \(whole)")
        let isRed = { (step: Degradation) in colours[step, default: []].map { isNear($0, .red) } }
        #expect(isRed(.fewerFrames) == Array(repeating: true, count: 6))
        #expect(isRed(.fewerTiles) == [true, true, true, true, false, false])
        #expect(isRed(.slate).allSatisfy { !$0 })

        // Renditions: none while they are paused, then from a keyframe of the program on. Audio has no gap.
        let first = steps.firstIndex { $0.step == .noRenditions } ?? 0
        let gone = Int64(steps[first].at * 1000) + 1000..<Int64(back * 1000) - 500
        #expect(received.frames("small", gone).isEmpty)
        #expect(received.frames("small", 0..<gone.lowerBound - 1500).count > 100)
        let again = received["small"].filter { $0.isVideo && $0.timestamp >= gone.upperBound }
        let keys = Set(received["program"].filter(\.isKeyframe).map(\.timestamp))
        #expect(again.first?.isKeyframe == true && keys.contains(again.first?.timestamp ?? -1))
        for name in ["program", RenditionLadder.audioName] {
            let audioPackets = received[name].filter { $0.isAudio && !$0.isConfiguration }
            #expect(audioPackets.count > Int(Self.end - 1) * 46, "\(name)")
            let steps = zip(audioPackets, audioPackets.dropFirst()).map { $1.timestamp - $0.timestamp }
            #expect(steps.allSatisfy { (21...22).contains($0) })
            try checkTone(of: received[name], name)
        }
    }

    /// Checks that the tone is equally loud in each second.
    private func checkTone(of packets: [MediaPacket], _ name: String) throws {
        let configuration = try #require(packets.first { $0.isAudio && $0.isConfiguration })
        var decoder = try AudioDecoder(codec: .aac, configuration: configuration)
        var power: [Int64: (sum: Double, count: Int)] = [:]
        for packet in packets where packet.isAudio && !packet.isConfiguration {
            try decoder.decode(packet) { block in
                block.withChannels { (left, _) in
                    let sum = left.reduce(0.0) { $0 + Double($1 * $1) }
                    let second = Int64(block.timestamp) / 1000
                    power[second, default: (0, 0)].sum += sum
                    power[second, default: (0, 0)].count += left.count
                }
            }
        }
        let levels = (2..<Int64(Self.end) - 2).map { second in
            let (sum, count) = power[second] ?? (0, 1)
            return 10 * log10(sum / Double(count))
        }
        // A sine of amplitude 0.3.
        #expect(levels.allSatisfy { abs($0 + 13.5) < 0.3 }, "\(name): \(levels)")
    }
}
