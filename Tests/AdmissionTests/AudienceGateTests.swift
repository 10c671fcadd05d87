import FootlightTesting
import Foundation
import Media
import Stage
import Synchronization
import Testing
import Viewership

@testable import Admission

/// A gate in front of a real viewer counter, on a manual clock.
private final class GateFixture: Sendable {
    static let start = 1_800_000_000.0

    let clock = ManualClock(start: MonotonicTime(nanoseconds: 1_000_000_000_000))
    let ledger: ViewershipLedger
    let store = MemoryStore()
    let gate: AudienceGate
    /// The sids that the last dismissal would close, of those that were admitted.
    let closed = Mutex<Set<String>>([])
    let admitted = Mutex<[String]>([])

    init(ledger: ViewershipLedger? = nil, tickets: [Ticket] = []) {
        let clock = clock
        let begin = clock.now
        let ledger =
            ledger
            ?? ViewershipLedger(
                keys: SessionKeys(current: SessionKey(version: 1, secret: Array(1...32))),
                clock: clock,
                configuration: ViewershipConfiguration(),
                startDate: Date(timeIntervalSince1970: Self.start)
            )
        self.ledger = ledger
        let calls = DismissalBox()
        gate = AudienceGate(
            audience: ledger,
            keys: AdmissionKeys(secret: Array(1...32)),
            tickets: tickets,
            store: store,
            clock: clock,
            date: { Self.start + clock.now.seconds(since: begin) },
            dismiss: { room, isOver in calls.call(room, isOver) }
        )
        calls.handler.withLock { handler in
            handler = { [weak self] _, isOver in
                guard let self else { return }
                let over = admitted.withLock { $0.filter(isOver) }
                self.closed.withLock { $0.formUnion(over) }
            }
        }
    }

    func setAccess(_ access: AudienceAccess) {
        gate.setAccess(access, of: "show", createdAt: Self.start)
    }

    func usePassphrase(_ text: String) {
        setAccess(AudienceAccess(rule: .passphrase, passphrase: gate.digest(of: text)))
    }

    /// Admits a player; the sid, or the reason of the refusal.
    ///
    /// - Parameter goesOn: Whether it asks for media with its new session id.
    @discardableResult
    func enter(
        _ ticket: String? = nil,
        passphrase: String? = nil,
        sid: String? = nil,
        takesOver: Bool = false,
        goesOn: Bool = true,
        from address: String = "192.0.2.1",
        _ change: (inout PlayerRequest) -> Void = { _ in }
    ) -> Result<String, Refused> {
        var player = PlayerRequest(sid: sid, userAgent: "Mozilla/5.0", address: address)
        player.ticket = ticket
        player.passphrase = passphrase
        player.takesOver = takesOver
        change(&player)
        switch gate.admit(player, to: "show") {
        case .viewer(let sid), .uncounted(let sid):
            admitted.withLock { $0.append(sid) }
            if goesOn, player.sid == nil, !player.isHead {
                (player.sid, player.ticket, player.passphrase, player.takesOver) = (sid, nil, nil, false)
                _ = gate.admit(player, to: "show")
            }
            return .success(sid)
        case .denied(let refusal): return .failure(Refused(reason: refusal))
        case .refused, .crowded: return .failure(Refused(reason: nil))
        }
    }

    func advance(_ seconds: Double) {
        for _ in 0..<Int(seconds) {
            clock.advance(by: .seconds(1))
            ledger.advance(to: clock.now)
            gate.advance()
        }
    }

    func makeTicket(devices: Int = 1, startsIn: Double? = nil, lasting: Double = 3600) async throws -> Ticket {
        let now = Self.start
        let order = TicketOrder(
            name: "Ada",
            devices: devices,
            startsAt: startsIn.map { now + $0 },
            expiresAt: now + lasting
        )
        return try #require(try await gate.makeTickets([order], for: "show").first)
    }
}

private struct Refused: Error, Equatable {
    /// Nil for a session id that is not authentic.
    let reason: AccessRefusal?
}

/// Calls a handler that is known later.
private final class DismissalBox: Sendable {
    let handler = Mutex<AudienceGate.Dismissal?>(nil)

    func call(_ room: String, _ isOver: @escaping @Sendable (String) -> Bool) {
        handler.withLock { $0 }?(room, isOver)
    }
}

private final class MemoryStore: TicketStoring {
    struct Full: Error {}

