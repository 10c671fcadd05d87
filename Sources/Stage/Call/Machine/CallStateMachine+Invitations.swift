import Media

// Calls that ring, here or elsewhere, and invitations to the stage of the room one is in.

extension CallStateMachine {
    // MARK: Ringing here

    mutating func invited(_ invitation: CallInvitation, now: MonotonicTime) {
        guard invitation.inviter != identity else { return }
        let ringing = CallStance.Ringing(
            invitation: invitation,
            deadline: now.advanced(seconds: Double(invitation.timeout))
        )
        switch stance {
        case .idle, .left:
            enter(.incoming(ringing))
        case .joined(var session):
            guard session.room == invitation.room, session.invitation?.invitation.sid != invitation.sid else { return }
            session.invitation = ringing
            enter(.joined(session))
            act(.stageInvitation(invitation))
        default: break
        }
    }

    mutating func accept(now: MonotonicTime) {
        guard var ringing, !ringing.isAccepting else { return }
        ringing.isAccepting = true
        // An answer given in the last moment may still be confirmed.
        ringing.deadline = now.advanced(seconds: limits.accept)
        setRinging(ringing)
        act(.acceptInvitation(sid: ringing.invitation.sid))
    }

    mutating func reject() {
        guard let ringing else { return }
        stopRinging()
        act(.rejectInvitation(sid: ringing.invitation.sid))
    }

    mutating func acceptConfirmed(_ sid: String, now: MonotonicTime) {
        guard let ringing, ringing.isAccepting, ringing.invitation.sid == sid else { return }
        let invitation = ringing.invitation
        if case .incoming = stance {
            beginJoin(CallJoin(room: invitation.room, mode: invitation.mode, invitation: sid), now: now)
        } else {
            stopRinging()
            act(.changeMode(invitation.mode, invitation: sid))
        }
    }

    mutating func acceptRefused(_ sid: String, _ error: StageError) {
        guard let ringing, ringing.isAccepting, ringing.invitation.sid == sid else { return }
        if case .incoming = stance {
            enter(.left(error))
        } else {
            stopRinging()
            act(.report(error))
        }
    }

    /// The invitation's own time is over.
    mutating func ringingEnded() {
        guard let ringing else { return }
        if ringing.isAccepting {
            acceptRefused(ringing.invitation.sid, .callNotConnected)
        } else {
            stopRinging()
        }
    }

    // MARK: Ringing elsewhere

    mutating func beginRing(_ order: CallRing, now: MonotonicTime) {
        let ring = nextNumber()
        let deadline = now.advanced(seconds: Double(order.timeout))
        enter(.outgoing(CallStance.Calling(order: order, ring: ring, deadline: deadline)))
        act(.sendInvitations(order, ring: ring))
    }

    mutating func invitationsSent(_ sids: [String], ring: Int) {
        if case .outgoing(var calling) = stance, calling.ring == ring {
            calling.sids = sids
            enter(.outgoing(calling))
        } else if isOurs(ring), ring != answeredRing {
            // Hung up before the gateway knew of them.
            act(.cancelInvitations(sids: sids))
        }
    }

    mutating func invitationsRefused(_ error: StageError, ring: Int) {
        guard case .outgoing(let calling) = stance, calling.ring == ring else { return }
        enter(.left(error))
    }

    /// Nobody will come any more, or nobody is wanted.
    mutating func callingEnded(cancels: Bool) {
        guard case .outgoing(let calling) = stance else { return }
        retreat()
        if cancels, !calling.sids.isEmpty { act(.cancelInvitations(sids: calling.sids)) }
    }

    // MARK: News

    mutating func hear(_ event: CallEvent, now: MonotonicTime) {
        if let ringing {
            hear(event, of: ringing)
        } else if case .outgoing(let calling) = stance {
            hear(event, of: calling, now: now)
        }
    }

    private mutating func hear(_ event: CallEvent, of ringing: CallStance.Ringing) {
        let sid = ringing.invitation.sid
        switch event {
        case .invitationAccepted(let answer) where answer.sid == sid && answer.identity == identity:
            // Our own yes comes back as news, too.
            if !ringing.isAccepting { stopRinging() }
        case .invitationRejected(let answer) where answer.sid == sid && answer.identity == identity:
            stopRinging()
        case .invitationCancelled(sid), .invitationMissed(sid):
            stopRinging()
        case .roomEnded(ringing.invitation.room):
            if case .incoming = stance { stopRinging() }
        default: break
        }
    }

    private mutating func hear(_ event: CallEvent, of calling: CallStance.Calling, now: MonotonicTime) {
        let others = Set(calling.order.invitees).subtracting([identity])
        switch event {
        case .invitationAccepted(let answer)
        where answer.room == calling.order.join.room && others.contains(answer.identity):
            // Whoever has not answered may still come.
            answeredRing = calling.ring
            beginJoin(calling.order.join, now: now)
        case .invitationRejected(let answer)
        where answer.room == calling.order.join.room && others.contains(answer.identity):
            var calling = calling
            calling.refusals.insert(answer.identity)
            enter(.outgoing(calling))
            if calling.refusals.count >= others.count { callingEnded(cancels: false) }
        case .invitationMissed(let sid) where calling.sids.contains(sid):
            callingEnded(cancels: true)
        case .roomEnded(calling.order.join.room):
            callingEnded(cancels: false)
        case .invitationCancelled(let sid) where calling.sids.contains(sid):
            // Called back by somebody who may, or with the end of the room.
            callingEnded(cancels: false)
        default: break
        }
    }

    // MARK: The invitation at hand

    /// What rings here: a call, or an invitation to the stage.
    private var ringing: CallStance.Ringing? {
        switch stance {
        case .incoming(let ringing): ringing
        case .joined(let session), .reconnecting(let session, _): session.invitation
        default: nil
        }
    }

    private mutating func setRinging(_ ringing: CallStance.Ringing?) {
        switch stance {
        case .incoming:
            if let ringing { enter(.incoming(ringing)) } else { retreat() }
        case .joined(var session):
            session.invitation = ringing
            enter(.joined(session))
        case .reconnecting(var session, let outage):
            session.invitation = ringing
            enter(.reconnecting(session, outage))
        default: break
        }
    }

    private mutating func stopRinging() {
        let isOnStage = stageInvitation != nil
        setRinging(nil)
        if isOnStage { act(.stageInvitation(nil)) }
    }
}
