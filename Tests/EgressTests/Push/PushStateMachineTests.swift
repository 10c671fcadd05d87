import Media
import Stage
import Testing

@testable import Egress

@Suite("When a push tries, waits and gives up")
struct PushStateMachineTests {
    private var now = MonotonicTime(nanoseconds: 0)
    private var machine = PushStateMachine(configuration: PushConfiguration())

    /// Fails once, in the middle of the jitter; the seconds to wait.
    private mutating func fail(_ code: PushError.Code, explicitly: Bool = false) -> Double? {
        let error = explicitly ? PushError.refusedExplicitly("no") : PushError(code, "why")
        guard case .wait(let until) = machine.failed(error, now: now, chance: 0.5) else { return nil }
        return until.seconds(since: now)
    }

    private mutating func retry(after seconds: Double) {
        now = now.advanced(seconds: seconds)
        #expect(machine.due() == .connect)
    }

    @Test("tries follow after 1 s, growing by half, up to 30 s")
    mutating func backOff() {
        #expect(machine.start(now: now) == .connect)
        var delays: [Double] = []
        for _ in 0..<12 {
            guard let delay = fail(.unreachable) else { break }
            delays.append(delay)
            retry(after: delay)
        }
        #expect(delays.prefix(4) == [1, 1.5, 2.25, 3.375])
        #expect(delays.suffix(2) == [30, 30])
        #expect(machine.reported == .connecting)
    }

    @Test("chance moves a delay by a fifth at most")
    func jitter() {
        let backoff = PushConfiguration().backoff
        #expect(abs(backoff.delay(retry: 0, chance: 0) - 0.8) < 1e-9)
        #expect(abs(backoff.delay(retry: 0, chance: 1) - 1.2) < 1e-9)
        #expect(abs(backoff.delay(retry: 1000, chance: 1) - 36) < 1e-9)
    }

    @Test("a lost connection reports interrupted until it is back, and counts one reconnect")
    mutating func interrupted() {
        _ = machine.start(now: now)
        machine.accepted(now: now)
        #expect(machine.reported == .connected)
        #expect(machine.reconnects == 0)
        now = now.advanced(seconds: 100)
        #expect(fail(.closed) == 1)
        #expect(machine.reported == .interrupted)
        retry(after: 1)
        #expect(fail(.unreachable) == 1.5)
        #expect(machine.reported == .interrupted)
        retry(after: 1.5)
        machine.accepted(now: now)
        #expect(machine.reported == .connected)
        #expect(machine.reconnects == 1)
        // What had broken the connection, not what the tries came to.
        #expect(machine.reconnectReasons == [.connectionLost: 1])
    }

    @Test("delays begin anew only after a connection that held for 30 s")
    mutating func healthy() {
        _ = machine.start(now: now)
        for expected in [1, 1.5, 2.25] {
            machine.accepted(now: now)
            now = now.advanced(seconds: 29)
            #expect(fail(.closed) == expected)
            retry(after: expected)
        }
        machine.accepted(now: now)
        now = now.advanced(seconds: 31)
        #expect(fail(.closed) == 1)
    }

    @Test("a target that says no makes the output fail at once, one that hangs up the second time")
    mutating func refusal() {
        _ = machine.start(now: now)
        #expect(fail(.refused) == 1)
        #expect(machine.reported == .connecting)
        retry(after: 1)
        #expect(fail(.refused) == 30)
        #expect(machine.reported == .failed)

        machine = PushStateMachine(configuration: PushConfiguration())
        _ = machine.start(now: now)
        #expect(fail(.refused, explicitly: true) == 30)
        #expect(machine.reported == .failed)
        retry(after: 30)
        #expect(machine.reported == .failed)
        machine.accepted(now: now)
        #expect(machine.reported == .connected)
    }

    @Test("a target that had the stream may refuse it a few times: it still holds the old connection")
    mutating func ghost() {
        _ = machine.start(now: now)
        machine.accepted(now: now)
        now = now.advanced(seconds: 60)
        #expect(fail(.closed) == 1)
        retry(after: 1)
        for expected in [1.5, 2.25, 3.375, 5.0625] {
            #expect(fail(.refused, explicitly: true) == expected)
            #expect(machine.reported == .interrupted)
            retry(after: expected)
        }
        #expect(fail(.refused, explicitly: true) == 30)
        #expect(machine.reported == .failed)
    }

    @Test("an untrusted certificate or a forbidden address fails at once")
    mutating func permanent() {
        for code in [PushError.Code.insecure, .forbiddenAddress] {
            machine = PushStateMachine(configuration: PushConfiguration())
            _ = machine.start(now: now)
            #expect(fail(code) == 30)
            #expect(machine.reported == .failed)
        }
    }

    @Test("after five minutes without a connection an output counts as failed, and goes on trying")
    mutating func budget() {
        _ = machine.start(now: now)
        machine.accepted(now: now)
        var waited = 0.0
        while machine.reported != .failed, waited < 1000 {
            let delay = fail(.unreachable) ?? 1000
            waited += delay
            retry(after: delay)
        }
        #expect((300...400).contains(waited))
        machine.accepted(now: now)
        #expect(machine.reported == .connected)
    }

