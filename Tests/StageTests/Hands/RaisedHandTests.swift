import FootlightTesting
import Testing

@testable import Stage

@Suite("Raised hands on stage")
struct RaisedHandTests {
    private let clock = ManualClock()
    private let directory: RoomDirectory
    private let log = EventLog()
    private let observation: StageObservation

    init() throws {
        directory = RoomDirectory(clock: clock, pepper: [1], startedAt: 1_000)
        observation = directory.observe { [log] in log.add($0) }
        _ = try directory.create(RoomSettings(name: "show", maximumHosts: 2))
        _ = try directory.join(room: "show", JoinRequest(identity: "ann", mode: .sendAndReceive))
        _ = try directory.join(room: "show", JoinRequest(identity: "eve", mode: .receiveOnly))
        _ = try directory.join(room: "show", JoinRequest(identity: "sid", mode: .signallingOnly))
    }

    private var kinds: [HandChange.Kind] { log.hands.map(\.kind) }

    @discardableResult
    private func raise(_ identity: String, timeout: Int = Hand.defaultTimeout) throws -> Hand {
        try directory.raiseHand(room: "show", participant: identity, timeout: timeout).hand
    }

    private func promote(_ identity: String) throws -> ModeChange {
        try directory.changeMode(room: "show", participant: identity, to: .sendAndReceive, byInvitation: true)
    }

    private func code(_ body: () throws -> Void) -> Int? {
        do {
            try body()
            return nil
        } catch {
            return (error as? StageError)?.code
        }
    }

    @Test("S15 audience and signalling-only participants raise a hand once; a host is refused")
    func raising() throws {
        let first = try directory.raiseHand(room: "show", participant: "eve", timeout: 60)
        #expect(first.isNew && first.hand.identity == "eve" && first.hand.sid.hasPrefix("HA"))
        #expect(first.hand.raisedAt == 1_000 && first.hand.expiresAt == 1_060)
        clock.advance(by: .seconds(5))
        let again = try directory.raiseHand(room: "show", participant: "eve", timeout: 600)
        #expect(!again.isNew && again.hand == first.hand)
        try raise("sid")
        #expect(throws: StageError.hostCannotRaiseHand) { try raise("ann") }
        #expect(try directory.hands(in: "show").map(\.identity) == ["eve", "sid"])
        #expect(try directory.room("show").hands.map(\.identity) == ["eve", "sid"], "the snapshot has them")
        #expect(kinds == [.raised, .raised])
        #expect(code { try raise("bob") } == 53204)
        #expect(code { try raise("eve", timeout: 9) } == 3073)
        #expect(code { try raise("eve", timeout: 3601) } == 3073)
    }

    @Test("S15 V19 an accepted hand permits its participant to become a host once")
    func accepting() throws {
        let hand = try raise("eve")
        #expect(code { _ = try promote("eve") } == 4065)
        #expect(try directory.acceptHand(room: "show", hand: hand.sid, by: "ann") == hand)
        #expect(try directory.hands(in: "show").isEmpty)
        #expect(try directory.room("show").participant("eve")?.mode == .receiveOnly, "one changes one's own mode")
        let change = try promote("eve")
        #expect(change.participant.mode == .sendAndReceive)
        let key = try #require(change.credentials?.streamKey)
        #expect(try directory.authorizePublish(streamKey: key).get().identity == "eve")
        _ = try directory.changeMode(room: "show", participant: "eve", to: .receiveOnly)
        #expect(code { _ = try promote("eve") } == 4065)
        #expect(kinds == [.raised, .accepted])
        #expect(log.invitations.isEmpty, "no invitation is created")
    }

    @Test("The permission of an accepted hand is good for two minutes")
    func tooLate() throws {
        try raise("eve")
        _ = try directory.acceptHand(room: "show", hand: "eve", by: "ann")
        clock.advance(by: .seconds(121))
        #expect(code { _ = try promote("eve") } == 4065)
    }

    @Test("a hand is not accepted at max_hosts, and stays raised")
    func fullStage() throws {
        _ = try directory.join(room: "show", JoinRequest(identity: "ben", mode: .sendAndReceive))
        try raise("eve")
        #expect(throws: StageError.tooManyHosts) { _ = try directory.acceptHand(room: "show", hand: "eve", by: "ann") }
        #expect(try directory.hands(in: "show").count == 1)
        try directory.leave(room: "show", participant: "ben", reason: .left)
        _ = try directory.acceptHand(room: "show", hand: "eve", by: "ann")
        // Another host takes the last slot meanwhile.
        _ = try directory.join(room: "show", JoinRequest(identity: "ben", mode: .sendAndReceive))
        #expect(code { _ = try promote("eve") } == 4010)
    }

