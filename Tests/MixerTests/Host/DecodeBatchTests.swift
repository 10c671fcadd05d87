import Media
import NIOCore
import Testing

@testable import Mixer

@Suite("Which pictures are decoded one after the other") struct DecodeBatchTests {
    /// Looks each 20 ms what is to be decoded of a host that sends 30 pictures a second, for eight seconds.
    ///
    /// - Returns: For each time that there was something, how many milliseconds before the turn of the first picture it
    ///   was taken, and how many were.
    private func batches(jitterTarget: Int) -> [(lead: Double, count: Int)] {
        let start = MonotonicTime(nanoseconds: 0)
        let input = HostInput(
            id: "a",
            anchor: ProgramAnchor(start: start, firstSample: 0),
            jitterTarget: jitterTarget
        )
        var sent: Int64 = 0
        var batches: [(lead: Double, count: Int)] = []
        for now in stride(from: 0.0, to: 10_000, by: 20) {
            while Double(sent * 100 / 3) <= now {
                let time = sent * 100 / 3
                let picture = MediaPacket.h264Picture(
                    isKey: sent % 60 == 0,
                    isDisposable: false,
                    timestamp: time,
                    capacity: 4
                ) { $0.writeInteger(UInt32(1)) }
                input.receive(picture, arrival: start.advanced(milliseconds: time))
                sent += 1
            }
            let offset = input.advance(to: now, isHeard: true).offset
            var taken: [MediaPacket] = []
            while let packet = input.takeDue(at: now) { taken.append(packet) }
            guard now >= 2000, let offset, let first = taken.first else { continue }
            batches.append((Double(first.timestamp) + offset - now, taken.count))
        }
        return batches
    }

    @Test("Held back long enough, several follow the first, and that is decoded neither earlier nor later")
    func several() {
        let batches = batches(jitterTarget: 300)
        #expect(batches.count > 50 && batches.map(\.count).reduce(0, +) >= 238)
        for batch in batches {
            #expect(batch.lead > 79 && batch.lead <= 100 && (3...4).contains(batch.count))
        }
    }

    @Test("Of a host that is held back for less, each is decoded as it comes")
    func single() {
        let batches = batches(jitterTarget: 60)
        #expect(batches.count > 230)
        #expect(batches.allSatisfy { $0.lead <= 61 && $0.lead > 39 && $0.count == 1 })
    }
}
