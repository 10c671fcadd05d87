import Media
import TestSupport
import Testing

@testable import Gateway

@Suite("Supervision of a room's mixer")
final class MixerSupervisionTests {
    private typealias Action = MixerSupervision.Action
    private var supervision = MixerSupervision(configuration: .init(), firstEpoch: 100)
    private var now = MonotonicTime(nanoseconds: 1_000_000_000)

    private func wait(_ seconds: Double) { now = now.advanced(seconds: seconds) }
    private func hosts(_ hasHost: Bool) -> Action { supervision.hostsChanged(hasHost, now: now) }
    private func exit(chance: Double = 0.5) -> Action { supervision.exited(now: now, chance: chance) }
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

    @Test("the first host starts a process, and further hosts change nothing")
    func starts() {
        #expect(hosts(false) == .none)
        #expect(hosts(true) == .start(epoch: 101))
        #expect(hosts(true) == .none)
        #expect(tick() == .none)
        #expect(supervision.isRunning)
    }

    @Test("restarts at once with a higher epoch after a healthy run")
    func restarts() {
        _ = hosts(true)
        wait(31)
        #expect(exit() == .start(epoch: 102))
        wait(31)
        #expect(exit() == .start(epoch: 103))
        #expect(supervision.restarts == 2)
    }

    @Test("restarts at once after the first failure, then with a backoff from 0.1 s to 10 s")
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

    @Test("restarts without backoff after the responsible host was quarantined")
    func quarantinedHost() {
        _ = hosts(true)
        for _ in 0..<3 {
            _ = exit()
            _ = secondsToStart()
        }
        guard case .start = supervision.exited(now: now, chance: 0.5, isCauseGone: true) else {
            Issue.record("it waits")
            return
        }
        #expect(!supervision.isFailing(now: now))
    }

    @Test("jitter changes the backoff by at most a fifth", arguments: [0, 0.25, 1])
    func jitter(jitter: Double) throws {
        _ = hosts(true)
        _ = exit(chance: jitter)
        #expect(exit(chance: jitter) == .none)
        let waited = try #require(secondsToStart())
        #expect(abs(waited - 0.1 * (0.8 + 0.4 * jitter)) < 0.02)
    }

    @Test("without hosts stops after the idle time, and kills a process that does not end")
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

    @Test("a host that returns within the idle time finds the process running")
    func returns() {
        _ = hosts(true)
        _ = hosts(false)
        wait(200)
        #expect(hosts(true) == .none)
        wait(200)
        #expect(tick() == .none)
    }

    @Test("a livestream keeps the program running without hosts")
    func livestream() {
        #expect(hosts(false) == .none)
        #expect(demand(.livestream, true) == .start(epoch: 101))
        #expect(hosts(true) == .none && hosts(false) == .none)
        wait(3000)
        #expect(tick() == .none && supervision.isRunning)
        #expect(demand(.livestream, false) == .stop)
        #expect(exit() == .none)
        // Within the idle time the end of a livestream stops nothing.
        _ = hosts(true)
        _ = demand(.livestream, true)
        _ = hosts(false)
        wait(10)
        #expect(demand(.livestream, false) == .none)
        wait(290)
        #expect(tick() == .stop)
    }

    @Test(
        "a recording and a playlist by command keep the program running until both are stopped",
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
        // The idle time does not end the process either.
        #expect(hosts(true) == .start(epoch: 103))
        #expect(demand(first, true) == .none && hosts(false) == .none)
        wait(301)
        #expect(tick() == .none)
        #expect(demand(first, false) == .stop)
    }

    @Test("viewers keep the program running, and for the idle time after the last one")
    func viewers() {
        #expect(demand(.viewers, true) == .none, "viewers alone do not start a program")
        #expect(demand(.opening, true) == .start(epoch: 101))
        wait(1000)
        #expect(demand(.opening, true) == .none && tick() == .none)
        #expect(demand(.opening, false) == .none && tick() == .none)
        wait(1000)
        #expect(tick() == .none && demand(.viewers, false) == .none)
        wait(200)
        #expect(demand(.viewers, false) == .none, "an unchanged demand has no effect")
        wait(99)
        #expect(tick() == .none)
        wait(1)
        #expect(tick() == .stop)
        #expect(exit() == .none)
        // Viewers remain when the host leaves.
        #expect(hosts(true) == .start(epoch: 102))
        #expect(demand(.viewers, true) == .none && hosts(false) == .none)
        wait(301)
        #expect(tick() == .none && supervision.isRunning)
        #expect(exit() == .start(epoch: 103), "one that dies is started again for them")
        #expect(demand(.viewers, false) == .none)
        wait(300)
        #expect(tick() == .stop)
    }

    @Test("a livestream starts no program of an ended room, and does not affect the next room")
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

    @Test("restarts after a failure within the idle time")
    func restartsWhileIdle() {
        _ = hosts(true)
        _ = hosts(false)
        wait(60)
        #expect(exit() == .start(epoch: 102))
    }

    @Test("the end of the room stops the process for good")
    func ends() {
        _ = hosts(true)
        #expect(supervision.roomEnded(now: now) == .stop)
        #expect(!supervision.isFinished)
        #expect(exit() == .none)
        #expect(supervision.isFinished)
        #expect(secondsToStart() == nil)
    }

    @Test("an ended room keeps its process for the linger time without restarts")
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

    @Test("a room that ends during a backoff is finished at once")
    func endsWaiting() {
        _ = hosts(true)
        _ = exit()
        #expect(exit() == .none)
        #expect(supervision.roomEnded(now: now) == .none)
        #expect(supervision.isFinished)
    }

