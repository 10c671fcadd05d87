@testable import Gateway
import Media
import Testing

@Suite("When a room's mixer runs")
final class MixerSupervisionTests {
    private typealias Action = MixerSupervision.Action
    private var supervision = MixerSupervision(configuration: .init(), firstEpoch: 100)
    private var now = MonotonicTime(nanoseconds: 1_000_000_000)

    private func wait(_ seconds: Double) { now = now.advanced(seconds: seconds) }
    private func hosts(_ hasHost: Bool) -> Action { supervision.hostsChanged(hasHost, now: now) }
    private func exit(jitter: Double = 0.5) -> Action { supervision.exited(now: now, jitter: jitter) }
    private func tick() -> Action { supervision.tick(now: now) }
    private func demand(_ demand: MixerSupervision.Demand, _ isOn: Bool) -> Action {
        supervision.demandChanged(demand, isOn, now: now)
    }

    /// Seconds until a tick starts the next process.
    private func secondsToStart() -> Double? {
        let start = now
        for _ in 0..<2_000 {
            if case .start = tick() { return now.seconds(since: start) }
            wait(0.01)
        }
        return nil
    }

    @Test("The first host starts it, more hosts change nothing")
    func starts() {
        #expect(hosts(false) == .none)
        #expect(hosts(true) == .start(epoch: 101))
        #expect(hosts(true) == .none)
        #expect(tick() == .none)
        #expect(supervision.isRunning)
    }

    @Test("One that was healthy and dies is back at once, with a higher epoch")
    func restarts() {
        _ = hosts(true)
        wait(31)
        #expect(exit() == .start(epoch: 102))
        wait(31)
        #expect(exit() == .start(epoch: 103))
        #expect(supervision.restarts == 2)
    }

    @Test("The first death comes back at once, further ones after 0.1 s, 0.2 s and so on up to 10 s")
    func backOff() throws {
        _ = hosts(true)
        wait(0.1)
        #expect(exit() == .start(epoch: 102))
        for expected in [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 10, 10] {
            wait(0.1)
            #expect(exit() == .none)
            let waited = try #require(secondsToStart())
            #expect(abs(waited - expected) < 0.02)
        }
        wait(31)
        if case .start = exit() {} else { Issue.record("a healthy run was not forgiven") }
    }

    @Test("Once the host that ended it is kept out, the next one has nothing to wait for")
    func causeGone() {
        _ = hosts(true)
        for _ in 0..<3 {
            _ = exit()
            _ = secondsToStart()
        }
        guard case .start = supervision.exited(now: now, jitter: 0.5, isCauseGone: true) else {
            Issue.record("it waits")
            return
        }
        #expect(!supervision.isInTrouble(now: now))
    }

    @Test("Jitter moves a wait by a fifth at most", arguments: [0, 0.25, 1])
    func jitter(jitter: Double) throws {
        _ = hosts(true)
        _ = exit(jitter: jitter)
        #expect(exit(jitter: jitter) == .none)
        let waited = try #require(secondsToStart())
        #expect(abs(waited - 0.1 * (0.8 + 0.4 * jitter)) < 0.02)
    }

    @Test("Without hosts it goes on for the idle time, then it is asked to stop, then killed")
    func idles() {
        _ = hosts(true)
        #expect(hosts(false) == .none)
        wait(299)
        #expect(tick() == .none)
        wait(1)
        #expect(tick() == .stop)
        wait(4.9)
        #expect(tick() == .none)
        wait(0.1)
        #expect(tick() == .kill)
        #expect(exit() == .none)
        #expect(!supervision.isRunning)
        #expect(!supervision.isFinished)
        #expect(supervision.restarts == 0)
        #expect(hosts(true) == .start(epoch: 102))
    }

    @Test("A host that returns within the idle time finds it running")
    func returns() {
        _ = hosts(true)
        _ = hosts(false)
        wait(200)
        #expect(hosts(true) == .none)
        wait(200)
        #expect(tick() == .none)
    }

    @Test("A livestream has its program before the first host, and after the last one for as long as it is on")
    func livestream() {
        #expect(hosts(false) == .none)
        #expect(demand(.livestream, true) == .start(epoch: 101))
        #expect(hosts(true) == .none && hosts(false) == .none)
        wait(3000)
        #expect(tick() == .none && supervision.isRunning)
        #expect(demand(.livestream, false) == .stop)
        #expect(exit() == .none)
        // Within the idle time a livestream that ends takes nothing away.
        _ = hosts(true)
        _ = demand(.livestream, true)
        _ = hosts(false)
        wait(10)
        #expect(demand(.livestream, false) == .none)
        wait(290)
        #expect(tick() == .stop)
    }

    @Test(
        "So has a recording and a playlist that was asked for, each until it is stopped, and together until both are",
        arguments: [(MixerSupervision.Demand.recording, MixerSupervision.Demand.hls), (.hls, .livestream)]
    )
    func demands(first: MixerSupervision.Demand, second: MixerSupervision.Demand) {
        #expect(hosts(false) == .none)
        #expect(demand(first, true) == .start(epoch: 101))
        #expect(demand(first, true) == .none && demand(second, true) == .none)
        wait(3000)
        #expect(exit() == .start(epoch: 102))
        #expect(demand(first, false) == .none && supervision.isRunning)
        #expect(demand(second, false) == .stop)
        #expect(exit() == .none)
        // Nor does it end with the time after the last host.
        #expect(hosts(true) == .start(epoch: 103))
        #expect(demand(first, true) == .none && hosts(false) == .none)
        wait(301)
        #expect(tick() == .none)
        #expect(demand(first, false) == .stop)
    }

