import FootlightTesting
import Media
import NIOCore
import TestSupport
import Testing

@Suite("Manual clock and recording sink") struct ManualClockTests {
    @Test("advances only when moved and never steps back")
    func moves() {
        let clock = ManualClock(start: MonotonicTime(nanoseconds: 5))
        #expect(clock.now.nanoseconds == 5)
        clock.advance(by: .milliseconds(1500))
        #expect(clock.now.nanoseconds == 1_500_000_005)
        clock.advance(by: .seconds(-1))
        clock.advance(to: MonotonicTime(nanoseconds: 7))
        #expect(clock.now.nanoseconds == 1_500_000_005)
        clock.advance(to: MonotonicTime(nanoseconds: 2_000_000_000))
        #expect(clock.now.milliseconds == 2000)
    }

    @Test("stores packets in order until they are drained")
    func storesPackets() {
        let sink = RecordingSink()
        for time in [3, 1, 2] as [Int64] {
            sink.receive(.aacConfiguration(ByteBuffer(bytes: [0x12, 0x10]), timestamp: time))
        }
        #expect(sink.packets.map(\.timestamp) == [3, 1, 2])
        #expect(sink.drain().count == 3)
        #expect(sink.count == 0)
    }
}