    @Test("a new room of the same name starts after the former process has exited")
    func reusedName() {
        _ = hosts(true)
        #expect(supervision.roomEnded(now: now) == .stop)
        wait(0.1)
        #expect(hosts(true) == .none)
        wait(0.1)
        #expect(exit() == .start(epoch: 102))
    }

    @Test("there are never two processes, and epochs increase, for random events", arguments: 0..<50)
    func singleProcess(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
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
                let kind = MixerSupervision.Demand.allCases.randomElement(using: &random) ?? .viewers
                action = demand(kind, Bool.random(using: &random))
            case 7 where Int.random(in: 0..<9, using: &random) == 0: action = supervision.roomBegan(now: now)
            case 3 where isAlive, 4 where isAlive && wasAsked:
                isAlive = false
                action = exit(chance: .random(in: 0...1, using: &random))
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
                Issue.record("no hang was injected")
            case .none:
                break
            }
            #expect(supervision.isRunning == isAlive)
        }
    }
}

@Suite("Hang detection of a mixer")
struct MixerLivenessTests {
    private typealias Hang = MixerLiveness.Hang
    private var liveness = MixerLiveness(configuration: .init())
    private var counters = MixerLiveness.Counters()
    private var now = MonotonicTime(nanoseconds: 1_000_000_000)

    init() { liveness.processStarted(now: now) }

    /// Checks ten times per second; the mixer reports and publishes before each check.
    ///
    /// - Returns: The first hang, and the seconds until it.
    private mutating func run(_ seconds: Double, reports: Bool, packets: Bool) -> (hang: Hang, after: Double)? {
        let start = now
        while now.seconds(since: start) < seconds {
            now = now.advanced(milliseconds: 100)
            if reports { counters.reports += 1 }
            if packets { counters.packets += 3 }
            if let hang = liveness.update(counters, now: now) { return (hang, now.seconds(since: start)) }
        }
        return nil
    }

    @Test("a publishing mixer never hangs, with or without reports", arguments: [true, false])
    mutating func publishing(reports: Bool) {
        #expect(run(600, reports: reports, packets: true) == nil)
    }

    @Test("five seconds without a packet are a hang, whose kind depends on the reports")
    mutating func silence() throws {
        for (reports, hang) in [(false, Hang.silent), (true, .publishesNothing)] {
            liveness = MixerLiveness(configuration: .init())
            liveness.processStarted(now: now)
            #expect(run(10, reports: true, packets: true) == nil)
            let found = try #require(run(10, reports: reports, packets: false))
            #expect(found.hang == hang && abs(found.after - 5) < 0.15, "\(found)")
        }
    }

    @Test("a starting mixer has twenty seconds for its first packet; packets of the former process do not count")
    mutating func startup() throws {
        #expect(run(30, reports: true, packets: true) == nil)
        // These packets arrive after the last check.
        counters.packets += 5
        liveness.processStarted(now: now)
        let found = try #require(run(30, reports: true, packets: false))
        #expect(found.hang == .neverPublished && abs(found.after - 20) < 0.15, "\(found)")
    }

    @Test("consecutive hangs double the time up to forty seconds, and a minute of operation resets it")
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

    @Test("a suspension of the gateway for ten seconds does not count")
    mutating func stoppedGateway() throws {
        #expect(run(10, reports: true, packets: true) == nil)
        #expect(run(2, reports: false, packets: false) == nil)
        now = now.advanced(seconds: 10)
        #expect(liveness.update(counters, now: now) == nil)
        #expect(run(30, reports: true, packets: true) == nil)
        #expect(run(2, reports: false, packets: false) == nil)
        now = now.advanced(seconds: 10)
        #expect(liveness.update(counters, now: now) == nil)
        let found = try #require(run(10, reports: false, packets: false))
        #expect(abs(found.after - 3) < 0.15, "\(found)")
    }

    @Test("the supervision kills a hung mixer, and starts another one after its exit")
    mutating func supervision() {
        var supervision = MixerSupervision(configuration: .init(), firstEpoch: 7)
        #expect(supervision.hostsChanged(true, now: now) == .start(epoch: 8))
        for step in 1...400 {
            now = now.advanced(milliseconds: 100)
            counters.packets += 1
            #expect(supervision.tick(counters, now: now) == .none, "\(step)")
        }
        var actions: [MixerSupervision.Action] = []
        for _ in 0..<100 {
            now = now.advanced(milliseconds: 100)
            let action = supervision.tick(counters, now: now)
            if action != .none { actions.append(action) }
        }
        #expect(actions == [.replace(.silent)])
        #expect(supervision.isRunning)
        #expect(supervision.exited(now: now, chance: 0.5) == .start(epoch: 9))
        #expect(supervision.restarts == 1 && !supervision.isFailing(now: now))
    }

    @Test("a room fails after three consecutive failures, until a healthy run")
    mutating func failing() {
        var supervision = MixerSupervision(configuration: .init(), firstEpoch: 7)
        _ = supervision.hostsChanged(true, now: now)
        for death in 1...3 {
            now = now.advanced(seconds: 1)
            if case .start = supervision.exited(now: now, chance: 0.5) { #expect(death == 1) }
            #expect(supervision.isFailing(now: now) == (death == 3))
            now = now.advanced(seconds: 10)
            _ = supervision.tick(now: now)
        }
        #expect(supervision.isFailing(now: now))
        now = now.advanced(seconds: 30)
        #expect(!supervision.isFailing(now: now))
    }
}