    @Test("Viewers keep the program, and once the last one has left it goes on for the idle time as after a host")
    func viewers() {
        #expect(demand(.viewers, true) == .none, "one who watches what comes from elsewhere begins nothing")
        #expect(demand(.opening, true) == .start(epoch: 101))
        wait(1000)
        #expect(demand(.opening, true) == .none && tick() == .none)
        #expect(demand(.opening, false) == .none && tick() == .none)
        wait(1000)
        #expect(tick() == .none && demand(.viewers, false) == .none)
        wait(200)
        #expect(demand(.viewers, false) == .none, "told again, it is no news")
        wait(99)
        #expect(tick() == .none)
        wait(1)
        #expect(tick() == .stop)
        #expect(exit() == .none)
        // Those of a host's show stay behind when the host leaves.
        #expect(hosts(true) == .start(epoch: 102))
        #expect(demand(.viewers, true) == .none && hosts(false) == .none)
        wait(301)
        #expect(tick() == .none && supervision.isRunning)
        #expect(exit() == .start(epoch: 103), "one that dies is started again for them")
        #expect(demand(.viewers, false) == .none)
        wait(300)
        #expect(tick() == .stop)
    }

    @Test("A livestream asks for no program of a room that has ended, and nothing of it is left in the next one")
    func livestreamOfEndedRoom() {
        _ = hosts(true)
        _ = demand(.livestream, true)
        _ = supervision.roomLingers(now: now)
        wait(1)
        #expect(exit() == .none && secondsToStart() == nil)
        _ = supervision.roomEnded(now: now)
        #expect(demand(.livestream, true) == .none)
        #expect(supervision.roomBegan(now: now) == .none)
        #expect(secondsToStart() == nil)
        #expect(demand(.livestream, true) == .start(epoch: 102))
    }

    @Test("One that dies while the room idles is started again, for the program goes on")
    func diesIdle() {
        _ = hosts(true)
        _ = hosts(false)
        wait(60)
        #expect(exit() == .start(epoch: 102))
    }

    @Test("The end of the room stops it at once, and nothing follows")
    func ends() {
        _ = hosts(true)
        #expect(supervision.roomEnded(now: now) == .stop)
        #expect(!supervision.isFinished)
        #expect(exit() == .none)
        #expect(supervision.isFinished)
        #expect(secondsToStart() == nil)
    }

    @Test("A room that has ended keeps the process it has for its linger time, and gets no other")
    func lingers() {
        _ = hosts(true)
        #expect(supervision.roomLingers(now: now) == .none)
        wait(60)
        #expect(hosts(false) == .none && tick() == .none && supervision.isRunning)
        #expect(supervision.roomEnded(now: now) == .stop)
        #expect(exit() == .none)
        #expect(supervision.isFinished)

        _ = hosts(true)
        _ = supervision.roomLingers(now: now)
        wait(1)
        #expect(exit() == .none && secondsToStart() == nil)
        #expect(!supervision.isFinished && supervision.restarts == 0)
        #expect(supervision.roomEnded(now: now) == .none)
        #expect(supervision.isFinished)
    }

    @Test("A room that ends while a start is waited for is finished at once")
    func endsWaiting() {
        _ = hosts(true)
        _ = exit()
        #expect(exit() == .none)
        #expect(supervision.roomEnded(now: now) == .none)
        #expect(supervision.isFinished)
    }

    @Test("A new room of the same name gets its mixer when the old one's process is gone")
    func nameTakenOver() {
        _ = hosts(true)
        #expect(supervision.roomEnded(now: now) == .stop)
        wait(0.1)
        #expect(hosts(true) == .none)
        wait(0.1)
        #expect(exit() == .start(epoch: 102))
    }

    @Test("Whatever happens, there are never two processes, and epochs rise", arguments: 0..<50)
    func neverTwo(seed: Int) {
        var random = SplitMix(state: UInt64(seed))
        var isAlive = false
        var epoch: UInt64 = 100
        var wasAsked = false
        for _ in 0..<2_000 {
            wait(Double.random(in: 0...3, using: &random))
            let action: Action
            switch Int.random(in: 0..<10, using: &random) {
            case 0, 1: action = hosts(Bool.random(using: &random))
            case 2 where Int.random(in: 0..<5, using: &random) == 0: action = supervision.roomEnded(now: now)
            case 5 where Int.random(in: 0..<5, using: &random) == 0: action = supervision.roomLingers(now: now)
            case 6:
                let wish = MixerSupervision.Demand.allCases.randomElement(using: &random) ?? .viewers
                action = demand(wish, Bool.random(using: &random))
            case 7 where Int.random(in: 0..<9, using: &random) == 0: action = supervision.roomBegan(now: now)
            case 3 where isAlive, 4 where isAlive && wasAsked:
                isAlive = false
                action = exit(jitter: .random(in: 0...1, using: &random))
            default: action = tick()
            }
            switch action {
            case .start(let next):
                #expect(!isAlive)
                #expect(next > epoch)
                epoch = next
                isAlive = true
                wasAsked = false
            case .stop:
                #expect(isAlive && !wasAsked)
                wasAsked = true
            case .kill:
                #expect(isAlive && wasAsked)
            case .replace:
                Issue.record("nobody said that it hangs")
            case .none:
                break
            }
            #expect(supervision.isRunning == isAlive)
        }
    }
}

/// Numbers that look random and are the same for the same seed.
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
