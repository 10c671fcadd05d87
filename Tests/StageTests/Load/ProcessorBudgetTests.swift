import FootlightTesting
import Testing

@testable import Stage

@Suite("Whether the machine has time for one more host")
struct ProcessorBudgetTests {
    private typealias Show = ProcessorBudget.Show
    private let two = ProcessorBudget(cores: 2, ceiling: 0.8)

    @Test("before anything is measured the model decides")
    func model() {
        #expect(two.admitsHost(to: Show(hosts: 0), beside: []))
        #expect(two.admitsHost(to: Show(hosts: 11), beside: []))
        #expect(!two.admitsHost(to: Show(hosts: 13), beside: []))
        let others = [Show(hosts: 4), Show(hosts: 4)]
        #expect(!two.admitsHost(to: Show(hosts: 0), beside: others))
        #expect(two.admitsHost(to: Show(hosts: 1), beside: [Show(hosts: 4)]))
    }

    @Test("rooms that cost less than the model says leave room for more, those that cost more for less")
    func measured() {
        let cheap = Show(hosts: 4, measured: 0.35)
        #expect(two.admitsHost(to: Show(hosts: 0), beside: [cheap, cheap, cheap]))
        let dear = Show(hosts: 4, measured: 1.5)
        #expect(!two.admitsHost(to: dear, beside: []))
        #expect(!two.admitsHost(to: Show(hosts: 0), beside: [dear]))
        #expect(two.admitsHost(to: Show(hosts: 2, measured: 1.2), beside: []))
    }

    @Test("rooms with nobody on air cost nothing, large programs more than small ones")
    func sizes() {
        let idle = Array(repeating: Show(hosts: 0), count: 100)
        #expect(two.admitsHost(to: Show(hosts: 0), beside: idle))
        #expect(!two.admitsHost(to: Show(size: 2.25, hosts: 0), beside: [Show(size: 2.25, hosts: 2)]))
        #expect(two.admitsHost(to: Show(size: 0.25, hosts: 0), beside: [Show(size: 0.25, hosts: 2)]))
    }

    @Test("a tiny ceiling lets nobody in, and a measured nothing does not make hosts free")
    func tiny() {
        #expect(!ProcessorBudget(cores: 2, ceiling: 0.01).admitsHost(to: Show(hosts: 0), beside: []))
        let asleep = Show(hosts: 2, measured: 0)
        #expect(!ProcessorBudget(cores: 1, ceiling: 0.05).admitsHost(to: asleep, beside: []))
    }

    @Test("hosts who were let in and do not send yet count, beside a mixer that says what it costs, too")
    func expected() {
        #expect(two.admitsHost(to: Show(hosts: 0, expected: 11), beside: []))
        #expect(!two.admitsHost(to: Show(hosts: 0, expected: 13), beside: []))
        #expect(!two.admitsHost(to: Show(hosts: 0), beside: [Show(hosts: 0, expected: 12)]))
        #expect(two.admitsHost(to: Show(hosts: 4, expected: 7, measured: 0.7), beside: []))
        #expect(!two.admitsHost(to: Show(hosts: 4, expected: 9, measured: 0.7), beside: []))
    }

    @Test("a program with nobody on air is coded, too; one that runs, or was counted with its hosts, costs no more")
    func programs() {
        let dear = Show(hosts: 9, measured: 1.4)
        #expect(two.admitsProgram(of: Show(hosts: 0), beside: []))
        #expect(!two.admitsProgram(of: Show(hosts: 0), beside: [dear]))
        #expect(!two.admitsProgram(of: Show(renditions: 2, hosts: 0), beside: [Show(hosts: 7)]))
        #expect(two.admitsProgram(of: Show(hosts: 0), beside: [Show(hosts: 7)]))
        #expect(two.admitsProgram(of: Show(hosts: 0, measured: 0.2), beside: [dear]))
        #expect(two.admitsProgram(of: Show(hosts: 1), beside: [dear]))
        #expect(two.admitsProgram(of: Show(hosts: 0, expected: 1), beside: [dear]))
        #expect(!two.admitsProgram(of: Show(hosts: 0), beside: [Show(hosts: 9, measured: 0.9, level: 3)]))
    }

    @Test("renditions are coded, too")
    func renditions() {
        #expect(two.admitsHost(to: Show(renditions: 1, hosts: 9), beside: []))
        #expect(!two.admitsHost(to: Show(renditions: 3, hosts: 9), beside: []))
    }

    @Test("while pictures are left out nobody comes into that room, nor into others unless half of the budget is free")
    func strained() {
        let strained = Show(hosts: 4, measured: 0.7, level: 3)
        #expect(!two.admitsHost(to: strained, beside: []))
        #expect(two.admitsHost(to: Show(hosts: 0), beside: [strained]))
        #expect(!two.admitsHost(to: Show(hosts: 1, measured: 0.2), beside: [strained]))
        #expect(two.admitsHost(to: Show(hosts: 1, measured: 0.2), beside: [Show(hosts: 4, measured: 0.7, level: 2)]))
    }

    @Test("rooms full of hosts of whom none sends yet do not get around the budget; after a minute they count no more")
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
        // One who steps back makes room for another.
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
        // Her mixer says what she costs; from then on there is nothing left.
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