    @Test("an unanswered hand expires once")
    func expiry() throws {
        try raise("eve", timeout: 10)
        try raise("sid", timeout: 60)
        clock.advance(by: .seconds(9))
        directory.sweep()
        #expect(kinds == [.raised, .raised])
        clock.advance(by: .seconds(1))
        directory.sweep()
        directory.sweep()
        #expect(kinds == [.raised, .raised, .expired])
        #expect(log.hands.last?.hand.identity == "eve")
        #expect(code { _ = try directory.acceptHand(room: "show", hand: "eve", by: "ann") } == 404)
        try raise("eve")
    }

    @Test("a hand is lowered and rejected by sid or identity, and may be raised again")
    func answers() throws {
        let hand = try raise("eve")
        try directory.lowerHand(room: "show", hand: hand.sid)
        #expect(log.hands.last?.reason == .lowered)
        #expect(throws: StageError.handNotFound) { try directory.lowerHand(room: "show", hand: hand.sid) }
        try raise("eve")
        try directory.lowerHand(room: "show", hand: hand.participantSID)
        try raise("eve")
        _ = try directory.rejectHand(room: "show", hand: "eve")
        #expect(throws: StageError.handNotFound) { _ = try directory.rejectHand(room: "show", hand: "eve") }
        #expect(kinds == [.raised, .lowered, .raised, .lowered, .raised, .rejected])
        #expect(code { _ = try promote("eve") } == 4065)
    }

    @Test("a hand is lowered before its participant's leave event")
    func leaving() throws {
        try raise("eve")
        try directory.leave(room: "show", participant: "eve", reason: .left)
        #expect(log.names.suffix(2) == [.handLowered, .participantLeft])
        #expect(log.hands.last?.reason == .left)
        #expect(try directory.hands(in: "show").isEmpty)
    }

    @Test("a hand is lowered when its participant becomes a host or accepts an invitation to")
    func onStage() throws {
        try raise("eve")
        _ = try directory.changeMode(room: "show", participant: "eve", to: .sendAndReceive)
        #expect(log.hands.last?.reason == .onStage && log.hands.last?.hand.identity == "eve")
        try raise("sid")
        func invite(_ mode: ParticipantMode) throws -> Invitation {
            try directory.invite(room: "show", InvitationRequest(inviter: "ann", identities: ["sid"], mode: mode))
        }
        _ = try directory.acceptInvitation(invite(.receiveOnly).sid, by: "sid")
        #expect(try directory.hands(in: "show").count == 1)
        _ = try directory.acceptInvitation(invite(.sendAndReceive).sid, by: "sid")
        #expect(try directory.hands(in: "show").isEmpty && log.hands.last?.reason == .onStage)
    }

    @Test("A hand stays up when its participant goes from watching to signalling")
    func stays() throws {
        try raise("eve")
        _ = try directory.changeMode(room: "show", participant: "eve", to: .signallingOnly)
        #expect(try directory.hands(in: "show").count == 1)
    }

    @Test("repeated raising is refused with 429")
    func rate() throws {
        for _ in 0..<10 {
            try raise("eve")
            try directory.lowerHand(room: "show", hand: "eve")
        }
        #expect(throws: StageError.tooManyEvents) { try raise("eve") }
        clock.advance(by: .seconds(1))
        try raise("eve")
    }

    @Test("an identity equal to another's sid neither hides nor addresses that one's hand")
    func names() throws {
        let eve = try #require(try directory.room("show").participant("eve")).sid
        _ = try directory.join(room: "show", JoinRequest(identity: eve, mode: .receiveOnly))
        let other = try #require(try directory.room("show").participants.last).sid
        try raise(other)
        #expect(try directory.hands(in: "show").map(\.identity) == [eve])
        let own = try directory.raiseHand(room: "show", participant: "eve")
        #expect(own.isNew && own.hand.identity == "eve")
        try directory.lowerHand(room: "show", hand: eve)
        #expect(try directory.hands(in: "show").map(\.identity) == [eve])
    }

    @Test("the end of a room removes its hands")
    func roomEnds() throws {
        try raise("eve")
        try directory.end(room: "show")
        #expect(try directory.room("show").hands.isEmpty)
        #expect(code { try raise("eve") } == 53106)
        #expect(code { _ = try directory.rejectHand(room: "show", hand: "eve") } == 53106)
    }

    @Test("Raised hands outlive a restart, and records without them are read as before")
    func restart() throws {
        let hand = try raise("eve", timeout: 60)
        let record = try #require(directory.record(of: "show"))
        let later = RoomDirectory(clock: clock, pepper: [1], startedAt: 1_030)
        later.restore([record])
        #expect(try later.hands(in: "show") == [hand])
        clock.advance(by: .seconds(30))
        later.sweep()
        #expect(try later.hands(in: "show").isEmpty)
        try directory.lowerHand(room: "show", hand: "eve")
        #expect(directory.record(of: "show")?.hands == nil)
    }
}
