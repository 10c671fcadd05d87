import FootlightTesting
import Testing

@testable import Stage

@Suite("Processor budget")
struct ProcessorBudgetTests {
    private typealias RoomLoad = ProcessorBudget.RoomLoad
    private let budget = ProcessorBudget(cores: 2, ceiling: 0.8)

    @Test("before anything is measured the model decides")
    func model() {
        #expect(budget.admitsHost(to: RoomLoad(hosts: 0), beside: []))
        #expect(budget.admitsHost(to: RoomLoad(hosts: 11), beside: []))
        #expect(!budget.admitsHost(to: RoomLoad(hosts: 13), beside: []))
        let others = [RoomLoad(hosts: 4), RoomLoad(hosts: 4)]
        #expect(!budget.admitsHost(to: RoomLoad(hosts: 0), beside: others))
        #expect(budget.admitsHost(to: RoomLoad(hosts: 1), beside: [RoomLoad(hosts: 4)]))
    }

    @Test("rooms that cost less than the model says leave room for more, those that cost more for less")
    func measured() {
        let cheap = RoomLoad(hosts: 4, measured: 0.35)
        #expect(budget.admitsHost(to: RoomLoad(hosts: 0), beside: [cheap, cheap, cheap]))
        let expensive = RoomLoad(hosts: 4, measured: 1.5)
        #expect(!budget.admitsHost(to: expensive, beside: []))
        #expect(!budget.admitsHost(to: RoomLoad(hosts: 0), beside: [expensive]))
        #expect(budget.admitsHost(to: RoomLoad(hosts: 2, measured: 1.2), beside: []))
    }

    @Test("rooms without hosts cost nothing, large programs more than small ones")
    func sizes() {
        let idle = Array(repeating: RoomLoad(hosts: 0), count: 100)
        #expect(budget.admitsHost(to: RoomLoad(hosts: 0), beside: idle))
        #expect(!budget.admitsHost(to: RoomLoad(size: 2.25, hosts: 0), beside: [RoomLoad(size: 2.25, hosts: 2)]))
        #expect(budget.admitsHost(to: RoomLoad(size: 0.25, hosts: 0), beside: [RoomLoad(size: 0.25, hosts: 2)]))
    }

    @Test("a tiny ceiling admits no host, and a measured zero does not make hosts free")
    func tiny() {
        #expect(!ProcessorBudget(cores: 2, ceiling: 0.01).admitsHost(to: RoomLoad(hosts: 0), beside: []))
        let idleHosts = RoomLoad(hosts: 2, measured: 0)
        #expect(!ProcessorBudget(cores: 1, ceiling: 0.05).admitsHost(to: idleHosts, beside: []))
    }

    @Test("hosts who were let in and do not send yet count, beside a mixer that says what it costs, too")
    func expected() {
        #expect(budget.admitsHost(to: RoomLoad(hosts: 0, expected: 11), beside: []))
        #expect(!budget.admitsHost(to: RoomLoad(hosts: 0, expected: 13), beside: []))
        #expect(!budget.admitsHost(to: RoomLoad(hosts: 0), beside: [RoomLoad(hosts: 0, expected: 12)]))
        #expect(budget.admitsHost(to: RoomLoad(hosts: 4, expected: 7, measured: 0.7), beside: []))
        #expect(!budget.admitsHost(to: RoomLoad(hosts: 4, expected: 9, measured: 0.7), beside: []))
    }

    @Test("a program with nobody on air is coded, too; one that runs, or was counted with its hosts, costs no more")
    func programs() {
        let expensive = RoomLoad(hosts: 9, measured: 1.4)
        #expect(budget.admitsProgram(of: RoomLoad(hosts: 0), beside: []))
        #expect(!budget.admitsProgram(of: RoomLoad(hosts: 0), beside: [expensive]))
        #expect(!budget.admitsProgram(of: RoomLoad(renditions: 2, hosts: 0), beside: [RoomLoad(hosts: 7)]))
        #expect(budget.admitsProgram(of: RoomLoad(hosts: 0), beside: [RoomLoad(hosts: 7)]))
        #expect(budget.admitsProgram(of: RoomLoad(hosts: 0, measured: 0.2), beside: [expensive]))
        #expect(budget.admitsProgram(of: RoomLoad(hosts: 1), beside: [expensive]))
        #expect(budget.admitsProgram(of: RoomLoad(hosts: 0, expected: 1), beside: [expensive]))
        #expect(!budget.admitsProgram(of: RoomLoad(hosts: 0), beside: [RoomLoad(hosts: 9, measured: 0.9, level: 3)]))
    }