    let tickets = Mutex<[String: Ticket]>([:])
    let isFull = Mutex(false)

    func save(_ changed: [Ticket], removing gone: [String]) async throws {
        if isFull.withLock({ $0 }) { throw Full() }
        tickets.withLock { tickets in
            for ticket in changed { tickets[ticket.id] = ticket }
            for id in gone { tickets[id] = nil }
        }
    }
}

extension Result where Success == String, Failure == Refused {
    fileprivate var sid: String? { try? get() }
    fileprivate var refusal: AccessRefusal? {
        if case .failure(let refused) = self { refused.reason } else { nil }
    }
}

@Suite("Admission to private rooms")
struct AudienceGateTests {
    private let fixture = GateFixture()

    @Test("everyone enters a public room, and ids of it have no grant")
    func openRoom() throws {
        fixture.setAccess(AudienceAccess())
        let sid = try #require(fixture.enter().sid)
        #expect(fixture.ledger.statement(of: sid, room: "show") == SessionStatement(issuedAt: GateFixture.start))
        #expect(fixture.enter(sid: sid).sid == sid)
    }

    @Test("the passphrase admits once; from then on the session id does, until the passphrase changes")
    func passphrase() throws {
        fixture.usePassphrase("curtain call")
        #expect(fixture.enter().refusal == .passphraseMissing)
        #expect(fixture.enter(passphrase: "Curtain call").refusal == .passphraseWrong)
        let sid = try #require(fixture.enter(passphrase: "curtain call").sid)
        #expect(fixture.enter(sid: sid).sid == sid)
        #expect(fixture.gate.accepts(sid: sid, room: "show"))
        fixture.usePassphrase("another one")
        #expect(fixture.closed.withLock { $0 } == [sid])
        #expect(fixture.enter(sid: sid).refusal == .passphraseMissing)
        #expect(!fixture.gate.accepts(sid: sid, room: "show"))
        #expect(fixture.enter(passphrase: "curtain call", sid: sid).refusal == .passphraseWrong)
        #expect(fixture.enter(passphrase: "another one", sid: sid).sid != nil)
    }

    @Test("a room that becomes private ends the sessions of those who came before, and refuses ids of an earlier room")
    func closing() throws {
        fixture.setAccess(AudienceAccess())
        let early = try #require(fixture.enter().sid)
        fixture.usePassphrase("curtain call")
        #expect(fixture.closed.withLock { $0 } == [early])
        #expect(fixture.enter(sid: early).refusal == .passphraseMissing)
        let sid = try #require(fixture.enter(passphrase: "curtain call").sid)
        // The room ends, and a new one of the same name has the same passphrase.
        let access = AudienceAccess(rule: .passphrase, passphrase: fixture.gate.digest(of: "curtain call"))
        fixture.gate.setAccess(access, of: "show", createdAt: GateFixture.start)
        #expect(fixture.enter(sid: sid).refusal == .passphraseMissing)
        fixture.gate.setAccess(access, of: "show", createdAt: GateFixture.start + 60)
        let later = try #require(fixture.enter(passphrase: "curtain call").sid)
        #expect(fixture.enter(sid: later).refusal == .passphraseMissing, "issued before the room was created")
    }

    @Test("five wrong passphrases of a client lock it out for a while, others enter")
    func guessing() throws {
        fixture.usePassphrase("curtain call")
        for guess in 0..<5 { #expect(fixture.enter(passphrase: "guess \(guess)").refusal == .passphraseWrong) }
        #expect(fixture.enter(passphrase: "curtain call").refusal == .tooManyAttempts)
        #expect(fixture.enter(passphrase: "curtain call", from: "192.0.2.2").sid != nil)
        // Behind a proxy that names no client, all have one address, and a larger allowance for each room.
        for guess in 0..<40 {
            #expect(
                fixture.enter(passphrase: "guess \(guess)") { $0.isSharedAddress = true }.refusal == .passphraseWrong
            )
        }
        fixture.advance(11)
        #expect(fixture.enter(passphrase: "curtain call").sid != nil)
        #expect(fixture.gate.refusals[.passphraseWrong] == 45)
        #expect(fixture.gate.refusals[.tooManyAttempts] == 1)
    }

