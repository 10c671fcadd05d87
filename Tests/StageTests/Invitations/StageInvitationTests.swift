import FootlightTesting
import Testing

@testable import Stage

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

    @Test("U4 somebody from outside joins with the invitation, once, as who was invited, in the mode that was offered")
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

    @Test("U5 nobody answers: it is missed at its time, once")
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

    @Test("U8 the end of the room calls all back, before the news of it")
    func roomEnds() throws {
        let invitation = try invite("zoe")
        try directory.end(room: "show")
        #expect(log.names.suffix(2) == [.invitationCancelled, .roomEnded])
        #expect(code { _ = try directory.acceptInvitation(invitation.sid, by: "zoe") } == 409)
        #expect(code { _ = try invite("zoe") } == 53106)
    }

    @Test("S7 the stream of an identity has what concerns it, in every room, wherever it is")
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
            await news(zoe) == [
                "created \(early.sid)", "created \(late.sid)", "rejected \(early.sid)", "accepted \(late.sid)",
                "cancelled \(late.sid)",
            ]
        )
        // The inviter is told of the answers; what rang before is news to those it rings for.
        #expect(await news(ann) == ["rejected \(early.sid)"])
        #expect(await news(eve) == ["created \(late.sid)", "accepted \(late.sid)", "cancelled \(late.sid)"])
    }

    @Test("Who comes for its stream while the gateway goes is sent to the next one, and holds its end not up")
    func streamsWhileClosing() throws {
        directory.endReaders()
        #expect(code { _ = try directory.subscribe(identity: "zoe") } == 53006)
        #expect(code { _ = try directory.subscribe(room: "show", after: nil) } == 53006)
        #expect(directory.readerCount == 0)
    }

    private func news(_ subscription: EventSubscription) async -> [String] {
        var news: [String] = []
        for await event in subscription.events {
            guard case .invitation(let change) = event.payload else { continue }
            news.append("\(change.kind.rawValue) \(change.invitation.sid)")
        }
        return news
    }

    @Test("An invitation is found by its sid alone, and strangers learn nothing of it")
    func lookUp() throws {
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
