import Testing

@testable import Stage

@Suite("A book of invitations")
struct InvitationBookTests {
    private func call(
        _ book: inout InvitationBook,
        _ identities: [String],
        by inviter: String = "ann",
        mode: ParticipantMode = .sendAndReceive,
        timeout: Int = 30,
        at now: Double = 100
    ) throws -> Invitation {
        let request = InvitationRequest(inviter: inviter, identities: identities, mode: mode, timeout: timeout)
        return try book.create(request, roomSID: "RM1", roomName: "show", at: now).invitation
    }

    private func code(_ body: () throws -> Void) -> Int? {
        do {
            try body()
            return nil
        } catch {
            return (error as? StageError)?.code
        }
    }

    @Test("U6 a new invitation rings for each of those called, once")
    func create() throws {
        var book = InvitationBook()
        let invitation = try call(&book, ["ben", "cat", "ben"])
        #expect(invitation.sid.hasPrefix("IN"))
        #expect(invitation.sid.count == 34)
        #expect(invitation.sid.dropFirst(2).allSatisfy { $0.isHexDigit })
        #expect(invitation.invitees.map(\.identity) == ["ben", "cat"])
        #expect(invitation.state == .ringing)
        #expect(invitation.expiresAt == 130)
        #expect(book.ringing(for: "ben", at: 101).map(\.sid) == [invitation.sid])
        #expect(book.ringing(for: "ann", at: 101).isEmpty)
    }

    @Test("U3 nobody calls themselves; names, numbers and times are checked")
    func validation() throws {
        var book = InvitationBook()
        #expect(code { _ = try call(&book, ["ben", "ann"]) } == 3073)
        #expect(code { _ = try call(&book, []) } == 3073)
        #expect(code { _ = try call(&book, (1...51).map { "p\($0)" }) } == 3073)
        #expect(code { _ = try call(&book, [""]) } == 53200)
        #expect(code { _ = try call(&book, [String(repeating: "x", count: 65)]) } == 53201)
        #expect(code { _ = try call(&book, ["b n"]) } == 53202)
        #expect(code { _ = try call(&book, ["ben"], timeout: 4) } == 3073)
        #expect(code { _ = try call(&book, ["ben"], timeout: 301) } == 3073)
        #expect(book.invitations.isEmpty)
        _ = try call(&book, (1...50).map { "p\($0)" })
    }

    @Test("S7 an acceptance is one device's; another device is told that it was handled")
    func acceptTwice() throws {
        var book = InvitationBook()
        let invitation = try call(&book, ["ben", "cat"])
        let change = try book.accept(invitation.sid, by: "ben", at: 105)
        #expect(change.kind == .accepted)
        #expect(change.identities == ["ben"])
        #expect(change.invitation.state == .accepted)
        #expect(change.invitation.invitee("ben")?.changedAt == 105)
        #expect(code { _ = try book.accept(invitation.sid, by: "ben", at: 106) } == 409)
        #expect(code { _ = try book.reject(invitation.sid, by: "ben", at: 106) } == 409)
        // Another's acceptance leaves it ringing.
        #expect(book.ringing(for: "cat", at: 106).count == 1)
        #expect(try book.accept(invitation.sid, by: "cat", at: 107).invitation.isOpen == false)
    }

    @Test("S5 when all have declined, the invitation is rejected as a whole")
    func allRejected() throws {
        var book = InvitationBook()
        let invitation = try call(&book, ["ben", "cat"])
        #expect(try book.reject(invitation.sid, by: "ben", at: 101)?.invitation.state == .ringing)
        #expect(try book.reject(invitation.sid, by: "ben", at: 102) == nil)
        let last = try #require(try book.reject(invitation.sid, by: "cat", at: 103))
        #expect(last.invitation.state == .rejected)
        #expect(last.identities == ["cat"])
        #expect(code { _ = try book.cancel(invitation.sid, by: "ann", at: 104) } == 409)
    }

    @Test("U8 calling back ends the ringing of those who have not answered, and is the inviter's or an operator's")
    func cancel() throws {
        var book = InvitationBook()
        let invitation = try call(&book, ["ben", "cat", "dan"])
        _ = try book.reject(invitation.sid, by: "ben", at: 101)
        #expect(code { _ = try book.cancel(invitation.sid, by: "cat", at: 102) } == 20106)
        #expect(code { _ = try book.cancel(invitation.sid, by: "eve", at: 102) } == 404)
        let change = try book.cancel(invitation.sid, by: "ann", at: 102)
        #expect(change.kind == .cancelled)
        #expect(change.identities == ["cat", "dan"])
        #expect(change.invitation.state == .cancelled)
        #expect(code { _ = try book.accept(invitation.sid, by: "cat", at: 103) } == 409)
        let other = try call(&book, ["ben"])
        #expect(try book.cancel(other.sid, by: nil, at: 103).identities == ["ben"])
    }

