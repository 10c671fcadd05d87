public import Media

/// One person's call from the lobby to the goodbye: the rules alone, without network, clock or chance.
///
///     idle│left ──▶ lobby ──┬───────────────▶ joining ──▶ joined ◀──▶ reconnecting
///         ├──────▶ outgoing ┤ one accepted      │            │             │
///         └──────▶ incoming ┘ accepted          ▼            ▼             ▼
///                                            leaving ──▶ left(nil)     left(error)
///
/// The owner hands in what happened and carries out what comes back, in order. It calls again with `timePassed` when
/// `deadline` comes; should it be late, whatever is due is done before the next event counts. What is not foreseen in a
/// phase is ignored: late answers, second joins, news of other invitations.
public struct CallStateMachine: Sendable {
    /// Who this client is; its own calls do not ring here.
    public let identity: String
    /// The times and numbers it keeps to.
    public let limits: CallLimits

    private(set) var stance: CallStance = .idle
    private var wasAttempted = false
    /// The number given out last, to joins and rings alike.
    private var lastNumber = 0
    /// The latest ring that somebody accepted.
    var answeredRing: Int?
    private var actions: [CallAction] = []

    /// A new client's call.
    public init(identity: String, limits: CallLimits = .init()) {
        self.identity = identity
        self.limits = limits
    }

    /// What observers see.
    public var status: CallStatus {
        CallStatus(phase: stance.phase, wasAttempted: wasAttempted)
    }

    /// The invitation to the stage that is open; nil without one.
    public var stageInvitation: CallInvitation? {
        switch stance {
        case .joined(let session), .reconnecting(let session, _): session.invitation?.invitation
        default: nil
        }
    }

    /// When to call with `timePassed`; nil while only events can change anything.
    public var deadline: MonotonicTime? {
        switch stance {
        case .idle, .lobby, .left: nil
        case .incoming(let ringing): ringing.deadline
        case .outgoing(let calling): calling.deadline
        case .joining(let joining): min(joining.deadline, joining.retryAt ?? joining.deadline)
        case .joined(let session): session.invitation?.deadline
        case .reconnecting(let session, let outage):
            [outage.began.advanced(seconds: limits.reconnect), outage.tryAt, session.invitation?.deadline]
                .compactMap { $0 }.min()
        case .leaving(let farewell): farewell.deadline
        }
    }

    /// Takes in what happened and says what to do.
    ///
    /// - Parameters:
    ///   - now: The time of the event; never earlier than that of the event before.
    ///   - chance: A random number from 0 to 1, which spreads delays.
    public mutating func handle(_ event: CallEvent, now: MonotonicTime, chance: Double) -> [CallAction] {
        // Written so that a value that is no number counts as 0.
        let chance = chance > 0 ? min(chance, 1) : 0
        while let deadline, deadline <= now { fireTimer(now: now, chance: chance) }
        switch event {
        case .timePassed, .roomChanged: break
        case .enterLobby, .join, .ring, .accept, .reject, .hangUp: wish(event, now: now)
        case .invitationReceived(let invitation): invited(invitation, now: now)
        case .invitationAccepted, .invitationRejected, .invitationCancelled, .invitationMissed, .roomEnded:
            hear(event, now: now)
        case .invitationsSent(let sids, let ring): invitationsSent(sids, ring: ring)
        case .invitationsRefused(let error, let ring): invitationsRefused(error, ring: ring)
        case .acceptConfirmed(let sid): acceptConfirmed(sid, now: now)
        case .acceptRefused(let sid, let error): acceptRefused(sid, error)
        case .joinSucceeded(let request, let mode): joinSucceeded(request, mode: mode, now: now)
        case .joinFailed(let request, let error): joinFailed(request, error, now: now, chance: chance)
        case .leaveAcknowledged, .networkUnavailable: leaveEnded()
        case .connectionLost(let loss): connectionLost(loss, now: now, chance: chance)
        case .restored(let way): restored(way, now: now, chance: chance)
        case .mediaRestored: mediaRestored(now: now)
        case .reconnectFailed(let error): reconnectFailed(error, now: now, chance: chance)
        case .sessionDisconnected(let error): sessionDisconnected(error, now: now, chance: chance)
        }
        defer { actions = [] }
        return actions
    }

    private mutating func wish(_ event: CallEvent, now: MonotonicTime) {
        switch (event, stance) {
        case (.enterLobby(let info), .idle), (.enterLobby(let info), .left):
            enter(.lobby(info))
            act(.fetchRoom(info))
        case (.join(let order), .idle), (.join(let order), .left), (.join(let order), .lobby):
            beginJoin(order, now: now)
        case (.ring(let order), .idle), (.ring(let order), .left), (.ring(let order), .lobby):
            beginRing(order, now: now)
        case (.accept, _): accept(now: now)
        case (.reject, _): reject()
        case (.hangUp, _): hangUp(now: now)
        default: break
        }
    }

    private mutating func fireTimer(now: MonotonicTime, chance: Double) {
        switch stance {
        case .idle, .lobby, .left: break
        case .incoming, .joined: ringingEnded()
        case .outgoing: callingEnded(cancels: true)
        case .joining: joiningTimer(now: now)
        case .reconnecting: outageTimer(now: now, chance: chance)
        case .leaving: leaveEnded()
        }
    }

    // MARK: What every part of the machine uses

    /// Moves on, and tells observers if they see a difference.
    mutating func enter(_ next: CallStance) {
        let before = status
        switch next {
        case .joining, .left: wasAttempted = true
        default: break
        }
        stance = next
        if status != before { act(.emit(status)) }
    }

    /// Back to where one comes from without having joined: a new client, or one that was in a call before.
    mutating func retreat() {
        enter(wasAttempted ? .left(nil) : .idle)
    }

    mutating func act(_ action: CallAction) {
        actions.append(action)
    }

    /// A number never used before.
    mutating func nextNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    /// Whether the machine gave out this number.
    func isOurs(_ number: Int) -> Bool {
        number > 0 && number <= lastNumber
    }
}