    @Test("a ticket admits to its room, in its time; a changed text, another room's and none do not")
    func tickets() async throws {
        fixture.setAccess(AudienceAccess(rule: .token))
        let ticket = try await fixture.makeTicket(startsIn: 60, lasting: 120)
        let text = fixture.gate.text(of: ticket)
        #expect(text.utf8.count == 20)
        #expect(fixture.enter(text).refusal == .ticketEarly)
        #expect(fixture.enter().refusal == .ticketMissing)
        #expect(fixture.enter(passphrase: "curtain call").refusal == .ticketMissing)
        fixture.advance(61)
        for position in [0, 5, 19] {
            var bytes = Array(text.utf8)
            bytes[position] = bytes[position] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            #expect(fixture.enter(String(decoding: bytes, as: UTF8.self)).refusal == .ticketUnknown)
        }
        for text in ["", "x", String(repeating: "A", count: 20), String(repeating: "é", count: 10)] {
            #expect(fixture.enter(text).refusal == .ticketUnknown)
        }
        let other = GateFixture()
        other.setAccess(AudienceAccess(rule: .token))
        #expect(other.enter(text).refusal == .ticketUnknown)
        let sid = try #require(fixture.enter(text).sid)
        #expect(fixture.ledger.statement(of: sid, room: "show")?.grant == .ticket(ticket.number))
        fixture.advance(60)
        #expect(fixture.closed.withLock { $0 } == [sid], "closed in the second in which the ticket ends")
        #expect(fixture.enter(sid: sid).refusal == .ticketExpired)
        #expect(fixture.enter(text).refusal == .ticketExpired)
    }

    @Test("the third device of two is refused, and may take the place of the one that came first")
    func devices() async throws {
        fixture.setAccess(AudienceAccess(rule: .token))
        let ticket = try await fixture.makeTicket(devices: 2)
        let text = fixture.gate.text(of: ticket)
        let first = try #require(fixture.enter(text).sid)
        let second = try #require(fixture.enter(text).sid)
        #expect(fixture.enter(text).refusal == .ticketInUse)
        #expect(fixture.gate.deviceCount(of: ticket) == 2)
        #expect(fixture.enter(text, sid: first).sid == first, "a device that watches is no further one")
        let third = try #require(fixture.enter(text, takesOver: true).sid)
        #expect(fixture.closed.withLock { $0 } == [first])
        #expect(fixture.enter(sid: first).refusal == .ticketInUse)
        #expect(fixture.enter(sid: second).sid == second)
        #expect(fixture.enter(sid: third).sid == third)
        #expect(fixture.gate.deviceCount(of: ticket) == 2)
    }

    @Test("a device that closes its connection makes room at once, and one that stops asking when it counts no more")
    func leaving() async throws {
        fixture.setAccess(AudienceAccess(rule: .token))
        let ticket = try await fixture.makeTicket(devices: 1)
        let text = fixture.gate.text(of: ticket)
        let first = try #require(fixture.enter(text).sid)
        func record(_ kind: AudienceEvent.Kind, _ sid: String) {
            fixture.ledger.record(
                AudienceEvent(sid: sid, room: "show", playback: .rtmp, kind: kind, at: fixture.clock.now)
            )
        }
        record(.opened, first)
        #expect(fixture.enter(text).refusal == .ticketInUse)
        record(.closed(.left), first)
        let second = try #require(fixture.enter(text).sid)
        #expect(fixture.enter(text).refusal == .ticketInUse)
        fixture.advance(120)
        #expect(!fixture.ledger.isPresent(sid: second, room: "show"))
        #expect(fixture.enter(text).sid != nil)
    }

    @Test("a player that asks for the playlist twice is one device, whichever answer it goes on with")
    func askingTwice() async throws {
        fixture.setAccess(AudienceAccess(rule: .token))
        let ticket = try await fixture.makeTicket(devices: 1)
        let text = fixture.gate.text(of: ticket)
        let first = try #require(fixture.enter(text, goesOn: false).sid)
        #expect(fixture.enter(text, goesOn: false, from: "192.0.2.9").refusal == .ticketInUse, "another client")
        let second = try #require(fixture.enter(text, goesOn: false).sid)
        #expect(fixture.gate.deviceCount(of: ticket) == 1)
        #expect(fixture.enter(sid: second).sid == second)
        #expect(fixture.enter(sid: first).refusal == .ticketInUse)
        #expect(fixture.enter(text).refusal == .ticketInUse, "the second one watches")
        fixture.advance(120)
        let third = try #require(fixture.enter(text, goesOn: false).sid)
        let slot = fixture.gate.connected(third, to: "show") {}
        #expect(fixture.enter(text).refusal == .ticketInUse, "a connection is open")
        #expect(slot != nil)
    }

