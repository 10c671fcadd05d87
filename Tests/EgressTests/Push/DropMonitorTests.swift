import Media
import Testing

@testable import Egress

@Suite("Whether a target keeps up with the program")
struct DropMonitorTests {
    private var watch = DropMonitor(limits: .init())
    private var now = MonotonicTime(nanoseconds: 0)
    private var frames = DropMonitor.FrameCounts(offered: 1000, dropped: 400)

    /// Starts a connection, whose totals are those of the ones before.
    private mutating func begin() {
        watch.begin()
        #expect(watch.update(with: frames, now: now) == nil)
    }

    /// Lets five seconds with a hundred frames go by for each number of dropped ones; what each led to.
    private mutating func pass(_ drops: UInt64..., offered: UInt64 = 100) -> [DropMonitor.Change?] {
        drops.map { dropped in
            for _ in 0..<4 {
                now = now.advanced(seconds: 1)
                frames.offered += offered / 5
                #expect(watch.update(with: frames, now: now) == nil, "in the midst of a window")
            }
            now = now.advanced(seconds: 1)
            frames.offered += offered - offered / 5 * 4
            frames.dropped += dropped
            return watch.update(with: frames, now: now)
        }
    }

    private func nothing(_ windows: Int) -> [DropMonitor.Change?] { Array(repeating: nil, count: windows) }

    @Test("three windows in a row with a twentieth dropped make it slow, and three without a drop end that")
    mutating func slow() {
        begin()
        #expect(pass(5, 5) == nothing(2))
        #expect(!watch.isSlow)
        #expect(pass(5) == [.isSlow])
        #expect(watch.isSlow)
        #expect(pass(5, 30, 5, 5) == nothing(4))
        #expect(pass(0, 0) == nothing(2))
        #expect(watch.isSlow)
        #expect(pass(0) == [.keepsUp])
        #expect(!watch.isSlow)
        #expect(pass(0, 0, 0, 0) == nothing(4))
    }

    @Test("windows that are not in a row are nothing, on the way there and on the way back")
    mutating func interrupted() {
        begin()
        #expect(pass(20, 20, 4, 20, 20, 0, 5, 5) == nothing(8))
        #expect(pass(5) == [.isSlow])
        // Less than what makes it slow is still not without drops.
        #expect(pass(0, 0, 1, 0, 0, 5) == nothing(6))
        #expect(watch.isSlow)
    }

    @Test("six windows in a row with more than half dropped are hopeless, told once for a connection")
    mutating func failing() {
        begin()
        #expect(pass(51, 51, 51, 51, 51) == [nil, nil, .isSlow, nil, nil])
        #expect(!watch.isFailing)
        #expect(pass(51) == [.isFailing])
        #expect(watch.isFailing)
        #expect(pass(51) == nothing(1))
        // The next connection gets as long, and is slow until it has shown otherwise.
        begin()
        #expect(!watch.isFailing && watch.isSlow)
        #expect(pass(90, 90, 90, 90, 90) == nothing(5))
        #expect(pass(90) == [.isFailing])
        begin()
        #expect(pass(0, 0, 0) == [nil, nil, .keepsUp])
    }

    @Test("half of the frames is not more than half, and one window with so many begins the count anew")
    mutating func half() {
        begin()
        #expect(pass(51, 51, 51, 51, 51, 50) == [nil, nil, .isSlow, nil, nil, nil])
        #expect(pass(51, 51, 51, 51, 51) == nothing(5))
        #expect(pass(51) == [.isFailing])
    }

    @Test("a time without frames says nothing, and what is dropped late is dropped")
    mutating func still() {
        begin()
        #expect(pass(50, 50) == nothing(2))
        #expect(pass(0, 0, 0, offered: 0) == nothing(3))
        #expect(pass(20, offered: 0) == [.isSlow])
        #expect(pass(0, 0, 0, 0, offered: 0) == nothing(4))
        #expect(watch.isSlow)
    }
}