    @Test("U5 what is not answered in time is missed, and nobody answers afterwards")
    func expire() throws {
        var book = InvitationBook()
        let invitation = try call(&book, ["ben", "cat", "dan"], timeout: 10)
        _ = try book.accept(invitation.sid, by: "ben", at: 109.9)
        #expect(book.expire(at: 109.99).isEmpty)
        // In time counts, whether or not anybody has looked at the clock.
        #expect(code { _ = try book.accept(invitation.sid, by: "cat", at: 110) } == 410)
        let changes = book.expire(at: 110)
        #expect(changes.map(\.kind) == [.missed])
        #expect(changes.first?.identities == ["cat", "dan"])
        #expect(changes.first?.invitation.state == .accepted)
        #expect(book.expire(at: 111).isEmpty)
        #expect(code { _ = try book.reject(invitation.sid, by: "dan", at: 111) } == 410)
        #expect(book.ringing(for: "dan", at: 111).isEmpty)
    }

    @Test("Strangers and unknown sids are told the same")
    func strangers() throws {
        var book = InvitationBook()
        let invitation = try call(&book, ["ben"])
        #expect(code { _ = try book.accept(invitation.sid, by: "eve", at: 101) } == 404)
        #expect(code { _ = try book.accept("IN0", by: "ben", at: 101) } == 404)
        #expect(code { _ = try book.reject(invitation.sid, by: "ann", at: 101) } == 404)
    }

    @Test("V17 an acceptance permits the invited mode, to that identity, once and soon")
    func permission() throws {
        var book = InvitationBook()
        let invitation = try call(&book, ["ben", "cat"])
        #expect(book.permission(of: "ben", for: .sendAndReceive, at: 101) == nil)
        _ = try book.accept(invitation.sid, by: "ben", at: 101)
        #expect(book.permission(of: "ben", for: .sendAndReceive, at: 102) == invitation.sid)
        #expect(book.permission(of: "ben", for: .sendAndReceive, sid: invitation.sid, at: 102) == invitation.sid)
        #expect(book.permission(of: "ben", for: .sendAndReceive, sid: "IN0", at: 102) == nil)
        #expect(book.permission(of: "ben", for: .signallingOnly, at: 102) == nil)
        #expect(book.permission(of: "cat", for: .sendAndReceive, at: 102) == nil)
        #expect(book.permission(of: "ben", for: .sendAndReceive, at: 220.9) == invitation.sid)
        #expect(book.permission(of: "ben", for: .sendAndReceive, at: 221) == nil)
        book.use(invitation.sid, by: "ben")
        #expect(book.permission(of: "ben", for: .sendAndReceive, at: 102) == nil)
    }

    @Test("A room has at most fifty that ring, and remembers a hundred that are over")
    func bounded() throws {
        var book = InvitationBook()
        for number in 1...50 { _ = try call(&book, ["p\(number)"]) }
        #expect(code { _ = try call(&book, ["ben"]) } == 53006)
        #expect(book.cancelAll(at: 101).count == 50)
        for number in 1...200 {
            let invitation = try call(&book, ["p\(number)"])
            _ = try book.reject(invitation.sid, by: "p\(number)", at: 102)
        }
        let open = try call(&book, ["ben"])
        #expect(book.invitations.count == InvitationBook.keptClosed + 1)
        #expect(book.invitations.last?.sid == open.sid)
    }

    @Test(
        "Whatever happens in whatever order, each of those called is told of exactly one end, and a permission is used once"
    )
    func laws() throws {
        var chance = SeededGenerator(seed: 20)
        let people = ["a", "b", "c", "d", "e"]
        for _ in 0..<25 {
            var book = InvitationBook()
            var ends: [String: [String: InvitationChange.Kind]] = [:]
            var uses: [String: Int] = [:]
            var sids: [String] = []
            func note(_ changes: [InvitationChange]) {
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
                    if let new = try? call(&book, called, by: who, timeout: 20, at: now) { sids.append(new.sid) }
                case 2, 3: note([try? book.accept(sid, by: who, at: now)].compactMap { $0 })
                case 4: note([(try? book.reject(sid, by: who, at: now)) ?? nil].compactMap { $0 })
                case 5: note([try? book.cancel(sid, by: who, at: now)].compactMap { $0 })
                case 6: note(book.expire(at: now))
                default:
                    guard let granting = book.permission(of: who, for: .sendAndReceive, at: now) else { continue }
                    #expect(ends[granting]?[who] == .accepted)
                    book.use(granting, by: who)
                    uses[granting + who, default: 0] += 1
                }
                for invitation in book.invitations {
                    #expect(invitation.invitee(invitation.inviter) == nil)
                }
            }
            note(book.cancelAll(at: now))
            for invitation in book.invitations {
                #expect(!invitation.isOpen)
                #expect(Set(ends[invitation.sid]?.keys ?? [:].keys) == Set(invitation.invitees.map(\.identity)))
            }
            #expect(uses.values.allSatisfy { $0 == 1 })
        }
    }
}