    @Test("HEAD requests are no devices; whoever says that it fetches ahead is one")
    func probes() async throws {
        fixture.setAccess(AudienceAccess(rule: .token))
        let ticket = try await fixture.makeTicket(devices: 1)
        let text = fixture.gate.text(of: ticket)
        #expect(fixture.enter(text) { $0.isHead = true }.sid != nil)
        #expect(fixture.gate.deviceCount(of: ticket) == 0)
        let sid = try #require(fixture.enter(text) { $0.purpose = "prefetch" }.sid)
        #expect(fixture.gate.deviceCount(of: ticket) == 1)
        for purpose in ["prefetch", "x", nil] {
            #expect(fixture.enter(text) { $0.purpose = purpose }.refusal == .ticketInUse)
            #expect(fixture.enter(sid: sid) { $0.purpose = purpose }.sid == sid)
        }
    }

    @Test("a session id is one device: a second connection ends the first, and players far apart are found out")
    func sharedID() async throws {
        fixture.setAccess(AudienceAccess(rule: .token))
        let ticket = try await fixture.makeTicket(devices: 1)
        let sid = try #require(fixture.enter(fixture.gate.text(of: ticket)).sid)
        let closed = Mutex<[Int]>([])
        func connect(_ number: Int) -> ViewerSlot? {
            fixture.gate.connected(sid, to: "show") { closed.withLock { $0.append(number) } }
        }
        var first = connect(1)
        let second = connect(2)
        #expect(closed.withLock { $0 } == [1] && first != nil && second != nil)
        // The first one's end is not that of the second.
        first = nil
        let third = connect(3)
        #expect(closed.withLock { $0 } == [1, 2])
        second?.release()
        third?.release()
        #expect(connect(4) != nil && closed.withLock { $0 } == [1, 2])

        // A phone leaves the house.
        for address in ["192.0.2.1", "198.51.100.7", "203.0.113.9"] {
            #expect(fixture.enter(sid: sid, from: address).sid == sid)
        }
        // Two players alternate.
        var refusals = 0
        for turn in 0..<40 {
            let address = turn.isMultiple(of: 2) ? "192.0.2.1" : "198.51.100.7"
            if fixture.enter(sid: sid, from: address).refusal == .ticketInUse { refusals += 1 }
        }
        #expect(refusals > 20)
        fixture.advance(61)
        #expect(fixture.gate.connected("x", to: "other") {} == nil)
    }

    @Test("places are taken over a few times at once, and then one each other second")
    func limitedTakeOvers() async throws {
        fixture.setAccess(AudienceAccess(rule: .token))
        let text = fixture.gate.text(of: try await fixture.makeTicket(devices: 1))
        let outcomes = (0..<20).map { _ in fixture.enter(text, takesOver: true) }
        #expect(outcomes.count { $0.sid != nil } == 6)
        fixture.advance(4)
        #expect(fixture.enter(text, takesOver: true).sid != nil)
    }

    @Test("an ended room keeps its rules while its program stays available, and is then forgotten")
    func ended() throws {
        fixture.usePassphrase("curtain call")
        let sid = try #require(fixture.enter(passphrase: "curtain call").sid)
        fixture.gate.roomEnded("show")
        fixture.advance(60)
        #expect(fixture.enter().refusal == .passphraseMissing)
        #expect(fixture.gate.accepts(sid: sid, room: "show"))
        fixture.clock.advance(by: .seconds(61))
        #expect(fixture.gate.advance() == ["show"])
        #expect(!fixture.gate.isRestricted("show"))
    }

    @Test("a relay asks for a viewer also after a restart; for one that was revoked it is refused")
    func relays() async throws {
        fixture.setAccess(AudienceAccess(rule: .token))
        let ticket = try await fixture.makeTicket()
        let sid = try #require(fixture.enter(fixture.gate.text(of: ticket)).sid)
        let later = GateFixture(tickets: [ticket])
        later.setAccess(AudienceAccess(rule: .token))
        #expect(later.gate.accepts(sid: sid, room: "show"))
        #expect(later.gate.accepts(sid: sid, room: "show"))
        _ = try await later.gate.revokeTicket(ticket.id, of: "show")
        #expect(!later.gate.accepts(sid: sid, room: "show"))
    }

