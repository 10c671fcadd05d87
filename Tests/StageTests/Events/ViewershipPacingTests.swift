import Testing

@testable import Stage

@Suite("Pacing the news of viewership")
struct ViewershipPacingTests {
    @Test("V14 at most once a second, and always once after the last change")
    func pacing() {
        var generator = SeededGenerator(seed: 14)
        for _ in 0..<50 {
            var pacing = ViewershipPacing()
            var (told, toldNumber, number) = ([Double](), 0, 0)
            var now = 0.0
            for _ in 0..<200 {
                now += Double.random(in: 0...0.3, using: &generator)
                if Int.random(in: 0..<3, using: &generator) == 0 {
                    number += Int.random(in: -2...2, using: &generator)
                    pacing.changed(to: number)
                }
                if pacing.isTime(at: now) {
                    told.append(now)
                    toldNumber = number
                }
            }
            for (earlier, later) in zip(told, told.dropFirst()) { #expect(later - earlier >= 1) }
            if pacing.isTime(at: now + 1) { toldNumber = number }
            #expect(toldNumber == number)
            #expect(pacing.isTime(at: now + 100) == false, "nothing changed since")
        }
    }

    @Test("V14 the same number is no news, and what was told inside of a change of mode is told")
    func sameNumber() {
        var pacing = ViewershipPacing()
        pacing.changed(to: 5)
        #expect(pacing.isTime(at: 10) == true)
        pacing.changed(to: 5)
        #expect(pacing.isTime(at: 20) == false)
        pacing.changed(to: 6)
        pacing.told(at: 20)
        #expect(pacing.isTime(at: 30) == false)
        pacing.changed()
        #expect(pacing.isTime(at: 20.9) == false)
        #expect(pacing.isTime(at: 21) == true)
    }

    @Test("V14 a room tells of viewers that come and go, once a second at most")
    func room() throws {
        var run = StageRun()
        for number in 0..<20 {
            try run.join("v\(number)", .receiveOnly)
            try run.heartbeat("v\(number)")
            run.wait(0.25)
        }
        run.wait(2)
        let updates = run.events().filter { $0.name == .viewershipUpdated }
        #expect((5...7).contains(updates.count))
        for (earlier, later) in zip(updates, updates.dropFirst()) { #expect(later.at - earlier.at >= 1) }
        #expect(updates.last.map { $0.at >= 1_005 } ?? false, "and once after the last change")
    }
}
