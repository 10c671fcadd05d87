public import Media
import Stage

/// The state machine of one participant's call, without network, clock or randomness.
///
///     idle│left ──▶ lobby ──┬───────────────▶ joining ──▶ joined ◀──▶ reconnecting
///         ├──────▶ outgoing ┤ one accepted      │            │             │
///         └──────▶ incoming ┘ accepted          ▼            ▼             ▼
///                                            leaving ──▶ left(nil)     left(error)
///
/// The owner passes events and performs the returned actions in order. It calls again with `timePassed` at
/// `deadline`; a late call first handles all that was due. Events that a phase does not expect are ignored: late
/// responses, second joins, events of other invitations.
public struct CallStateMachine: Sendable {
    /// The client's identity; its own invitations do not ring.
    public let identity: String
    /// The timeouts and limits.
    public let limits: CallLimits

    private(set) var context: CallContext = .idle
    private var wasAttempted = false
    /// The last number assigned to a join or a ring.
    private var lastNumber = 0
    /// The latest ring that an invitee accepted.
    var acceptedRing: Int?
    private var actions: [CallAction] = []

    /// Creates the state machine of a new client.
    public init(identity: String, limits: CallLimits = .init()) {
        self.identity = identity
        self.limits = limits
    }

    /// The state that observers see.
    public var status: CallStatus {
        CallStatus(phase: context.phase, wasAttempted: wasAttempted)
    }

    /// The open invitation to the stage; nil without one.
    public var stageInvitation: CallInvitation? {
        switch context {
        case .joined(let session), .reconnecting(let session, _): session.invitation?.invitation
        default: nil
        }
    }

    /// The time at which `timePassed` is due; nil while only events change the state.
    public var deadline: MonotonicTime? {
        switch context {
        case .idle, .lobby, .left: nil
        case .incoming(let ringing): ringing.deadline
        case .outgoing(let calling): calling.deadline
        case .joining(let joining): min(joining.deadline, joining.retryAt ?? joining.deadline)
        case .joined(let session): session.invitation?.deadline
        case .reconnecting(let session, let outage):
            [outage.began.advanced(seconds: limits.reconnect), outage.tryAt, session.invitation?.deadline]
                .compactMap { $0 }.min()
        case .leaving(let leaving): leaving.deadline
        }
    }

    /// Handles an event and returns the actions to perform.
    ///
    /// - Parameters:
    ///   - now: The time of the event; never earlier than that of the previous event.
    ///   - chance: A random number from 0 to 1 for jitter.
    public mutating func handle(_ event: CallEvent, now: MonotonicTime, chance: Double) -> [CallAction] {
        // The comparison maps NaN to 0.
        let chance = chance > 0 ? min(chance, 1) : 0
        while let deadline, deadline <= now { fireTimer(now: now, chance: chance) }
        switch event {
        case .timePassed, .roomChanged: break
        case .enterLobby, .join, .ring, .accept, .reject, .hangUp: handleCommand(event, now: now)
        case .invitationReceived(let invitation): invitationReceived(invitation, now: now)
        case .invitationAccepted, .invitationRejected, .invitationCancelled, .invitationMissed, .roomEnded:
            handleInvitation(event, now: now)
        case .invitationsSent(let sids, let ring): invitationsSent(sids, ring: ring)
        case .invitationsRefused(let error, let ring): invitationsRefused(error, ring: ring)
        case .acceptConfirmed(let sid): acceptConfirmed(sid, now: now)
        case .acceptRefused(let sid, let error): acceptRefused(sid, error)
        case .joinSucceeded(let request, let mode): joinSucceeded(request, mode: mode, now: now)
        case .joinFailed(let request, let error): joinFailed(request, error, now: now, chance: chance)
        case .leaveAcknowledged, .networkUnavailable: leaveEnded()
        case .connectionLost(let loss): connectionLost(loss, now: now, chance: chance)
        case .restored(let method): restored(method, now: now, chance: chance)
        case .mediaRestored: mediaRestored(now: now)
        case .reconnectFailed(let error): reconnectFailed(error, now: now, chance: chance)
        case .sessionDisconnected(let error): sessionDisconnected(error, now: now, chance: chance)
        }
        defer { actions = [] }
        return actions
    }

