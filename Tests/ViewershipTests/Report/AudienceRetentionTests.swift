import Stage
import Testing

@testable import Viewership

@Suite("Retention of an audience")
struct AudienceRetentionTests {
    private func shares(_ retention: AudienceRetention) -> [[Int]] {
        retention.points.map { [Int($0.after), $0.joins, $0.watching] }
    }

    @Test("a playback counts for each time that it could have lasted, and is watching where it did")
    func counts() {
        var retention = AudienceRetention(began: 0, end: 250, step: 100)
        // From the start to the end, for one step, and for less than one.
        retention.add(from: 0, to: nil, because: nil)
        retention.add(from: 10, to: 110, because: .left)
        retention.add(from: 40, to: 139, because: .timedOut)
        // Too late to have lasted one step.
        retention.add(from: 200, to: 220, because: .left)
        #expect(shares(retention) == [[0, 4, 4], [100, 3, 2], [200, 3, 1]])
    }

    @Test("a playback that the end of the room or of the gateway cuts off says nothing about the time beyond")
    func cutOff() {
        var retention = AudienceRetention(began: 0, end: 1000, step: 100)
        retention.add(from: 700, to: 990, because: .roomEnded)
        retention.add(from: 0, to: 320, because: .shutdown)
        #expect(shares(retention).prefix(5) == [[0, 2, 2], [100, 2, 2], [200, 2, 2], [300, 1, 1], [400, 0, 0]])
        #expect(retention.points.count == 11)
    }

    @Test("times outside of the broadcast are moved to its limits")
    func limits() {
        var retention = AudienceRetention(began: 100, end: 300, step: 100)
        retention.add(from: 0, to: 900, because: .left)
        retention.add(from: 400, to: nil, because: nil)
        #expect(shares(retention) == [[0, 2, 2], [100, 1, 1], [200, 1, 1]])
        #expect(shares(AudienceRetention(began: 5, end: 0, step: 0)) == [[0, 0, 0]])
    }
}