    @Test("renditions are coded, too")
    func renditions() {
        #expect(budget.admitsHost(to: RoomLoad(renditions: 1, hosts: 9), beside: []))
        #expect(!budget.admitsHost(to: RoomLoad(renditions: 3, hosts: 9), beside: []))
    }

    @Test("a degraded room admits no host, nor do others unless half of the budget is free")
    func degraded() {
        let degraded = RoomLoad(hosts: 4, measured: 0.7, level: 3)
        #expect(!budget.admitsHost(to: degraded, beside: []))
        #expect(budget.admitsHost(to: RoomLoad(hosts: 0), beside: [degraded]))
        #expect(!budget.admitsHost(to: RoomLoad(hosts: 1, measured: 0.2), beside: [degraded]))
        #expect(
            budget.admitsHost(
                to: RoomLoad(hosts: 1, measured: 0.2),
                beside: [RoomLoad(hosts: 4, measured: 0.7, level: 2)]
            )
        )
    }

    @Test("admitted hosts without media count for a minute")
    func withoutPublishing() throws {
        let clock = ManualClock()
        let directory = RoomDirectory(
            settings: StageSettings(processor: ProcessorBudget(cores: 2, ceiling: 0.68)),
            clock: clock,
            pepper: [1, 2, 3]
        )
        var admitted = 0
        for room in 0..<10 {
            _ = try directory.create(RoomSettings(name: "room\(room)"))
            for host in 0..<12 {
                let request = JoinRequest(identity: "host\(host)", mode: .sendAndReceive)
                if (try? directory.join(room: "room\(room)", request)) != nil { admitted += 1 }
            }
        }
        #expect(admitted == 10)
        // A host that steps down frees budget for another.
        _ = try directory.changeMode(room: "room0", participant: "host0", to: .receiveOnly)
        _ = try directory.join(room: "room0", JoinRequest(identity: "guest", mode: .sendAndReceive))
        #expect(throws: StageError.self) {
            try directory.join(room: "room0", JoinRequest(identity: "late", mode: .sendAndReceive))
        }
        clock.advance(by: .seconds(61))
        _ = try directory.join(room: "room0", JoinRequest(identity: "late", mode: .sendAndReceive))
    }

    @Test("a host beyond the budget is refused with 53006; a host who comes back, and the audience, are not")
    func directory() throws {
        let directory = RoomDirectory(
            settings: StageSettings(processor: ProcessorBudget(cores: 1, ceiling: 0.45)),
            pepper: [1, 2, 3]
        )
        _ = try directory.create(RoomSettings(name: "show"))
        _ = try directory.create(RoomSettings(name: "other"))
        let host = try directory.join(room: "show", JoinRequest(identity: "ann", mode: .sendAndReceive))
        // The mixer reports her cost, which leaves no budget.
        try directory.report(
            room: "show",
            MixerReport(entries: [], load: MixerLoad(level: 0, reason: nil, work: 0.9, cores: 0.44))
        )
        let refusal = #expect(throws: StageError.self) {
            try directory.join(room: "other", JoinRequest(identity: "ben", mode: .sendAndReceive))
        }
        #expect(refusal?.code == 53006 && refusal?.retryAfter == 10)
        _ = try directory.join(room: "other", JoinRequest(identity: "ben", mode: .receiveOnly))
        let promoted = #expect(throws: StageError.self) {
            _ = try directory.changeMode(room: "other", participant: "ben", to: .sendAndReceive)
        }
        #expect(promoted?.code == 53006)
        _ = try directory.changeMode(room: "show", participant: host.participant.sid, to: .sendAndReceive)
        _ = try directory.join(room: "show", JoinRequest(identity: "ann", mode: .sendAndReceive))
    }
}