    private mutating func handleCommand(_ event: CallEvent, now: MonotonicTime) {
        switch (event, context) {
        case (.enterLobby(let info), .idle), (.enterLobby(let info), .left):
            transition(.lobby(info))
            perform(.fetchRoom(info))
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
        switch context {
        case .idle, .lobby, .left: break
        case .incoming, .joined: ringingEnded()
        case .outgoing: callingEnded(cancels: true)
        case .joining: joiningTimer(now: now)
        case .reconnecting: outageTimer(now: now)
        case .leaving: leaveEnded()
        }
    }

    // MARK: Shared helpers

    /// Changes the state, and notifies observers if the visible status changes.
    mutating func transition(_ next: CallContext) {
        let before = status
        switch next {
        case .joining, .left: wasAttempted = true
        default: break
        }
        context = next
        if status != before { perform(.emit(status)) }
    }

    /// Returns to the state before the call, without a join: `idle` for a new client, else `left`.
    mutating func exitWithoutJoining() {
        transition(wasAttempted ? .left(nil) : .idle)
    }

    mutating func perform(_ action: CallAction) {
        actions.append(action)
    }

    /// Returns a new number.
    mutating func nextNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    /// Whether the state machine assigned this number.
    func isIssued(_ number: Int) -> Bool {
        number > 0 && number <= lastNumber
    }
}

// Joining: from the request to the room or to an error.

extension CallStateMachine {
    mutating func beginJoin(_ order: CallJoin, now: MonotonicTime) {
        let joining = CallContext.Joining(
            order: order,
            request: nextNumber(),
            deadline: now.advanced(seconds: limits.join)
        )
        transition(.joining(joining))
        perform(.sendJoin(order, request: joining.request))
    }

    mutating func joinSucceeded(_ request: Int, mode: ParticipantMode, now: MonotonicTime) {
        switch context {
        case .joining(let joining) where joining.request == request && joining.retryAt == nil:
            perform(.applySnapshot)
            transition(.joined(CallContext.Session(room: joining.order.room, request: request, connectedSince: now)))
            if mode == .sendAndReceive { perform(.publishTracks) }
        case .joined(let session) where session.request == request: break
        case .reconnecting(let session, _) where session.request == request: break
        case .leaving(var leaving):
            if leaving.request == request {
                leaving.request = nil
                transition(.leaving(leaving))
            }
            if isIssued(request) { perform(.abandonJoin(request: request)) }
        default:
            // The join was cancelled, or a later attempt replaced it.
            if isIssued(request) { perform(.abandonJoin(request: request)) }
        }
    }

    mutating func joinFailed(_ request: Int, _ error: StageError, now: MonotonicTime, chance: Double) {
        switch context {
        case .joining(let joining) where joining.request == request && joining.retryAt == nil:
            retry(joining, after: error, now: now, chance: chance)
        case .leaving(let leaving) where leaving.request == request:
            // The request was cancelled in time: the gateway created no participant.
            leaveEnded()
        default: break
        }
    }

    private mutating func retry(
        _ failed: CallContext.Joining,
        after error: StageError,
        now: MonotonicTime,
        chance: Double
    ) {
        var joining = failed
        joining.error = error
        var pause = limits.pause(chance: chance)
        if error.code == StageError.serverBusy(retryAfter: nil).code {
            // A busy gateway states when to retry, or that retrying does not help.
            guard let retryAfter = error.retryAfter, retryAfter >= 0 else { return transition(.left(error)) }
            pause += min(Double(retryAfter), limits.join)
        } else {
            joining.failures += 1
            guard error.isRetryable, joining.failures < limits.joinTries else { return transition(.left(error)) }
        }
        let retryAt = now.advanced(seconds: pause)
        guard retryAt < joining.deadline else { return transition(.left(error)) }
        joining.retryAt = retryAt
        transition(.joining(joining))
    }

    /// Handles the end of a delay between attempts, or of the join's timeout.
    mutating func joiningTimer(now: MonotonicTime) {
        guard case .joining(var joining) = context else { return }
        if now >= joining.deadline {
            let isUnderWay = joining.retryAt == nil
            transition(.left(joining.error ?? .callNotConnected))
            if isUnderWay { perform(.cancelJoin(request: joining.request)) }
        } else {
            joining.retryAt = nil
            joining.request = nextNumber()
            transition(.joining(joining))
            perform(.sendJoin(joining.order, request: joining.request))
        }
    }
}

// Incoming and outgoing invitations, and invitations to the stage.

extension CallStateMachine {
    // MARK: Incoming

