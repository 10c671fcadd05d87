import Media
import Testing

@testable import Mixer

@Suite("A decoder that does not come back from a packet")
struct DecodeWatchTests {
    private let inputs = ["a", "b"].map { name in
        let anchor = ProgramAnchor(start: MonotonicTime(nanoseconds: 0), firstSample: 0)
        return HostInput(id: name, anchor: anchor, jitterTarget: 300)
    }

    private var works: [(id: String, work: UInt64)] { inputs.map { ($0.id, $0.work) } }

    @Test("is found after ten looks inside the same packet, once, and no other input is")
    func stuck() {
        var watch = DecodeWatch()
        inputs[0].beginWork()
        var found: [Int: String] = [:]
        for look in 1...30 {
            // The other one is found at work at each look, with another packet.
            inputs[1].beginWork()
            if let id = watch.look(works) { found[look] = id }
            inputs[1].endWork()
        }
        #expect(found == [10: "a"])
    }

    @Test("is none when it comes back in between")
    func slow() {
        var watch = DecodeWatch()
        for _ in 1...5 {
            inputs[0].beginWork()
            for _ in 1...9 { #expect(watch.look(works) == nil) }
            inputs[0].endWork()
            #expect(watch.look(works) == nil)
        }
    }
}
