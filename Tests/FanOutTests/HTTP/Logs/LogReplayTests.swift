@testable import FanOut
import Testing

@Suite("Log replay")
struct LogReplayTests {
    /// Removes what is due at a time.
    private func due(_ replay: inout LogReplay<String>, _ now: Int64) -> [String] {
        replay.removeDue(at: now).map { "\($0.entry)@\($0.time)" }
    }

    private func lines(_ lines: [(String, Int64?)]) -> [LogReplay<String>.Line] {
        lines.map { entry, age in
            .init(entry: entry, age: age, mark: age == nil ? nil : UInt64(bitPattern: Int64(entry.hashValue)))
        }
    }

    @Test("releases lines in order with their own time, after the lag of the log")
    func spread() {
        var replay = LogReplay<String>()
        // Thirty seconds in one batch, five seconds later, in any order.
        let outcome = replay.add(lines([("c", 5_000), ("a", 35_000), ("b", 20_000)]), of: "log", at: 100_000)
        #expect(outcome == .init(taken: 3))
        #expect(replay.count == 3 && replay.lag == 35_000)
        #expect(due(&replay, 99_999).isEmpty)
        #expect(due(&replay, 100_250) == ["a@65000"])
        #expect(due(&replay, 114_000).isEmpty)
        // The next batch continues where this one ends.
        _ = replay.add(lines([("d", 34_000)]), of: "log", at: 130_000)
        #expect(due(&replay, 140_000) == ["b@80000", "c@95000", "d@96000"])
        #expect(replay.count == 0)
    }

    @Test("lines of a log that becomes slower are released later, with unchanged times")
    func slower() {
        var replay = LogReplay<String>()
        _ = replay.add(lines([("a", 1_000), ("b", 0)]), of: "log", at: 100_000)
        _ = replay.add(lines([("late", 20_000)]), of: "log", at: 100_000)
        #expect(due(&replay, 101_000) == ["late@80000"])
        #expect(due(&replay, 118_000).isEmpty)
        #expect(due(&replay, 121_000) == ["a@99000", "b@100000"])
        // The lag does not decrease, and the next late line is in order.
        _ = replay.add(lines([("c", 0), ("d", 19_000)]), of: "log", at: 121_000)
        #expect(due(&replay, 122_500) == ["d@102000"])
    }

    @Test("each log has its own lag, which never decreases")
    func lags() {
        var replay = LogReplay<String>()
        _ = replay.add(lines([("slow", 60_000)]), of: "one", at: 100_000)
        _ = replay.add(lines([("quick", 1_000)]), of: "two", at: 100_000)
        _ = replay.add(lines([("early", 10_000)]), of: "one", at: 100_000)
        #expect(due(&replay, 101_000) == ["slow@40000", "quick@99000"])
        #expect(due(&replay, 151_000) == ["early@90000"])
    }

    @Test("repeated lines are reported and neither count nor change the lag; lines without a time never repeat")
    func repeated() {
        var replay = LogReplay<String>()
        let bundle = lines([("a", 3_000), ("b", 2_000), ("none", nil), ("none", nil)])
        #expect(replay.add(bundle, of: "log", at: 100_000) == .init(taken: 4))
        let again = lines([("a", 33_000), ("b", 32_000), ("c", 1_000)])
        #expect(replay.add(again, of: "log", at: 130_000) == .init(taken: 1, repeated: 2))
        #expect(replay.add(lines([("a", 63_000)]), of: "other", at: 160_000) == .init(repeated: 1))
        #expect(replay.lag == 3_000)
        #expect(due(&replay, 132_500) == ["a@97000", "b@98000", "c@129000", "none@132500", "none@132500"])
        #expect(replay.add(lines([("a", 93_000)]), of: "log", at: 190_000) == .init(late: 1))
    }

    @Test("lines from a clock that is ahead, and lines without a time, count as current")
    func clocks() {
        var replay = LogReplay<String>()
        _ = replay.add(lines([("ahead", -8_000), ("more", -9_000), ("none", nil)]), of: "log", at: 100_000)
        #expect(due(&replay, 102_000) == ["ahead@100000", "more@101000", "none@102000"])
        #expect(replay.lag == 0)
    }

    @Test("lines that are too old or too far in the future are reported, dropped, and do not change the lag")
    func late() {
        var replay = LogReplay<String>(longestLag: 90_000)
        let bundle = lines([("old", 90_001), ("future", -90_001), ("good", 90_000), ("new", -90_000)])
        #expect(replay.add(bundle, of: "log", at: 200_000) == .init(taken: 2, late: 2))
        #expect(due(&replay, 201_000) == ["good@110000"])
        #expect(due(&replay, 381_000) == ["new@290000"])
        #expect(replay.add(lines([("old", 500_000)]), of: "other", at: 400_000) == .init(late: 1))
        _ = replay.add(lines([("first", 2_000)]), of: "other", at: 400_000)
        #expect(due(&replay, 401_000) == ["first@398000"])
    }

    @Test("reports lines dropped because the buffer is full")
    func full() {
        var replay = LogReplay<String>(capacity: 2)
        let outcome = replay.add(lines([("a", 0), ("b", 0), ("c", 0)]), of: "log", at: 1_000)
        #expect(outcome == .init(taken: 2, dropped: 1))
        #expect(due(&replay, 2_000) == ["a@1000", "b@1000"])
        #expect(replay.add(lines([("d", 0)]), of: "log", at: 2_000).taken == 1)
    }

    @Test("logs beyond the limit share one lag")
    func logs() {
        var replay = LogReplay<String>()
        for number in 0..<200 { _ = replay.add(lines([("x\(number)", 0)]), of: "log \(number)", at: 0) }
        _ = replay.removeDue(at: 50_000)
        _ = replay.add(lines([("slow", 30_000)]), of: "log 150", at: 100_000)
        _ = replay.add(lines([("shared", 0)]), of: "log 199", at: 100_000)
        _ = replay.add(lines([("own", 0)]), of: "log 3", at: 100_000)
        #expect(due(&replay, 101_000) == ["slow@70000", "own@100000"])
        #expect(due(&replay, 131_000) == ["shared@100000"])
    }
}
