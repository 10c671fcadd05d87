import Media

@testable import Stage

/// A call whose time and answers are given by hand; it remembers what was emitted.
struct CallRun {
    var machine: CallStateMachine
    private(set) var now = MonotonicTime(nanoseconds: 1_000_000_000)
    /// Everything emitted so far.
    private(set) var emitted: [CallStatus] = []

    init(identity: String = "me") {
        machine = CallStateMachine(identity: identity)
    }

    var phase: CallPhase { machine.status.phase }
    var phases: [CallPhase] { emitted.map { $0.phase } }

    /// Seconds until the machine wants to be called; nil without a deadline.
    var untilDeadline: Double? { machine.deadline?.seconds(since: now) }

    @discardableResult
    mutating func say(_ event: CallEvent, chance: Double = 0.5) -> [CallAction] {
        let actions = machine.handle(event, now: now, chance: chance)
        for case .emit(let status) in actions { emitted.append(status) }
        return actions
    }

    /// Says an event and leaves out what was emitted.
    @discardableResult
    mutating func effects(of event: CallEvent, chance: Double = 0.5) -> [CallAction] {
        say(event, chance: chance).effects
    }

    /// Lets time pass, with a call at every deadline on the way.
    @discardableResult
    mutating func wait(_ seconds: Double, chance: Double = 0.5) -> [CallAction] {
        let end = now.advanced(seconds: seconds)
        var actions: [CallAction] = []
        while let deadline = machine.deadline, deadline <= end {
            now = max(now, deadline)
            actions += say(.timePassed, chance: chance)
        }
        now = end
        return actions
    }

    /// Lets time pass without calling the machine.
    mutating func skip(_ seconds: Double) {
        now = now.advanced(seconds: seconds)
    }
}

extension [CallAction] {
    var effects: [CallAction] {
        filter { if case .emit = $0 { false } else { true } }
    }

    /// The number of the last join asked for.
    var request: Int? {
        compactMap { if case .sendJoin(_, let request) = $0 { request } else { nil } }.last
    }

    var ring: Int? {
        compactMap { if case .sendInvitations(_, let ring) = $0 { ring } else { nil } }.last
    }
}

// MARK: Calls that have come so far

extension CallRun {
    static let join = CallJoin(room: "studio")
    static let watch = CallJoin(room: "studio", mode: .receiveOnly)
    static let invitation = CallInvitation(sid: "IN1", room: "studio", inviter: "ann")
    static let ring = CallRing(join: join, invitees: ["ann", "bob", "me"])

    /// Joining, by this request.
    static func joining(_ order: CallJoin = join) -> (run: CallRun, request: Int) {
        var run = CallRun()
        let request = run.say(.join(order)).request ?? 0
        return (run, request)
    }

    static func joined(_ order: CallJoin = join) -> CallRun {
        var (run, request) = joining(order)
        run.say(.joinSucceeded(request: request, mode: order.mode))
        return run
    }

    static func reconnecting(_ loss: ConnectionLoss = .signalling) -> CallRun {
        var run = joined()
        run.say(.connectionLost(loss))
        return run
    }

    static func leaving() -> CallRun {
        var run = joined()
        run.say(.hangUp)
        return run
    }

    static func left(_ error: StageError? = nil) -> CallRun {
        if let error {
            var (run, request) = joining()
            run.say(.joinFailed(request: request, error))
            return run
        }
        var run = leaving()
        run.say(.leaveAcknowledged)
        return run
    }

    static func incoming() -> CallRun {
        var run = CallRun()
        run.say(.invitationReceived(invitation))
        return run
    }

    static func outgoing() -> CallRun {
        var run = CallRun()
        let ring = run.say(.ring(ring)).ring ?? 0
        run.say(.invitationsSent(sids: ["IN1", "IN2"], ring: ring))
        return run
    }

    static func answer(_ identity: String, room: String = "studio", sid: String = "IN1") -> InvitationAnswer {
        InvitationAnswer(sid: sid, room: room, identity: identity)
    }
}