    @Test("is asked before a program starts: what would be refused is, and no session is made")
    func precheck() async throws {
        #expect(fixture.gate.refusal(of: PlayerRequest(), to: "show") == nil)
        fixture.usePassphrase("curtain call")
        func ask(_ change: (inout PlayerRequest) -> Void = { _ in }) -> AccessRefusal? {
            var player = PlayerRequest(address: "192.0.2.1")
            change(&player)
            return fixture.gate.refusal(of: player, to: "show")
        }
        let text = fixture.gate.text(of: try await fixture.makeTicket())
        #expect(ask() == .passphraseMissing)
        #expect(ask { $0.passphrase = "wrong one" } == .passphraseWrong)
        #expect(ask { $0.passphrase = "curtain call" } == nil)
        #expect(ask { $0.ticket = text } == nil)
        #expect(ask { $0.ticket = "x" } == .ticketUnknown)
        #expect(ask { $0.holdsToken = true } == nil)
        let sid = try #require(fixture.enter(passphrase: "curtain call").sid)
        #expect(ask { $0.sid = sid } == nil)
        // A made-up id starts no program.
        #expect(ask { $0.sid = "junk" } == .passphraseMissing)
        fixture.usePassphrase("another one")
        #expect(ask { $0.sid = sid } == .passphraseMissing)
        #expect(fixture.gate.refusals[.passphraseWrong] == 1)
    }

