import FootlightClient
import Stage
import FootlightTesting
import TestSupport
import Testing

@MainActor
@Suite(
    "A call changes its state only by the transitions U1 to U20",
    .enabled(if: TestRun.isFull),
    .timeLimit(.minutes(1))
)
struct CallPhaseRulesTests {
    /// A random number generator with a fixed seed.
    private struct SeededGenerator: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ (state >> 29)
        }
    }

    @Test("Random requests over a randomly failing connection to a real gateway: three calls at a time")
    func chaos() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for seed in [1, 2, 3] as [UInt64] {
                group.addTask { try await self.preference(seed: seed) }
            }
            try await group.waitForAll()
        }
    }

    private func preference(seed: UInt64) async throws {
        let show = try await GatewayFixture()
        let clock = ManualClientClock()
        let call = try await show.call("ann", clock: clock.clock)
        let log = CallLog(call)
        var dice = SeededGenerator(state: seed)
        for _ in 0..<150 {
            switch Int.random(in: 0..<12, using: &dice) {
            case 0...3: call.join(CallJoin(room: show.room, mode: .receiveOnly))
            case 4: call.hangUp()
            case 5: call.enterLobby(LobbyInfo(callID: show.room))
            case 6: call.join(CallJoin(room: "nowhere", mode: .receiveOnly))
            case 7: show.proxy.mode = .cut
            case 8: show.proxy.mode = .blackHole
            default: show.proxy.mode = .pass
            }
            for _ in 0..<Int.random(in: 1...4, using: &dice) {
                clock.advance(.milliseconds([10, 100, 400, 6_000].randomElement(using: &dice) ?? 10))
                try await Task.sleep(for: .milliseconds(4))
            }
        }
        // Leaving takes at most 10 s in any phase.
        show.proxy.mode = .pass
        call.hangUp()
        let asked = clock.now
        let isOut = try await soon(moving: clock, by: .milliseconds(100), over: show.proxy) {
            [.left, .initialized].contains(call.status.callState)
        }
        // The clock moves in steps, so the test observes it late.
        #expect(isOut && clock.now - asked <= .seconds(12), "\(seed)")
        _ = try await soon { log.statuses.last == call.status }
        #expect(CallPhaseRules.violation(in: log.statuses) == nil, "\(seed)")
        #expect(log.statuses.count > 10, "the dice did something: \(seed)")
    }
}
