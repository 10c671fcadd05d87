import FootlightTesting
import TestSupport
import Testing

@testable import Stage

@Suite("Room invitations")
struct RoomInvitationsTests {
    private func invite(
        _ invitations: inout RoomInvitations,
        _ identities: [String],
        by inviter: String = "ann",
        mode: ParticipantMode = .sendAndReceive,
        timeout: Int = 30,
        at now: Double = 100
    ) throws -> Invitation {
        let request = InvitationRequest(inviter: inviter, identities: identities, mode: mode, timeout: timeout)
        return try invitations.create(request, roomSID: "RM1", roomName: "show", at: now).invitation
    }

    private func code(_ body: () throws -> Void) -> Int? {
        do {
            try body()
            return nil
        } catch {
            return (error as? StageError)?.code
        }
    }

    @Test("U6 a new invitation rings once for each invitee")
    func create() throws {
        var invitations = RoomInvitations()
        let invitation = try invite(&invitations, ["ben", "cat", "ben"])
        #expect(invitation.sid.hasPrefix("IN"))
        #expect(invitation.sid.count == 34)
        #expect(invitation.sid.dropFirst(2).allSatisfy { $0.isHexDigit })
        #expect(invitation.invitees.map(\.identity) == ["ben", "cat"])
        #expect(invitation.state == .ringing)
        #expect(invitation.expiresAt == 130)
        #expect(invitations.ringing(for: "ben", at: 101).map(\.sid) == [invitation.sid])
        #expect(invitations.ringing(for: "ann", at: 101).isEmpty)
    }

    @Test("U3 rejects self-invitations and invalid names, numbers and timeouts")
    func validation() throws {
        var invitations = RoomInvitations()
        #expect(code { _ = try invite(&invitations, ["ben", "ann"]) } == 3073)
        #expect(code { _ = try invite(&invitations, []) } == 3073)
        #expect(code { _ = try invite(&invitations, (1...51).map { "p\($0)" }) } == 3073)
        #expect(code { _ = try invite(&invitations, [""]) } == 53200)
        #expect(code { _ = try invite(&invitations, [String(repeating: "x", count: 65)]) } == 53201)
        #expect(code { _ = try invite(&invitations, ["b n"]) } == 53202)
        #expect(code { _ = try invite(&invitations, ["ben"], timeout: 4) } == 3073)
        #expect(code { _ = try invite(&invitations, ["ben"], timeout: 301) } == 3073)
        #expect(invitations.invitations.isEmpty)
        _ = try invite(&invitations, (1...50).map { "p\($0)" })
    }

    @Test("S7 only one device can accept; another receives 409")
    func acceptTwice() throws {
        var invitations = RoomInvitations()
        let invitation = try invite(&invitations, ["ben", "cat"])
        let change = try invitations.accept(invitation.sid, by: "ben", at: 105)
        #expect(change.kind == .accepted)
        #expect(change.identities == ["ben"])
        #expect(change.invitation.state == .accepted)
        #expect(change.invitation.invitee("ben")?.changedAt == 105)
        #expect(code { _ = try invitations.accept(invitation.sid, by: "ben", at: 106) } == 409)
        #expect(code { _ = try invitations.reject(invitation.sid, by: "ben", at: 106) } == 409)
        // The acceptance of another invitee leaves it ringing.
        #expect(invitations.ringing(for: "cat", at: 106).count == 1)
        #expect(try invitations.accept(invitation.sid, by: "cat", at: 107).invitation.isOpen == false)
    }

    @Test("S5 when all have declined, the invitation is rejected as a whole")
    func allRejected() throws {
        var invitations = RoomInvitations()
        let invitation = try invite(&invitations, ["ben", "cat"])
        #expect(try invitations.reject(invitation.sid, by: "ben", at: 101)?.invitation.state == .ringing)
        #expect(try invitations.reject(invitation.sid, by: "ben", at: 102) == nil)
        let last = try #require(try invitations.reject(invitation.sid, by: "cat", at: 103))
        #expect(last.invitation.state == .rejected)
        #expect(last.identities == ["cat"])
        #expect(code { _ = try invitations.cancel(invitation.sid, by: "ann", at: 104) } == 409)
    }