    @Test("a revoked ticket ends its sessions at once, and is stored")
    func revocation() async throws {
        fixture.setAccess(AudienceAccess(rule: .token))
        let ticket = try await fixture.makeTicket()
        let other = try await fixture.makeTicket()
        let sid = try #require(fixture.enter(fixture.gate.text(of: ticket)).sid)
        let bystander = try #require(fixture.enter(fixture.gate.text(of: other)).sid)
        _ = try await fixture.gate.revokeTicket(ticket.id, of: "show")
        #expect(fixture.closed.withLock { $0 } == [sid])
        #expect(fixture.enter(sid: sid).refusal == .ticketRevoked)
        #expect(fixture.enter(fixture.gate.text(of: ticket)).refusal == .ticketRevoked)
        #expect(fixture.enter(sid: bystander).sid == bystander)
        #expect(fixture.store.tickets.withLock { $0[ticket.id]?.revokedAt } == GateFixture.start)
        await #expect(throws: StageError.ticketNotFound) {
            try await fixture.gate.revokeTicket("TK0", of: "show")
        }
    }

    @Test("after a restart sessions go on, each as one of its ticket's devices")
    func restart() async throws {
        fixture.setAccess(AudienceAccess(rule: .token))
        let ticket = try await fixture.makeTicket(devices: 1)
        let text = fixture.gate.text(of: ticket)
        let sid = try #require(fixture.enter(text).sid)
        let later = GateFixture(tickets: [ticket])
        later.setAccess(AudienceAccess(rule: .token))
        #expect(later.enter(sid: sid).sid == sid)
        #expect(later.enter(text).refusal == .ticketInUse)
    }

    @Test("tickets that cannot be stored do not exist")
    func full() async throws {
        fixture.setAccess(AudienceAccess(rule: .token))
        fixture.store.isFull.withLock { $0 = true }
        await #expect(throws: StageError.ticketsNotStored) { try await fixture.makeTicket() }
        #expect(fixture.gate.tickets(of: "show").isEmpty)
    }

    @Test("a room has at most ten thousand tickets; ended ones make room after their retention")
    func bounds() async throws {
        let order = TicketOrder(expiresAt: GateFixture.start + 10)
        for _ in 0..<10 { _ = try await fixture.gate.makeTickets(Array(repeating: order, count: 1000), for: "show") }
        let numbers = Set(fixture.gate.tickets(of: "show").map(\.number))
        #expect(numbers.count == 10_000)
        await #expect(throws: StageError.tooManyTickets) {
            try await fixture.gate.makeTickets([order], for: "show")
        }
        fixture.clock.advance(by: .seconds(31 * 86_400))
        fixture.gate.advance()
        #expect(fixture.gate.tickets(of: "show").isEmpty)
        let later = TicketOrder(expiresAt: GateFixture.start + 40 * 86_400)
        #expect(try await fixture.gate.makeTickets([later], for: "show").count == 1)
    }

    @Test("an access token for the room admits, until its bearer is removed from the room")
    func accessTokens() throws {
        fixture.setAccess(AudienceAccess(rule: .token))
        func enter(_ sid: String? = nil, holds: Bool) -> Result<String, Refused> {
            fixture.enter(sid: sid) { player in
                player.identity = "ada"
                player.holdsToken = holds
            }
        }
        #expect(enter(holds: false).refusal == .ticketMissing, "a token of another room")
        let sid = try #require(enter(holds: true).sid)
        #expect(fixture.enter(sid: sid).sid == sid)
        fixture.gate.remove("ada", from: "show")
        #expect(fixture.closed.withLock { $0 } == [sid])
        #expect(fixture.enter(sid: sid).refusal == .removed)
        #expect(enter(holds: true).refusal == .removed)
        fixture.gate.readmit("ada", to: "show")
        #expect(enter(holds: true).sid != nil)
        // A participant plays with the id of its join.
        let grant = fixture.gate.grant(ofParticipant: "bo", in: "show")
        let joined = fixture.ledger.makeSession(room: "show", identity: "bo", grant: grant)
        #expect(fixture.enter(sid: joined).sid == joined)
        #expect(fixture.gate.grant(ofParticipant: "bo", in: "other") == nil)
    }

    @Test("machines enter with a token for the room; one of another room and a made-up role do not admit")
    func machines() {
        fixture.setAccess(AudienceAccess(rule: .token))
        #expect(fixture.enter { ($0.role, $0.holdsToken) = (.monitor, true) }.sid != nil)
        #expect(fixture.enter { ($0.role, $0.holdsToken) = (.monitor, false) }.refusal == .ticketMissing)
        #expect(fixture.enter { ($0.role, $0.holdsToken) = (.relay, true) }.sid != nil)
        // Its later requests say the id only, and nobody else's end disconnects it.
        let sid = fixture.enter { ($0.role, $0.holdsToken) = (.thumbnail, true) }.sid
        #expect(fixture.enter(sid: sid).sid == sid)
        fixture.setAccess(AudienceAccess(rule: .token, deniedRegions: ["XX"]))
        #expect(fixture.closed.withLock { $0 }.isEmpty)
    }

    @Test(
        "networks and regions are allowed or denied, also in rooms that need nothing else",
        arguments: [
            (AudienceAccess(deniedNetworks: ["198.51.100.0/24"]), "192.0.2.1", "DE", AccessRefusal?.none),
            (AudienceAccess(deniedNetworks: ["192.0.2.0/24"]), "192.0.2.1", "DE", .network),
            (AudienceAccess(allowedNetworks: ["2001:db8::/32"]), "192.0.2.1", "DE", .network),
            (AudienceAccess(allowedNetworks: ["2001:db8::/32"]), "2001:db8::1", "DE", nil),
            (AudienceAccess(allowedRegions: ["DE", "AT"]), "192.0.2.1", "DE-BY", nil),
            (AudienceAccess(allowedRegions: ["DE", "AT"]), "192.0.2.1", "CH", .region),
            (AudienceAccess(allowedRegions: ["DE"]), "192.0.2.1", "", .region),
            (AudienceAccess(deniedRegions: ["US-CA"]), "192.0.2.1", "US-NY", nil),
            (AudienceAccess(deniedRegions: ["US-CA"]), "192.0.2.1", "US-CA", .region),
        ]
    )
    func places(access: AudienceAccess, address: String, region: String, refusal: AccessRefusal?) throws {
        try access.validate()
        fixture.setAccess(access)
        let outcome = fixture.enter(from: address) { $0.region = region.isEmpty ? nil : region }
        #expect(outcome.refusal == refusal)
        #expect((outcome.sid == nil) == (refusal != nil))
    }

    @Test("players that are refused are counted by reason, and reach no viewer count")
    func counting() async throws {
        fixture.setAccess(AudienceAccess(rule: .token))
        for _ in 0..<100 { fixture.enter() }
        for _ in 0..<50 { fixture.enter("AAAAAAAAAAAAAAAAAAAA") }
        #expect(fixture.gate.refusals == [.ticketMissing: 100, .ticketUnknown: 50])
        let report = fixture.ledger.report(room: "show")
        #expect(report.concurrent == 0 && report.unfiltered == 0 && report.excluded.values.allSatisfy { $0 == 0 })
        #expect(fixture.ledger.sessions(of: try #require(PeerAddress("192.0.2.1")).account).unproven == 0)
    }
}

