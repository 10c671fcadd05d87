import Codecs
import Media
import Stage
import Synchronization
import Testing

@testable import Mixer

@Suite("From a host's packet to the program's") struct LatencyTests {
    /// When the virtual clock stood at what as packets left.
    private final class Departures: Sendable {
        let now = Mutex(0.0)
        let pictures = Mutex<[(timestamp: Int64, at: Double)]>([])
    }

    /// Runs one host for fifteen seconds, in which composing and coding take no time.
    ///
    /// - Returns: How long after its arrival each of its pictures left the program, in milliseconds, sorted; and how the
    ///   host did.
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
                preset: "ultrafast",
                jitterTarget: target
            ),
            encoderOptions: ""
        ) { packet in
            guard packet.isVideo, !packet.isConfiguration else { return }
            let now = departures.now.withLock { $0 }
            departures.pictures.withLock { $0.append((packet.timestamp, now)) }
        }
        renderer.apply(Timetable.scene(["a"]))
        let input = renderer.addHost("a")
        let packets = try HostClip.plain(.red, tone: 440, width: 160, height: 90).packets(from: 0, to: 15_000)
        var timed: [(time: Double, packet: MediaPacket)] = []
        for packet in packets { timed.append((max(arrival(packet), timed.last?.time ?? 0), packet)) }
        var (next, gaps) = (0, Int64(0))
        for time in stride(from: 0, through: 15_000, by: 1) {
            departures.now.withLock { $0 = Double(time) }
            while next < timed.count, timed[next].time <= Double(time) {
                input.receive(timed[next].packet, arrival: Rehearsal.moment(timed[next].time))
                next += 1
            }
            renderer.advance(to: Rehearsal.moment(Double(time)))
            if time == 7000 { gaps = renderer.statistics.hosts[0].soundGaps }
        }
        var host = renderer.statistics.hosts[0]
        host.soundGaps -= gaps
        let offset = try #require(host.offset)
        // A picture shown at program time t is one that the host took at t minus the offset.
        let delays = departures.pictures.withLock { $0 }.filter { $0.timestamp > 7000 }.map { picture, at in
            at - (Double(picture) - offset)
        }
        return (delays.sorted(), host)
    }

    @Test("With a jitter target of 60 ms a picture leaves within 85 ms, and the sound has no gap")
    func smallest() throws {
        let (delays, host) = try delays(target: 60) { Double($0.timestamp) }
        let median = delays[delays.count / 2]
        #expect(median > 60 && median <= 85, "\(median)")
        #expect((delays.last ?? 0) <= 100, "\(delays.last ?? 0)")
        #expect(host.soundGaps == 0 && host.soundSkips == 0 && host.offsetSteps == 0)
    }

    @Test("Sound that comes in bunches with the pictures still leaves within 110 ms, without a gap")
    func bunched() throws {
        // As encoders do that write in order of time: sound waits for the next picture.
        let (delays, host) = try delays(target: 60) { packet in
            packet.isVideo ? Double(packet.timestamp) : (Double(packet.timestamp) * 30 / 1000).rounded(.up) * 1000 / 30
        }
        let median = delays[delays.count / 2]
        #expect(median <= 110, "\(median)")
        #expect(host.soundGaps == 0 && host.soundSkips == 0)
    }

    @Test("Sound that comes 64 ms behind its pictures, as AAC does from a microphone, adds no more than a file's does")
    func behind() throws {
        let (delays, host) = try delays(target: 60) { Double($0.timestamp) + ($0.isVideo ? 0 : 64) }
        let median = delays[delays.count / 2]
        #expect(median - 64 <= 85, "\(median)")
        #expect(host.soundGaps == 0 && host.soundSkips == 0 && host.offsetSteps == 0)
    }

    @Test("With the usual target it is that, and what coding takes to have sound beside the picture")
    func usual() throws {
        let (delays, host) = try delays(target: 300) { Double($0.timestamp) }
        let median = delays[delays.count / 2]
        #expect(median >= 300 && median <= 320, "\(median)")
        #expect(host.soundGaps == 0 && host.late == 0)
    }

    @Test("A host's target is its own, and can be changed on air")
    func perHost() throws {
        let table = try Timetable()
        table.show(["a", "b"])
        table.join("a", jitterTarget: 100)
        table.join("b")
        let clip = try HostClip.plain(.red, tone: 440, width: 160, height: 90)
        for host in ["a", "b"] { table.feed(host, clip.packets(from: 0, to: 60_000)) { Double($0.timestamp) } }
        table.run(to: 3000)
        #expect(table.host("a").offset == 100 && table.host("b").offset == 300)
        table.renderer.setJitterTarget(400, for: "a")
        table.renderer.setJitterTarget(250, for: "b")
        table.run(to: 59_000)
        #expect(abs((table.host("a").offset ?? 0) - 400) < 25 && abs((table.host("b").offset ?? 0) - 250) < 25)
        for host in ["a", "b"] {
            #expect(table.host(host).offsetSteps == 0 && table.host(host).soundGaps == 0)
            #expect(table.host(host).soundSkips == 0)
        }
    }
}
