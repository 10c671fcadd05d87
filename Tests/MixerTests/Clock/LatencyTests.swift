import Codecs
import Media
import Stage
import Synchronization
import TestSupport
import Testing

@testable import Mixer

@Suite("Latency from a host's packet to the program's", .enabled(if: TestRun.isFull)) struct LatencyTests {
    /// The virtual times at which packets left.
    private final class Departures: Sendable {
        let now = Mutex(0.0)
        let frames = Mutex<[(timestamp: Int64, at: Double)]>([])
    }

    /// Runs one host for fifteen seconds; composing and encoding take no time.
    ///
    /// - Returns: The sorted latencies of its frames from arrival to output in milliseconds, and the host's statistics.
    private func delays(
        target: Int,
        arrival: (MediaPacket) -> Double
    ) throws -> (delays: [Double], host: MixerStatistics.Host) {
        let departures = Departures()
        let renderer = try ProgramRenderer(
            configuration: ProgramConfiguration(
                width: 160,
                height: 90,
                videoBitrate: 200,
                preset: .ultrafast,
                jitterTarget: target
            ),
            encoderOptions: ""
        ) { packet in
            guard packet.isVideo, !packet.isConfiguration else { return }
            let now = departures.now.withLock { $0 }
            departures.frames.withLock { $0.append((packet.timestamp, now)) }
        }
        renderer.apply(ScheduledProgram.scene(["a"]))
        let input = renderer.addHost("a")
        let packets = try HostClip.plain(.red, tone: 440, width: 160, height: 90).packets(from: 0, to: 15_000)
        var timed: [(time: Double, packet: MediaPacket)] = []
        for packet in packets { timed.append((max(arrival(packet), timed.last?.time ?? 0), packet)) }
        var (next, gaps) = (0, Int64(0))
        for time in stride(from: 0, through: 15_000, by: 1) {
            departures.now.withLock { $0 = Double(time) }
            while next < timed.count, timed[next].time <= Double(time) {
                input.receive(timed[next].packet, arrival: TestProgram.moment(timed[next].time))
                next += 1
            }
            renderer.advance(to: TestProgram.moment(Double(time)))
            if time == 7000 { gaps = renderer.statistics.hosts[0].audioGaps }
        }
        var host = renderer.statistics.hosts[0]
        host.audioGaps -= gaps
        let offset = try #require(host.offset)
        // A frame shown at program time t has host time t minus the offset.
        let delays = departures.frames.withLock { $0 }.filter { $0.timestamp > 7000 }.map { frame, at in
            at - (Double(frame) - offset)
        }
        return (delays.sorted(), host)
    }

    @Test("a frame leaves within 85 ms and audio has no gap with a jitter target of 60 ms")
    func smallest() throws {
        let (delays, host) = try delays(target: 60) { Double($0.timestamp) }
        let median = delays[delays.count / 2]
        #expect(median > 60 && median <= 85, "\(median)")
        #expect((delays.last ?? 0) <= 100, "\(delays.last ?? 0)")
        #expect(host.audioGaps == 0 && host.audioSkips == 0 && host.offsetSteps == 0)
    }

    @Test("audio that comes in bunches with the frames leaves within 110 ms without a gap")
    func bunched() throws {
        // Like encoders that write in order of time: audio waits for the next frame.
        let (delays, host) = try delays(target: 60) { packet in
            packet.isVideo ? Double(packet.timestamp) : (Double(packet.timestamp) * 30 / 1000).rounded(.up) * 1000 / 30
        }
        let median = delays[delays.count / 2]
        #expect(median <= 110, "\(median)")
        #expect(host.audioGaps == 0 && host.audioSkips == 0)
    }

    @Test("audio 64 ms behind its frames, as from a live AAC encoder, adds no more latency than a file's")
    func behind() throws {
        let (delays, host) = try delays(target: 60) { Double($0.timestamp) + ($0.isVideo ? 0 : 64) }
        let median = delays[delays.count / 2]
        #expect(median - 64 <= 85, "\(median)")
        #expect(host.audioGaps == 0 && host.audioSkips == 0 && host.offsetSteps == 0)
    }

    @Test("the default target adds only the time that audio encoding needs")
    func usual() throws {
        let (delays, host) = try delays(target: 300) { Double($0.timestamp) }
        let median = delays[delays.count / 2]
        #expect(median >= 300 && median <= 320, "\(median)")
        #expect(host.audioGaps == 0 && host.late == 0)
    }

    @Test("each host has its own jitter target, which can change on air")
    func perHost() throws {
        let program = try ScheduledProgram()
        program.show(["a", "b"])
        program.join("a", jitterTarget: 100)
        program.join("b")
        let clip = try HostClip.plain(.red, tone: 440, width: 160, height: 90)
        for host in ["a", "b"] { program.feed(host, clip.packets(from: 0, to: 60_000)) { Double($0.timestamp) } }
        program.run(to: 3000)
        #expect(program.host("a").offset == 100 && program.host("b").offset == 300)
        program.renderer.setJitterTarget(400, for: "a")
        program.renderer.setJitterTarget(250, for: "b")
        program.run(to: 59_000)
        #expect(abs((program.host("a").offset ?? 0) - 400) < 25 && abs((program.host("b").offset ?? 0) - 250) < 25)
        for host in ["a", "b"] {
            #expect(program.host(host).offsetSteps == 0 && program.host(host).audioGaps == 0)
            #expect(program.host(host).audioSkips == 0)
        }
    }
}
