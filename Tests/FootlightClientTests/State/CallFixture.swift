import Media

@testable import FootlightClient
import Stage

/// A call with manual time and results, which records the emitted statuses.
struct CallFixture {
    var machine: CallStateMachine
    private(set) var now = MonotonicTime(nanoseconds: 1_000_000_000)
    /// All emitted statuses.
    private(set) var emitted: [CallStatus] = []

    init(identity: String = "me") {
        machine = CallStateMachine(identity: identity)
    }

    var phase: CallPhase { machine.status.phase }
    var phases: [CallPhase] { emitted.map { $0.phase } }

    /// Seconds until the deadline; nil without one.
    var untilDeadline: Double? { machine.deadline?.seconds(since: now) }

    @discardableResult
    mutating func send(_ event: CallEvent, chance: Double = 0.5) -> [CallAction] {
        let actions = machine.handle(event, now: now, chance: chance)
        for case .emit(let status) in actions { emitted.append(status) }
        return actions
    }

    /// Sends an event and returns the actions other than `emit`.
    @discardableResult
    mutating func effects(of event: CallEvent, chance: Double = 0.5) -> [CallAction] {
        send(event, chance: chance).effects
    }

    /// Advances the time, with a call at every deadline.
    @discardableResult
    mutating func wait(_ seconds: Double, chance: Double = 0.5) -> [CallAction] {
        let end = now.advanced(seconds: seconds)
        var actions: [CallAction] = []
        while let deadline = machine.deadline, deadline <= end {
            now = max(now, deadline)
            actions += send(.timePassed, chance: chance)
        }
        now = end
        return actions
    }

    /// Advances the time without calls.
    mutating func skip(_ seconds: Double) {
        now = now.advanced(seconds: seconds)
    }
}

extension [CallAction] {
    var effects: [CallAction] {
        filter { if case .emit = $0 { false } else { true } }
    }

    /// The number of the last join request.
    var request: Int? {
        compactMap { if case .sendJoin(_, let request) = $0 { request } else { nil } }.last
    }

    var ring: Int? {
        compactMap { if case .sendInvitations(_, let ring) = $0 { ring } else { nil } }.last
    }
}

// MARK: Calls in each phase

extension CallFixture {
    static let join = CallJoin(room: "studio")
    static let watchOnly = CallJoin(room: "studio", mode: .receiveOnly)
    static let invitation = CallInvitation(sid: "IN1", room: "studio", inviter: "ann")
    static let ring = CallRing(join: join, invitees: ["ann", "bob", "me"])

    /// A joining call, with its request number.
    static func joining(_ order: CallJoin = join) -> (run: CallFixture, request: Int) {
        var run = CallFixture()
        let request = run.send(.join(order)).request ?? 0
        return (run, request)
    }

    static func joined(_ order: CallJoin = join) -> CallFixture {
        var (run, request) = joining(order)
        run.send(.joinSucceeded(request: request, mode: order.mode))
        return run
    }

    static func reconnecting(_ loss: ConnectionLoss = .signalling) -> CallFixture {
        var run = joined()
        run.send(.connectionLost(loss))
        return run
    }

    static func leaving() -> CallFixture {
        var run = joined()
        run.send(.hangUp)
        return run
    }

    static func left(_ error: StageError? = nil) -> CallFixture {
        if let error {
            var (run, request) = joining()
            run.send(.joinFailed(request: request, error))
            return run
        }
        var run = leaving()
        run.send(.leaveAcknowledged)
        return run
    }

    static func incoming() -> CallFixture {
        var run = CallFixture()
        run.send(.invitationReceived(invitation))
        return run
    }

    static func outgoing() -> CallFixture {
        var run = CallFixture()
        let ring = run.send(.ring(ring)).ring ?? 0
        run.send(.invitationsSent(sids: ["IN1", "IN2"], ring: ring))
        return run
    }

    static func answer(_ identity: String, room: String = "studio", sid: String = "IN1") -> InvitationAnswer {
        InvitationAnswer(sid: sid, room: room, identity: identity)
    }
}