    @Test("U8 only the inviter or an operator cancels, for invitees that have not answered")
    func cancel() throws {
        var invitations = RoomInvitations()
        let invitation = try invite(&invitations, ["ben", "cat", "dan"])
        _ = try invitations.reject(invitation.sid, by: "ben", at: 101)
        #expect(code { _ = try invitations.cancel(invitation.sid, by: "cat", at: 102) } == 20106)
        #expect(code { _ = try invitations.cancel(invitation.sid, by: "eve", at: 102) } == 404)
        let change = try invitations.cancel(invitation.sid, by: "ann", at: 102)
        #expect(change.kind == .cancelled)
        #expect(change.identities == ["cat", "dan"])
        #expect(change.invitation.state == .cancelled)
        #expect(code { _ = try invitations.accept(invitation.sid, by: "cat", at: 103) } == 409)
        let other = try invite(&invitations, ["ben"])
        #expect(try invitations.cancel(other.sid, by: nil, at: 103).identities == ["ben"])
    }

    @Test("U5 an unanswered invitation is missed and cannot be answered later")
    func expire() throws {
        var invitations = RoomInvitations()
        let invitation = try invite(&invitations, ["ben", "cat", "dan"], timeout: 10)
        _ = try invitations.accept(invitation.sid, by: "ben", at: 109.9)
        #expect(invitations.expire(at: 109.99).isEmpty)
        // The timeout applies before the next sweep, too.
        #expect(code { _ = try invitations.accept(invitation.sid, by: "cat", at: 110) } == 410)
        let changes = invitations.expire(at: 110)
        #expect(changes.map(\.kind) == [.missed])
        #expect(changes.first?.identities == ["cat", "dan"])
        #expect(changes.first?.invitation.state == .accepted)
        #expect(invitations.expire(at: 111).isEmpty)
        #expect(code { _ = try invitations.reject(invitation.sid, by: "dan", at: 111) } == 410)
        #expect(invitations.ringing(for: "dan", at: 111).isEmpty)
    }

    @Test("other identities and unknown sids get the same error")
    func unknownIdentities() throws {
        var invitations = RoomInvitations()
        let invitation = try invite(&invitations, ["ben"])
        #expect(code { _ = try invitations.accept(invitation.sid, by: "eve", at: 101) } == 404)
        #expect(code { _ = try invitations.accept("IN0", by: "ben", at: 101) } == 404)
        #expect(code { _ = try invitations.reject(invitation.sid, by: "ann", at: 101) } == 404)
    }

    @Test("V17 an acceptance permits the invited mode, to that identity, once and soon")
    func permission() throws {
        var invitations = RoomInvitations()
        let invitation = try invite(&invitations, ["ben", "cat"])
        #expect(invitations.permission(of: "ben", for: .sendAndReceive, at: 101) == nil)
        _ = try invitations.accept(invitation.sid, by: "ben", at: 101)
        #expect(invitations.permission(of: "ben", for: .sendAndReceive, at: 102) == invitation.sid)
        #expect(invitations.permission(of: "ben", for: .sendAndReceive, sid: invitation.sid, at: 102) == invitation.sid)
        #expect(invitations.permission(of: "ben", for: .sendAndReceive, sid: "IN0", at: 102) == nil)
        #expect(invitations.permission(of: "ben", for: .signallingOnly, at: 102) == nil)
        #expect(invitations.permission(of: "cat", for: .sendAndReceive, at: 102) == nil)
        #expect(invitations.permission(of: "ben", for: .sendAndReceive, at: 220.9) == invitation.sid)
        #expect(invitations.permission(of: "ben", for: .sendAndReceive, at: 221) == nil)
        invitations.use(invitation.sid, by: "ben")
        #expect(invitations.permission(of: "ben", for: .sendAndReceive, at: 102) == nil)
    }

    @Test("a room has at most fifty ringing invitations and retains a hundred closed ones")
    func bounded() throws {
        var invitations = RoomInvitations()
        for number in 1...50 { _ = try invite(&invitations, ["p\(number)"]) }
        #expect(code { _ = try invite(&invitations, ["ben"]) } == 53006)
        #expect(invitations.cancelAll(at: 101).count == 50)
        for number in 1...200 {
            let invitation = try invite(&invitations, ["p\(number)"])
            _ = try invitations.reject(invitation.sid, by: "p\(number)", at: 102)
        }
        let open = try invite(&invitations, ["ben"])
        #expect(invitations.invitations.count == RoomInvitations.maximumClosed + 1)
        #expect(invitations.invitations.last?.sid == open.sid)
    }