    mutating func invitationReceived(_ invitation: CallInvitation, now: MonotonicTime) {
        guard invitation.inviter != identity else { return }
        let ringing = CallContext.Ringing(
            invitation: invitation,
            deadline: now.advanced(seconds: Double(invitation.timeout))
        )
        switch context {
        case .idle, .left:
            transition(.incoming(ringing))
        case .joined(var session):
            guard session.room == invitation.room, session.invitation?.invitation.sid != invitation.sid else { return }
            session.invitation = ringing
            transition(.joined(session))
            perform(.stageInvitation(invitation))
        default: break
        }
    }

    mutating func accept(now: MonotonicTime) {
        guard var ringing, !ringing.isAccepting else { return }
        ringing.isAccepting = true
        // An acceptance in the last moment may still be confirmed.
        ringing.deadline = now.advanced(seconds: limits.accept)
        setRinging(ringing)
        perform(.acceptInvitation(sid: ringing.invitation.sid))
    }

    mutating func reject() {
        guard let ringing else { return }
        stopRinging()
        perform(.rejectInvitation(sid: ringing.invitation.sid))
    }

    mutating func acceptConfirmed(_ sid: String, now: MonotonicTime) {
        guard let ringing, ringing.isAccepting, ringing.invitation.sid == sid else { return }
        let invitation = ringing.invitation
        if case .incoming = context {
            beginJoin(CallJoin(room: invitation.room, mode: invitation.mode, invitation: sid), now: now)
        } else {
            stopRinging()
            perform(.changeMode(invitation.mode, invitation: sid))
        }
    }

    mutating func acceptRefused(_ sid: String, _ error: StageError) {
        guard let ringing, ringing.isAccepting, ringing.invitation.sid == sid else { return }
        if case .incoming = context {
            transition(.left(error))
        } else {
            stopRinging()
            perform(.report(error))
        }
    }

    /// Handles the end of the ringing time.
    mutating func ringingEnded() {
        guard let ringing else { return }
        if ringing.isAccepting {
            acceptRefused(ringing.invitation.sid, .callNotConnected)
        } else {
            stopRinging()
        }
    }

    // MARK: Outgoing

    mutating func beginRing(_ order: CallRing, now: MonotonicTime) {
        let ring = nextNumber()
        let deadline = now.advanced(seconds: Double(order.timeout))
        transition(.outgoing(CallContext.Calling(order: order, ring: ring, deadline: deadline)))
        perform(.sendInvitations(order, ring: ring))
    }

    mutating func invitationsSent(_ sids: [String], ring: Int) {
        if case .outgoing(var calling) = context, calling.ring == ring {
            calling.sids = sids
            transition(.outgoing(calling))
        } else if isIssued(ring), ring != acceptedRing {
            // Hung up before the gateway confirmed the invitations.
            perform(.cancelInvitations(sids: sids))
        }
    }

    mutating func invitationsRefused(_ error: StageError, ring: Int) {
        guard case .outgoing(let calling) = context, calling.ring == ring else { return }
        transition(.left(error))
    }

    /// Ends the outgoing call without a join.
    mutating func callingEnded(cancels: Bool) {
        guard case .outgoing(let calling) = context else { return }
        exitWithoutJoining()
        if cancels, !calling.sids.isEmpty { perform(.cancelInvitations(sids: calling.sids)) }
    }

    // MARK: Events

    mutating func handleInvitation(_ event: CallEvent, now: MonotonicTime) {
        if let ringing {
            handleInvitation(event, of: ringing)
        } else if case .outgoing(let calling) = context {
            handleInvitation(event, of: calling, now: now)
        }
    }

    private mutating func handleInvitation(_ event: CallEvent, of ringing: CallContext.Ringing) {
        let sid = ringing.invitation.sid
        switch event {
        case .invitationAccepted(let answer) where answer.sid == sid && answer.identity == identity:
            // The own acceptance is also delivered as an event.
            if !ringing.isAccepting { stopRinging() }
        case .invitationRejected(let answer) where answer.sid == sid && answer.identity == identity:
            stopRinging()
        case .invitationCancelled(sid), .invitationMissed(sid):
            stopRinging()
        case .roomEnded(ringing.invitation.room):
            if case .incoming = context { stopRinging() }
        default: break
        }
    }