@Suite("Grants in session ids")
struct PlaybackGrantTests {
    @Test(
        "a grant is read from the id that carries it, whose other bits stay random",
        arguments: [
            PlaybackGrant.ticket(1), .ticket(0xFF_FFFF), .passphrase(0), .passphrase(0xFFFF), .token(0xABCDEF),
        ]
    )
    func roundTrip(grant: PlaybackGrant) {
        let ledger = GateFixture().ledger
        let sids = (0..<200).map { _ in ledger.makeSession(room: "show", identity: "ada", grant: grant) }
        #expect(Set(sids).count == 200)
        for sid in sids { #expect(ledger.statement(of: sid, room: "show")?.grant == grant) }
        #expect(ledger.statement(of: sids[0], room: "other") == nil)
        var forged = Array(sids[0].utf8)
        // The second byte of the id, with the kind of the grant.
        forged[2] = forged[2] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
        #expect(ledger.statement(of: String(decoding: forged, as: UTF8.self), room: "show") == nil)
    }
}

@Suite("Admission to a preview") struct PreviewAdmissionTests {
    private func player(_ role: PlayerRequest.Role, holdsToken: Bool, sid: String? = nil) -> PlayerRequest {
        var player = PlayerRequest(sid: sid, userAgent: "Mozilla/5.0", address: "192.0.2.1", role: role)
        player.holdsToken = holdsToken
        return player
    }

    @Test("admits monitors of the room and the session ids that they got, and nobody of the audience")
    func admission() throws {
        let fixture = GateFixture()
        let gate = GuardedAudience(fixture.ledger, behind: fixture.gate)
        fixture.ledger.roomBegan("show")
        for (role, holdsToken) in [
            (PlayerRequest.Role.viewer, false), (.viewer, true), (.relay, true), (.monitor, false),
        ] {
            let player = player(role, holdsToken: holdsToken)
            #expect(gate.admit(player, to: "show.preview") == .denied(.preview))
            #expect(gate.refusal(of: player, to: "show.preview") == .preview)
        }
        guard case .uncounted(let sid) = gate.admit(player(.monitor, holdsToken: true), to: "show.preview") else {
            Issue.record("the monitor is refused")
            return
        }
        #expect(gate.admit(player(.viewer, holdsToken: false, sid: sid), to: "show.preview") == .uncounted(sid: sid))
        // Neither an id of the program, nor that of another room's preview.
        let viewer = gate.admit(player(.viewer, holdsToken: false), to: "show")
        guard case .viewer(let other) = viewer else {
            Issue.record("a viewer of a public room is refused")
            return
        }
        for (id, name) in [(other, "show.preview"), (sid, "other.preview"), ("junk", "show.preview")] {
            #expect(gate.admit(player(.viewer, holdsToken: false, sid: id), to: name) == .denied(.preview))
        }
        #expect(gate.admit(player(.viewer, holdsToken: false, sid: sid), to: "show") == .refused)
        #expect(gate.isPrivate("show.preview") && !gate.isPrivate("show"))
        #expect(!gate.accepts(sid: sid, room: "show.preview"), "no content network asks for a preview")
        fixture.clock.advance(by: .seconds(43_201))
        #expect(gate.admit(player(.viewer, holdsToken: false, sid: sid), to: "show.preview") == .denied(.preview))
    }

    @Test("the viewer counter learns nothing of the players of a preview")
    func uncounted() {
        let fixture = GateFixture()
        fixture.ledger.roomBegan("show")
        let audience = GuardedAudience(fixture.ledger, behind: fixture.gate)
        guard case .uncounted(let sid) = audience.admit(player(.monitor, holdsToken: true), to: "show.preview") else {
            Issue.record("the monitor is refused")
            return
        }
        for (kind, room) in [(AudienceEvent.Kind.opened, "show.preview"), (.playlistServed, "show.preview")] {
            audience.record(
                AudienceEvent(sid: sid, room: room, playback: .hls, kind: kind, at: fixture.clock.now, bytes: 9)
            )
        }
        #expect(!fixture.ledger.isPresent(sid: sid, room: "show.preview"))
    }
}