    @Test(
        "for any sequence each invitee gets exactly one final state, and a permission is used once"
    )
    func invariants() throws {
        var chance = SeededGenerator(seed: 20)
        let people = ["a", "b", "c", "d", "e"]
        for _ in 0..<25 {
            var invitations = RoomInvitations()
            var ends: [String: [String: InvitationChange.Kind]] = [:]
            var uses: [String: Int] = [:]
            var sids: [String] = []
            func record(_ changes: [InvitationChange]) {
                for change in changes where change.kind != .created {
                    for identity in change.identities {
                        #expect(ends[change.invitation.sid]?[identity] == nil)
                        ends[change.invitation.sid, default: [:]][identity] = change.kind
                        #expect(change.invitation.invitee(identity)?.state.rawValue == change.kind.rawValue)
                    }
                }
            }
            var now = 100.0
            for _ in 0..<300 {
                now += Double.random(in: 0...4, using: &chance)
                let who = people.randomElement(using: &chance) ?? "a"
                let sid = sids.suffix(8).randomElement(using: &chance) ?? "IN0"
                switch Int.random(in: 0..<8, using: &chance) {
                case 0, 1:
                    let called = people.shuffled(using: &chance).prefix(3).filter { $0 != who }
                    if let new = try? invite(&invitations, called, by: who, timeout: 20, at: now) {
                        sids.append(new.sid)
                    }
                case 2, 3: record([try? invitations.accept(sid, by: who, at: now)].compactMap { $0 })
                case 4: record([(try? invitations.reject(sid, by: who, at: now)) ?? nil].compactMap { $0 })
                case 5: record([try? invitations.cancel(sid, by: who, at: now)].compactMap { $0 })
                case 6: record(invitations.expire(at: now))
                default:
                    guard let granting = invitations.permission(of: who, for: .sendAndReceive, at: now) else {
                        continue
                    }
                    #expect(ends[granting]?[who] == .accepted)
                    invitations.use(granting, by: who)
                    uses[granting + who, default: 0] += 1
                }
                for invitation in invitations.invitations {
                    #expect(invitation.invitee(invitation.inviter) == nil)
                }
            }
            record(invitations.cancelAll(at: now))
            for invitation in invitations.invitations {
                #expect(!invitation.isOpen)
                #expect(Set(ends[invitation.sid]?.keys ?? [:].keys) == Set(invitation.invitees.map(\.identity)))
            }
            #expect(uses.values.allSatisfy { $0 == 1 })
        }
    }
}

