import Media
import Testing

@Suite("Timestamp unwrapper")
struct TimestampUnwrapperTests {
    @Test("a timestamp after the wrap at 32 bits continues the time, and one before it steps back")
    func wrap() {
        var unwrapper = TimestampUnwrapper()
        let inputs: [UInt32] = [.max - 9, 10, .max - 4, 20]
        let times = inputs.map { unwrapper.unwrap($0, movesClock: true) }
        let wrap = Int64(1) << 32
        #expect(times == [wrap - 10, wrap + 10, wrap - 5, wrap + 20])
    }

    @Test("a timestamp that does not move the clock has no effect on later ones")
    func dataMessages() {
        var unwrapper = TimestampUnwrapper()
        let early = unwrapper.unwrap(0, movesClock: false)
        let first = unwrapper.unwrap(.max, movesClock: true)
        let metadata = unwrapper.unwrap(5, movesClock: false)
        let second = unwrapper.unwrap(.max - 1, movesClock: true)
        #expect(early == 0)
        #expect(first == Int64(UInt32.max))
        #expect(metadata == Int64(1) << 32 + 5)
        #expect(second == Int64(UInt32.max) - 1)
    }

    @Test("a step of half the range or more counts as a step back")
    func farthestStep() {
        var unwrapper = TimestampUnwrapper()
        _ = unwrapper.unwrap(0x8000_0000, movesClock: true)
        let forward = unwrapper.unwrap(0xFFFF_FFFF, movesClock: false)
        let back = unwrapper.unwrap(0, movesClock: false)
        #expect(forward == 0xFFFF_FFFF)
        #expect(back == 0)
    }
}
