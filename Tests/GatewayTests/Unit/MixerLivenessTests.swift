@testable import Gateway
import Media
import Testing

@Suite("When a room's mixer counts as hung")
struct MixerLivenessTests {
    private typealias Hang = MixerLiveness.Hang
    private var liveness = MixerLiveness(configuration: .init())
    private var signs = MixerLiveness.Signs()
    private var now = MonotonicTime(nanoseconds: 1_000_000_000)

    init() { liveness.processStarted(now: now) }

    /// Looks ten times a second; what a mixer does, it does at each look.
    ///
    /// - Returns: The first hang, and after how many seconds.
    private mutating func run(_ seconds: Double, reports: Bool, packets: Bool) -> (hang: Hang, after: Double)? {
        let start = now
        while now.seconds(since: start) < seconds {
            now = now.advanced(milliseconds: 100)
            if reports { signs.reports += 1 }
            if packets { signs.packets += 3 }
            if let hang = liveness.look(signs, now: now) { return (hang, now.seconds(since: start)) }
        }
        return nil
    }

    @Test("One that publishes never hangs, whether it reports or not", arguments: [true, false])
    mutating func publishing(reports: Bool) {
        #expect(run(600, reports: reports, packets: true) == nil)
    }

    @Test("Five seconds without a packet are a hang, and the reason says whether it still reports")
    mutating func silence() throws {
        for (reports, hang) in [(false, Hang.silent), (true, .publishesNothing)] {
            liveness = MixerLiveness(configuration: .init())
            liveness.processStarted(now: now)
            #expect(run(10, reports: true, packets: true) == nil)
            let found = try #require(run(10, reports: reports, packets: false))
            #expect(found.hang == hang && abs(found.after - 5) < 0.15, "\(found)")
        }
    }

    @Test("One that starts has twenty seconds for its first packet; packets of the process before do not count")
    mutating func startup() throws {
        #expect(run(30, reports: true, packets: true) == nil)
        // The last of them came after the last look.
        signs.packets += 5
        liveness.processStarted(now: now)
        let found = try #require(run(30, reports: true, packets: false))
        #expect(found.hang == .neverPublished && abs(found.after - 20) < 0.15, "\(found)")
    }

    @Test("Each hang in a row doubles the time up to forty seconds; a minute without one forgives")
    mutating func backOff() throws {
        for expected in [5.0, 10, 20, 40, 40] {
            #expect(run(1, reports: true, packets: true) == nil)
            let found = try #require(run(60, reports: false, packets: false))
            #expect(abs(found.after - expected) < 0.15, "\(found) instead of \(expected)")
            liveness.processStarted(now: now)
        }
        #expect(run(61, reports: true, packets: true) == nil)
        #expect(abs(try #require(run(60, reports: false, packets: false)).after - 5) < 0.15)
    }

    @Test("Ten seconds in which the gateway itself stood still are no hang, and count for nothing afterwards")
    mutating func stoppedGateway() throws {
        #expect(run(10, reports: true, packets: true) == nil)
        #expect(run(2, reports: false, packets: false) == nil)
        now = now.advanced(seconds: 10)
        #expect(liveness.look(signs, now: now) == nil)
        #expect(run(30, reports: true, packets: true) == nil)
        #expect(run(2, reports: false, packets: false) == nil)
        now = now.advanced(seconds: 10)
        #expect(liveness.look(signs, now: now) == nil)
        let found = try #require(run(10, reports: false, packets: false))
        #expect(abs(found.after - 3) < 0.15, "\(found)")
    }

    @Test("A room's supervision kills a mixer that hangs, and starts another one when it is gone, not before")
    mutating func supervision() {
        var supervision = MixerSupervision(configuration: .init(), firstEpoch: 7)
        #expect(supervision.hostsChanged(true, now: now) == .start(epoch: 8))
        for look in 1...400 {
            now = now.advanced(milliseconds: 100)
            signs.packets += 1
            #expect(supervision.tick(signs, now: now) == .none, "\(look)")
        }
        var actions: [MixerSupervision.Action] = []
        for _ in 0..<100 {
            now = now.advanced(milliseconds: 100)
            let action = supervision.tick(signs, now: now)
            if action != .none { actions.append(action) }
        }
        #expect(actions == [.replace(.silent)])
        #expect(supervision.isRunning)
        #expect(supervision.exited(now: now, jitter: 0.5) == .start(epoch: 9))
        #expect(supervision.restarts == 1 && !supervision.isInTrouble(now: now))
    }

    @Test("A room whose mixer dies three times in a row is in trouble until one was healthy")
    mutating func trouble() {
        var supervision = MixerSupervision(configuration: .init(), firstEpoch: 7)
        _ = supervision.hostsChanged(true, now: now)
        for death in 1...3 {
            now = now.advanced(seconds: 1)
            if case .start = supervision.exited(now: now, jitter: 0.5) { #expect(death == 1) }
            #expect(supervision.isInTrouble(now: now) == (death == 3))
            now = now.advanced(seconds: 10)
            _ = supervision.tick(now: now)
        }
        #expect(supervision.isInTrouble(now: now))
        now = now.advanced(seconds: 30)
        #expect(!supervision.isInTrouble(now: now))
    }
}
