@testable import FanOut
import Testing

@Suite("When what a log tells is counted")
struct LogReplayTests {
    /// Takes out what is due at a moment.
    private func due(_ replay: inout LogReplay<String>, _ now: Int64) -> [String] {
        replay.takeDue(at: now).map { "\($0.entry)@\($0.due)" }
    }

    @Test("as far apart as it happened, once the log has had time to tell all of that moment")
    func spread() {
        var replay = LogReplay<String>()
        // Thirty seconds in one bundle, five seconds later; told in any order.
        let outcome = replay.add([("c", 5_000), ("a", 35_000), ("b", 20_000)], of: "log", at: 100_000)
        #expect(outcome == .init(taken: 3, late: 0, dropped: 0))
        #expect(replay.count == 3)
        #expect(due(&replay, 99_999).isEmpty)
        #expect(due(&replay, 100_250) == ["a@100000"])
        #expect(due(&replay, 114_000).isEmpty)
        // The next bundle goes on where this one ends.
        _ = replay.add([("d", 34_000)], of: "log", at: 130_000)
        #expect(due(&replay, 140_000) == ["b@115000", "c@130000", "d@131000"])
        #expect(replay.count == 0)
    }

    @Test("each log has its own delay, which never gets shorter")
    func delays() {
        var replay = LogReplay<String>()
        _ = replay.add([("slow", 60_000)], of: "one", at: 100_000)
        _ = replay.add([("quick", 1_000)], of: "two", at: 100_000)
        _ = replay.add([("early", 10_000)], of: "one", at: 100_000)
        #expect(due(&replay, 101_000) == ["slow@100000", "quick@100000"])
        #expect(due(&replay, 151_000) == ["early@150000"])
    }

    @Test("a clock that is ahead is a delay as well, and a line without a time is of the moment")
    func clocks() {
        var replay = LogReplay<String>()
        _ = replay.add([("ahead", -8_000), ("more", -9_000), ("none", nil)], of: "log", at: 100_000)
        #expect(due(&replay, 102_000) == ["ahead@100000", "none@100000", "more@101000"])
    }

    @Test("what is too old, or too far from the future, is told of and not taken, and moves nothing")
    func late() {
        var replay = LogReplay<String>(longestDelay: 90_000)
        let outcome = replay.add(
            [("old", 90_001), ("future", -90_001), ("good", 90_000), ("new", -90_000)],
            of: "log",
            at: 200_000
        )
        #expect(outcome == .init(taken: 2, late: 2, dropped: 0))
        #expect(due(&replay, 201_000) == ["good@200000"])
        #expect(due(&replay, 381_000) == ["new@380000"])
        let alone = replay.add([("old", 500_000)], of: "other", at: 400_000)
        #expect(alone == .init(taken: 0, late: 1, dropped: 0))
        _ = replay.add([("first", 2_000)], of: "other", at: 400_000)
        #expect(due(&replay, 401_000) == ["first@400000"])
    }

    @Test("what finds no room is told of")
    func full() {
        var replay = LogReplay<String>(capacity: 2)
        let outcome = replay.add([("a", 0), ("b", 0), ("c", 0)], of: "log", at: 1_000)
        #expect(outcome == .init(taken: 2, late: 0, dropped: 1))
        #expect(due(&replay, 2_000) == ["a@1000", "b@1000"])
        #expect(replay.add([("d", 0)], of: "log", at: 2_000).taken == 1)
    }

    @Test("so many logs are told apart, and the others share a delay")
    func logs() {
        var replay = LogReplay<String>()
        for number in 0..<200 { _ = replay.add([("x", 0)], of: "log \(number)", at: 0) }
        _ = replay.add([("slow", 30_000)], of: "log 150", at: 100_000)
        _ = replay.add([("shared", 0)], of: "log 199", at: 100_000)
        _ = replay.add([("own", 0)], of: "log 3", at: 100_000)
        #expect(due(&replay, 101_000).suffix(2) == ["slow@100000", "own@100000"])
        #expect(due(&replay, 131_000) == ["shared@130000"])
    }
}