@Suite("Invitations on stage")
struct StageInvitationTests {
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
    }

    private func invite(_ identities: String..., timeout: Int = 30) throws -> Invitation {
        try directory.invite(
            room: "show",
            InvitationRequest(inviter: "ann", identities: identities, timeout: timeout)
        )
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

    @Test("U20 V19 an accepted invitation lets a viewer come on stage, once")
    func comeOnStage() throws {
        #expect(code { _ = try promote("eve") } == 4065)
        let invitation = try invite("eve")
        #expect(code { _ = try promote("eve") } == 4065)
        #expect(try directory.acceptInvitation(invitation.sid, by: "eve").state == .accepted)
        #expect(try directory.invitationPermits(room: "show", identity: "eve", mode: .sendAndReceive))
        let change = try promote("eve")
        #expect(change.participant.mode == .sendAndReceive)
        #expect(change.credentials != nil)
        #expect(try directory.room("show").counts == RoomCounts(hosts: 2))
        #expect(try !directory.invitationPermits(room: "show", identity: "eve", mode: .sendAndReceive))
        _ = try directory.changeMode(room: "show", participant: "eve", to: .receiveOnly)
        #expect(code { _ = try promote("eve") } == 4065)
        #expect(log.invitations.map(\.kind) == [.created, .accepted])
    }

    @Test("V17 a full stage does not cost the permission")
    func fullStage() throws {
        _ = try directory.join(room: "show", JoinRequest(identity: "ben", mode: .sendAndReceive))
        let invitation = try invite("eve")
        _ = try directory.acceptInvitation(invitation.sid, by: "eve")
        #expect(code { _ = try promote("eve") } == 4010)
        try directory.leave(room: "show", participant: "ben", reason: .left)
        #expect(try promote("eve").participant.mode == .sendAndReceive)
    }

    @Test("U4 an invitee from outside joins once, with the invited identity and mode")
    func joinWithInvitation() throws {
        let invitation = try invite("zoe")
        func join(_ identity: String, _ mode: ParticipantMode) throws {
            _ = try directory.join(
                room: "show",
                JoinRequest(identity: identity, mode: mode, invitationSID: invitation.sid)
            )
        }
        #expect(code { try join("zoe", .sendAndReceive) } == 4065)
        _ = try directory.acceptInvitation(invitation.sid, by: "zoe")
        #expect(code { try join("zed", .sendAndReceive) } == 4065)
        #expect(code { try join("zoe", .signallingOnly) } == 4065)
        try join("zoe", .sendAndReceive)
        #expect(try directory.room("show").participant("zoe")?.mode == .sendAndReceive)
        #expect(code { try join("zoe", .sendAndReceive) } == 4065)
    }

    @Test("U5 an unanswered invitation is missed once")
    func missed() throws {
        _ = try invite("eve", "zoe", timeout: 10)
        clock.advance(by: .seconds(9))
        directory.sweep()
        #expect(log.invitations.map(\.kind) == [.created])
        clock.advance(by: .seconds(1))
        directory.sweep()
        directory.sweep()
        #expect(log.invitations.map(\.kind) == [.created, .missed])
        #expect(log.invitations.last?.identities == ["eve", "zoe"])
    }

    @Test("U8 the end of the room cancels all invitations before its own event")
    func roomEnds() throws {
        let invitation = try invite("zoe")
        try directory.end(room: "show")
        #expect(log.names.suffix(2) == [.invitationCancelled, .roomEnded])
        #expect(code { _ = try directory.acceptInvitation(invitation.sid, by: "zoe") } == 409)
        #expect(code { _ = try invite("zoe") } == 53106)
    }

    @Test("S7 the stream of an identity has its invitations of every room")
    func userStream() async throws {
        _ = try directory.create(RoomSettings(name: "other"))
        let early = try invite("zoe")
        let (zoe, ann, eve) = (
            try directory.subscribe(identity: "zoe"), try directory.subscribe(identity: "ann"),
            try directory.subscribe(identity: "eve")
        )
        let request = InvitationRequest(inviter: "bob", identities: ["zoe", "eve"])
        let late = try directory.invite(room: "other", request)
        _ = try directory.rejectInvitation(early.sid, by: "zoe")
        _ = try directory.acceptInvitation(late.sid, by: "zoe")
        _ = try directory.cancelInvitation(late.sid, by: "bob")
        directory.endReaders()
        #expect(
            await changes(zoe) == [
                "created \(early.sid)", "created \(late.sid)", "rejected \(early.sid)", "accepted \(late.sid)",
                "cancelled \(late.sid)",
            ]
        )
        // The inviter receives the answers; invitations that rang before come first for the invitee.
        #expect(await changes(ann) == ["rejected \(early.sid)"])
        #expect(await changes(eve) == ["created \(late.sid)", "accepted \(late.sid)", "cancelled \(late.sid)"])
    }

    @Test("refuses streams during shutdown")
    func streamsWhileClosing() throws {
        directory.endReaders()
        #expect(code { _ = try directory.subscribe(identity: "zoe") } == 53006)
        #expect(code { _ = try directory.subscribe(room: "show", after: nil) } == 53006)
        #expect(directory.readerCount == 0)
    }

    private func changes(_ subscription: EventSubscription) async -> [String] {
        var changes: [String] = []
        for await event in subscription.events {
            guard case .invitation(let change) = event.payload else { continue }
            changes.append("\(change.kind.rawValue) \(change.invitation.sid)")
        }
        return changes
    }

    @Test("an invitation is found by its sid, and hidden from other identities")
    func findInvitation() throws {
        let invitation = try invite("eve")
        #expect(try directory.invitation(invitation.sid) == invitation)
        #expect(code { _ = try directory.invitation("IN0") } == 404)
        #expect(code { _ = try directory.acceptInvitation(invitation.sid, by: "bob") } == 404)
        #expect(code { _ = try directory.cancelInvitation(invitation.sid, by: "eve") } == 20106)
        #expect(try directory.rejectInvitation(invitation.sid, by: "eve").state == .rejected)
        #expect(try directory.rejectInvitation(invitation.sid, by: "eve").state == .rejected)
        #expect(log.invitations.map(\.kind) == [.created, .rejected])
        #expect(code { _ = try directory.acceptInvitation(invitation.sid, by: "eve") } == 409)
        directory.drain()
        #expect(code { _ = try invite("eve") } == 53006)
    }
}