    private mutating func handleInvitation(_ event: CallEvent, of calling: CallContext.Calling, now: MonotonicTime) {
        let others = Set(calling.order.invitees).subtracting([identity])
        switch event {
        case .invitationAccepted(let answer)
        where answer.room == calling.order.join.room && others.contains(answer.identity):
            // The other invitees may still accept.
            acceptedRing = calling.ring
            beginJoin(calling.order.join, now: now)
        case .invitationRejected(let answer)
        where answer.room == calling.order.join.room && others.contains(answer.identity):
            var calling = calling
            calling.refusals.insert(answer.identity)
            transition(.outgoing(calling))
            if calling.refusals.count >= others.count { callingEnded(cancels: false) }
        case .invitationMissed(let sid) where calling.sids.contains(sid):
            callingEnded(cancels: true)
        case .roomEnded(calling.order.join.room):
            callingEnded(cancels: false)
        case .invitationCancelled(let sid) where calling.sids.contains(sid):
            // Cancelled by a privileged user, or by the end of the room.
            callingEnded(cancels: false)
        default: break
        }
    }

    // MARK: Current invitation

    /// The incoming invitation: a call, or an invitation to the stage.
    private var ringing: CallContext.Ringing? {
        switch context {
        case .incoming(let ringing): ringing
        case .joined(let session), .reconnecting(let session, _): session.invitation
        default: nil
        }
    }

    private mutating func setRinging(_ ringing: CallContext.Ringing?) {
        switch context {
        case .incoming:
            if let ringing { transition(.incoming(ringing)) } else { exitWithoutJoining() }
        case .joined(var session):
            session.invitation = ringing
            transition(.joined(session))
        case .reconnecting(var session, let outage):
            session.invitation = ringing
            transition(.reconnecting(session, outage))
        default: break
        }
    }

    private mutating func stopRinging() {
        let isOnStage = stageInvitation != nil
        setRinging(nil)
        if isOnStage { perform(.stageInvitation(nil)) }
    }
}

// Connection loss and recovery.

extension CallStateMachine {
    mutating func connectionLost(_ loss: ConnectionLoss, now: MonotonicTime, chance: Double) {
        switch context {
        case .joined(var session):
            if now.seconds(since: session.connectedSince) >= limits.healthyAfter { session.attempts = 0 }
            schedule(session, CallContext.Outage(loss: loss, began: now), now: now, chance: chance)
        case .reconnecting(let session, var outage) where outage.lostAt(loss) == nil:
            // Observers see the first reason; while the stream is lost, attempts concern the stream.
            outage.otherLostAt = now
            guard loss == .signalling else { return transition(.reconnecting(session, outage)) }
            outage.tries = 0
            schedule(session, outage, now: now, chance: chance)
        default: break
        }
    }

    /// Handles a restored event stream; media may still be lost.
    mutating func restored(_ method: ReconnectMethod, now: MonotonicTime, chance: Double) {
        guard case .reconnecting(var session, let outage) = context, outage.lostAt(.signalling) != nil else { return }
        if method == .rejoin {
            session.rejoins.removeAll { now.seconds(since: $0) >= limits.rejoinWindow }
            session.rejoins.append(now)
            guard session.rejoins.count <= limits.rejoins else {
                end(.callConnectionLost)
                // The gateway is reachable here, so the participant can be deleted.
                return perform(.deleteParticipant)
            }
        }
        session.connectedSince = now
        perform(.applySnapshot)
        guard var rest = outage.without(.signalling) else { return transition(.joined(session)) }
        rest.tries = 0
        schedule(session, rest, now: now, chance: chance)
    }

    /// Handles restored media; the event stream may still be lost.
    mutating func mediaRestored(now: MonotonicTime) {
        guard case .reconnecting(var session, let outage) = context, outage.lostAt(.media) != nil else { return }
        if let rest = outage.without(.media) { return transition(.reconnecting(session, rest)) }
        session.connectedSince = now
        transition(.joined(session))
    }