    @Test("every fault has its code, and says whether the next try is soon or slow")
    mutating func codes() {
        func fault(_ error: PushError) -> OutputFault {
            var classifier = FaultClassifier(retryBudget: 300)
            classifier.disconnected(now: now)
            return classifier.classify(error, now: now)
        }
        for code in ["BadName", "Denied", "Rejected"] {
            let error = PushError.refusedExplicitly("no", statusCode: "NetStream.Publish.\(code)")
            #expect(fault(error) == OutputFault(.keyRefused, "no", retry: .slow))
        }
        let application = PushError.refusedExplicitly("no", statusCode: "NetConnection.Connect.InvalidApp")
        #expect(fault(application) == OutputFault(.applicationRefused, "no", retry: .slow))
        let soon: [(PushError.Code, OutputFault.Code)] = [
            (.refused, .hungUp), (.closed, .connectionLost), (.unreachable, .unreachable), (.timedOut, .timedOut),
            (.nameNotFound, .nameNotFound), (.stalled, .stalled), (.local, .local),
        ]
        for (code, told) in soon { #expect(fault(PushError(code, "x")) == OutputFault(told, "x", retry: .soon)) }
        let slow: [(PushError.Code, OutputFault.Code)] = [
            (.insecure, .certificate), (.forbiddenAddress, .forbiddenAddress), (.invalidAddress, .invalidAddress),
        ]
        for (code, told) in slow { #expect(fault(PushError(code, "x")) == OutputFault(told, "x", retry: .slow)) }
    }

    @Test("a lost stream goes on at the spare address at once, and stays there until it is lost there")
    mutating func spare() {
        machine = PushStateMachine(configuration: PushConfiguration(), hasSpare: true)
        _ = machine.start(now: now)
        machine.accepted(now: now)
        now = now.advanced(seconds: 100)
        #expect(fail(.closed) == 0.2)
        #expect(machine.usesBackup && machine.reported == .interrupted)
        retry(after: 0.2)
        machine.accepted(now: now)
        #expect(machine.reported == .connected && machine.usesBackup)
        #expect(machine.reconnectReasons == [.connectionLost: 1])
        now = now.advanced(seconds: 1000)
        #expect(fail(.stalled) == 0.2)
        #expect(!machine.usesBackup)
        // Off the air neither is tried twice before the other one.
        retry(after: 0.2)
        #expect(fail(.timedOut) == 1)
        #expect(machine.usesBackup)
        retry(after: 1)
        #expect(fail(.unreachable) == 1.5)
        #expect(!machine.usesBackup && machine.reported == .interrupted)
    }

    @Test("an address that never took the stream is tried twice before the spare one")
    mutating func neverStreamed() {
        machine = PushStateMachine(configuration: PushConfiguration(), hasSpare: true)
        _ = machine.start(now: now)
        #expect(fail(.unreachable) == 1)
        #expect(!machine.usesBackup)
        retry(after: 1)
        #expect(fail(.unreachable) == 0.2)
        #expect(machine.usesBackup)
    }

    @Test(
        "a lost stream does not go to a spare address that is known to be out of reach; after a second failure it does"
    )
    mutating func spareOut() {
        machine = PushStateMachine(configuration: PushConfiguration(), hasSpare: true)
        _ = machine.start(now: now)
        machine.accepted(now: now)
        machine.backupProbed(PushError(.unreachable, "nobody there"), now: now, chance: 0.5)
        #expect(machine.backupFault == OutputFault(.unreachable, "nobody there", retry: .soon))
        now = now.advanced(seconds: 100)
        #expect(fail(.closed) == 1)
        #expect(!machine.usesBackup)
        retry(after: 1)
        #expect(fail(.unreachable) == 0.2)
        #expect(machine.usesBackup)
        // What it was thought to be is overtaken by what it is.
        retry(after: 0.2)
        machine.accepted(now: now)
        #expect(machine.backupFault == nil)
        #expect(fail(.closed) == 1.5)
        #expect(!machine.usesBackup)
    }

    @Test("with both addresses dead they take turns, with growing delays")
    mutating func bothDead() {
        machine = PushStateMachine(configuration: PushConfiguration(), hasSpare: true)
        _ = machine.start(now: now)
        var places: [Bool] = []
        var delays: [Double] = []
        for _ in 0..<8 {
            guard let delay = fail(.unreachable) else { break }
            delays.append(delay)
            places.append(machine.usesBackup)
            retry(after: delay)
        }
        #expect(places == [false, true, true, false, false, true, true, false])
        #expect(delays[1] == 0.2 && delays[0] == 1 && delays[2] == 1.5)
        #expect(delays.dropFirst(2) == ArraySlice(delays.dropFirst(2).sorted()))
        #expect(machine.reported == .connecting)
    }

    @Test("a refused key at one address leads to the other at once; refused at both, the output has failed")
    mutating func refusedAtBoth() {
        machine = PushStateMachine(configuration: PushConfiguration(), hasSpare: true)
        _ = machine.start(now: now)
        #expect(fail(.refused, explicitly: true) == 0.2)
        #expect(machine.usesBackup && machine.reported == .connecting)
        #expect(machine.lastFault?.retry == .soon)
        retry(after: 0.2)
        #expect(fail(.refused, explicitly: true) == 30)
        #expect(machine.reported == .failed && !machine.usesBackup)
        #expect(machine.lastFault == OutputFault(.keyRefused, "no", retry: .slow))
    }

    @Test("a spare address is looked at when the push begins, every three minutes while all is well, sooner if not")
    mutating func looks() {
        machine = PushStateMachine(configuration: PushConfiguration(), hasSpare: true)
        _ = machine.start(now: now)
        #expect(machine.backupStep(now: now) == .probe)
        machine.backupProbed(nil, now: now, chance: 0.5)
        #expect(machine.backupStep(now: now) == .wait(until: now.advanced(seconds: 180)))
        now = now.advanced(seconds: 180)
        #expect(machine.backupStep(now: now) == .probe)
        machine.backupProbed(PushError(.insecure, "no"), now: now, chance: 0.5)
        #expect(machine.backupFault?.code == .certificate)
        #expect(machine.backupStep(now: now) == .wait(until: now.advanced(seconds: 30)))
        now = now.advanced(seconds: 30)
        // Short of descriptors here: nothing is known anew.
        machine.backupProbed(PushError(.local, "no socket"), now: now, chance: 0.5)
        #expect(machine.backupFault?.code == .certificate)
        now = now.advanced(seconds: 30)
        machine.backupProbed(nil, now: now, chance: 0.5)
        #expect(machine.backupFault == nil)

        // In use it needs no look.
        machine.accepted(now: now)
        _ = fail(.closed)
        #expect(machine.usesBackup)
        now = now.advanced(seconds: 180)
        #expect(machine.backupStep(now: now) == .wait(until: now.advanced(seconds: 180)))
        machine.backupProbed(PushError(.unreachable, "late news"), now: now, chance: 0.5)
        #expect(machine.backupFault == nil)
        _ = machine.stop()
        #expect(machine.backupStep(now: now) == .end)

        machine = PushStateMachine(configuration: PushConfiguration())
        _ = machine.start(now: now)
        #expect(machine.backupStep(now: now) == .end)
    }

    /// Lets so many windows of time go by in which three frames of four are dropped; what the last one led to.
    private mutating func crawl(_ windows: Int, from frames: inout DropMonitor.FrameCounts) -> DropMonitor.Change? {
        var change = machine.update(with: frames, now: now)
        for _ in 0..<windows {
            now = now.advanced(seconds: 5)
            frames.offered += 100
            frames.dropped += 75
            change = machine.update(with: frames, now: now)
        }
        return change
    }

    @Test("a target that is far too slow is left for the spare one, and each return to either waits longer")
    mutating func tooSlow() {
        machine = PushStateMachine(configuration: PushConfiguration(), hasSpare: true)
        var frames = DropMonitor.FrameCounts()
        _ = machine.start(now: now)
        // Nothing is held against a target that does not have the stream yet.
        #expect(crawl(10, from: &frames) == nil)
        machine.accepted(now: now)
        #expect(crawl(3, from: &frames) == .isSlow)
        #expect(machine.isSlow)
        #expect(crawl(2, from: &frames) == nil)
        #expect(crawl(1, from: &frames) == .isFailing)
        #expect(fail(.stalled) == 0.2)
        #expect(machine.usesBackup && machine.reported == .interrupted)
        #expect(machine.lastFault?.code == .stalled && machine.lastFault?.retry == .soon)
        // The line itself may be what is slow: half a minute of that is no reason to be quick again.
        for (usesBackup, expected) in [(false, 1.0), (true, 1.5), (false, 2.25)] {
            retry(after: 10)
            machine.accepted(now: now)
            #expect(crawl(6, from: &frames) == .isFailing)
            #expect(fail(.stalled) == expected)
            #expect(machine.usesBackup == usesBackup)
        }
        retry(after: 10)
        machine.accepted(now: now)
        #expect(machine.isSlow)
        for window in 1...4 {
            let expected: DropMonitor.Change? = window == 4 ? .keepsUp : nil
            #expect(machine.update(with: frames, now: now) == expected)
            now = now.advanced(seconds: 5)
            frames.offered += 100
        }
        now = now.advanced(seconds: 60)
        #expect(fail(.closed) == 0.2)
        #expect(machine.reconnectReasons == [.stalled: 4])
    }

    @Test("a stopped push does nothing more")
    mutating func stopped() {
        _ = machine.start(now: now)
        #expect(machine.stop() == .end)
        #expect(fail(.closed) == nil)
        machine.accepted(now: now)
        #expect(machine.reported == .stopped)
        #expect(machine.due() == .end)
    }
}
