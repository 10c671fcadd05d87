import Testing

@testable import Mixer

@Suite("A host whose sound comes too late for good") struct StarvedHostTests {
    /// A packet of AAC at 48 kHz in milliseconds.
    private static let packet = 1024.0 / 48

    /// Lets sound come for some seconds.
    ///
    /// - Parameter delay: Milliseconds that a packet which was sent at that time is on its way.
    /// - Returns: When each packet came, and whether in time.
    private func sound(seconds: Double, delay: (Double) -> Double) -> [(arrival: Double, isLate: Bool)] {
        var timeline = HostTimeline(target: 300)
        var packets: [(arrival: Double, isLate: Bool)] = []
        var stamp = 0.0
        for quantum in 0..<Int(seconds * 50) {
            let now = Double(quantum) * 20
            while stamp + delay(stamp) <= now {
                let arrival = stamp + delay(stamp)
                timeline.observe(.picture, timestamp: Int64(stamp), arrival: arrival)
                timeline.observe(.sound, timestamp: Int64(stamp), arrival: arrival)
                let lead = Double(ProgramTime.soundLead) / 48
                packets.append((arrival, timeline.offset.map { arrival - stamp > $0 - lead } ?? true))
                stamp += Self.packet
            }
            timeline.advance(to: now)
        }
        return packets
    }

    @Test(
        "One that sends slower than time passes is heard in turns instead of never",
        arguments: [(0.5, 0.45), (0.8, 0.65), (0.9, 0.75), (0.95, 0.85), (0.99, 0.99)]
    )
    func slow(speed: Double, share: Double) {
        let packets = sound(seconds: 60) { 40 + $0 * (1 / speed - 1) }.filter { $0.arrival > 2000 }
        let heard = packets.filter { !$0.isLate }
        #expect(Double(heard.count) >= share * Double(packets.count))
        // In turns: nowhere is it missing for long.
        var last = 2000.0
        for packet in heard {
            #expect(packet.arrival - last < 800)
            last = packet.arrival
        }
    }

    @Test(
        "One whose way becomes longer by more than its target is heard again after half a second",
        arguments: [350.0, 900]
    )
    func detour(longer: Double) {
        let packets = sound(seconds: 30) { $0 < 10_000 ? 40 : 40 + longer }
        let late = packets.filter { $0.arrival > 1000 && $0.isLate }
        #expect(late.allSatisfy { $0.arrival < 10_040 + longer + 700 })
        #expect(late.count * Int(Self.packet) < 700)
    }

    @Test("A burst after a stall moves nothing, slow as it may be")
    func slowBurst() {
        var timeline = HostTimeline(target: 300)
        var stamp = 0.0
        for quantum in 0..<1500 {
            let now = Double(quantum) * 20
            // Nothing from 10 s to 12 s; what waited comes at three times the speed.
            func arrival(_ stamp: Double) -> Double {
                stamp < 10_000 ? stamp + 40 : max(stamp, 12_000 + (stamp - 10_000) / 3) + 40
            }
            while arrival(stamp) <= now {
                timeline.observe(.sound, timestamp: Int64(stamp), arrival: arrival(stamp))
                stamp += Self.packet
            }
            timeline.advance(to: now)
        }
        #expect(timeline.steps == 0)
    }
}