    mutating func reconnectFailed(_ error: StageError, now: MonotonicTime, chance: Double) {
        guard case .reconnecting(let session, let outage) = context, outage.tryAt == nil else { return }
        guard error.isRetryable else { return end(error) }
        schedule(session, outage, now: now, chance: chance)
    }

    mutating func sessionDisconnected(_ error: StageError, now: MonotonicTime, chance: Double) {
        // A slow reader is disconnected with the code of a lost connection, and may reconnect.
        if error.code == ConnectionLoss.signalling.rawValue {
            connectionLost(.signalling, now: now, chance: chance)
            return reconnectFailed(error, now: now, chance: chance)
        }
        switch context {
        case .joined, .reconnecting: end(error)
        default: break
        }
    }

    /// Handles the end of a delay, of the interruption's timeout, or of an invitation to the stage.
    mutating func outageTimer(now: MonotonicTime) {
        guard case .reconnecting(var session, var outage) = context else { return }
        if now.seconds(since: outage.began) >= limits.reconnect {
            return end(outage.lostAt(.signalling) == nil ? .mediaLost : .callConnectionLost)
        }
        if let invitation = session.invitation, invitation.deadline <= now { return ringingEnded() }
        outage.tryAt = nil
        outage.tries += 1
        session.attempts += 1
        transition(.reconnecting(session, outage))
        guard let lostAt = outage.lostAt(.signalling) else {
            return perform(.reconnect(.media, .resume, attempt: outage.tries))
        }
        let canResume = outage.tries <= limits.resumeTries && now.seconds(since: lostAt) < limits.resumeDeadline
        perform(.reconnect(.signalling, canResume ? .resume : .rejoin, attempt: outage.tries))
    }

    private mutating func schedule(
        _ session: CallContext.Session,
        _ outage: CallContext.Outage,
        now: MonotonicTime,
        chance: Double
    ) {
        var outage = outage
        outage.tryAt = now.advanced(seconds: limits.delay(attempt: session.attempts + 1, chance: chance))
        transition(.reconnecting(session, outage))
    }

    /// Ends the call with an error.
    private mutating func end(_ error: StageError) {
        let wasReconnecting = if case .reconnecting = context { true } else { false }
        let hadInvitation = stageInvitation != nil
        if wasReconnecting { perform(.stopReconnecting) }
        transition(.left(error))
        if hadInvitation { perform(.stageInvitation(nil)) }
        perform(.reset)
    }
}

// Leaving, from any phase.

extension CallStateMachine {
    mutating func hangUp(now: MonotonicTime) {
        let deadline = now.advanced(seconds: limits.leave)
        switch context {
        case .idle, .left, .leaving: break
        case .lobby: exitWithoutJoining()
        case .incoming: reject()
        case .outgoing: callingEnded(cancels: true)
        case .joining(let joining):
            let request = joining.retryAt == nil ? joining.request : nil
            transition(.leaving(CallContext.Leaving(deadline: deadline, request: request)))
            if let request { perform(.cancelJoin(request: request)) } else { leaveEnded() }
        case .joined, .reconnecting:
            let hadInvitation = stageInvitation != nil
            if case .reconnecting = context { perform(.stopReconnecting) }
            transition(.leaving(CallContext.Leaving(deadline: deadline)))
            if hadInvitation { perform(.stageInvitation(nil)) }
            perform(.deleteParticipant)
        }
    }

    /// Handles the confirmation of the leave, or its timeout.
    mutating func leaveEnded() {
        guard case .leaving = context else { return }
        transition(.left(nil))
        perform(.reset)
    }
}

// Entry points for owners that measure elapsed time and do not use `MonotonicTime`.

extension CallStateMachine {
    /// Handles an event, with the elapsed time since any fixed moment.
    ///
    /// - Parameters:
    ///   - elapsed: Never less than that of the previous event.
    ///   - chance: A random number from 0 to 1 for jitter.
    public mutating func handle(_ event: CallEvent, at elapsed: Duration, chance: Double) -> [CallAction] {
        handle(event, now: MonotonicTime(nanoseconds: elapsed.nanoseconds), chance: chance)
    }

    /// The elapsed time at which `timePassed` is due; nil while only events change the state.
    public var elapsedDeadline: Duration? {
        deadline.map { .nanoseconds($0.nanoseconds) }
    }
}

extension Duration {
    fileprivate var nanoseconds: Int64 {
        components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
    }
}
