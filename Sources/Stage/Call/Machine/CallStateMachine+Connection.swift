import Media

// A connection that breaks and is won back, or is not.

extension CallStateMachine {
    mutating func connectionLost(_ loss: ConnectionLoss, now: MonotonicTime, chance: Double) {
        switch stance {
        case .joined(var session):
            if now.seconds(since: session.heldSince) >= limits.healthyAfter { session.attempts = 0 }
            schedule(session, CallStance.Outage(loss: loss, began: now), now: now, chance: chance)
        case .reconnecting(let session, var outage) where outage.lostAt(loss) == nil:
            // Observers keep the first reason; as long as the stream is missing, the tries are for it.
            outage.otherLostAt = now
            guard loss == .signalling else { return enter(.reconnecting(session, outage)) }
            outage.tries = 0
            schedule(session, outage, now: now, chance: chance)
        default: break
        }
    }

    /// The event stream is back; lost media may still be missing.
    mutating func restored(_ way: ReconnectWay, now: MonotonicTime, chance: Double) {
        guard case .reconnecting(var session, let outage) = stance, outage.lostAt(.signalling) != nil else { return }
        if way == .rejoin {
            session.rejoins.removeAll { now.seconds(since: $0) >= limits.rejoinWindow }
            session.rejoins.append(now)
            guard session.rejoins.count <= limits.rejoins else {
                end(.callConnectionLost)
                // This once the gateway is there to be told.
                return act(.deleteParticipant)
            }
        }
        session.heldSince = now
        act(.applySnapshot)
        guard var rest = outage.without(.signalling) else { return enter(.joined(session)) }
        rest.tries = 0
        schedule(session, rest, now: now, chance: chance)
    }

    /// The media is back; the event stream may still be missing.
    mutating func mediaRestored(now: MonotonicTime) {
        guard case .reconnecting(var session, let outage) = stance, outage.lostAt(.media) != nil else { return }
        if let rest = outage.without(.media) { return enter(.reconnecting(session, rest)) }
        session.heldSince = now
        enter(.joined(session))
    }

    mutating func reconnectFailed(_ error: StageError, now: MonotonicTime, chance: Double) {
        guard case .reconnecting(let session, let outage) = stance, outage.tryAt == nil else { return }
        guard error.isRetryable else { return end(error) }
        schedule(session, outage, now: now, chance: chance)
    }

    mutating func sessionDisconnected(_ error: StageError, now: MonotonicTime, chance: Double) {
        // A reader that was too slow is cut off with the code of a lost connection, and welcome to come back.
        if error.code == ConnectionLoss.signalling.rawValue {
            connectionLost(.signalling, now: now, chance: chance)
            return reconnectFailed(error, now: now, chance: chance)
        }
        switch stance {
        case .joined, .reconnecting: end(error)
        default: break
        }
    }

    /// A delay between two tries, the whole interruption, or an invitation to the stage is over.
    mutating func outageTimer(now: MonotonicTime, chance: Double) {
        guard case .reconnecting(var session, var outage) = stance else { return }
        if now.seconds(since: outage.began) >= limits.reconnect {
            return end(outage.lostAt(.signalling) == nil ? .mediaLost : .callConnectionLost)
        }
        if let invitation = session.invitation, invitation.deadline <= now { return ringingEnded() }
        outage.tryAt = nil
        outage.tries += 1
        session.attempts += 1
        enter(.reconnecting(session, outage))
        guard let lostAt = outage.lostAt(.signalling) else {
            return act(.reconnect(.media, .resume, attempt: outage.tries))
        }
        let canResume = outage.tries <= limits.resumeTries && now.seconds(since: lostAt) < limits.resumeDeadline
        act(.reconnect(.signalling, canResume ? .resume : .rejoin, attempt: outage.tries))
    }

    private mutating func schedule(
        _ session: CallStance.Session,
        _ outage: CallStance.Outage,
        now: MonotonicTime,
        chance: Double
    ) {
        var outage = outage
        outage.tryAt = now.advanced(seconds: limits.delay(attempt: session.attempts + 1, chance: chance))
        enter(.reconnecting(session, outage))
    }

    /// The call is over by no wish of the user.
    private mutating func end(_ error: StageError) {
        let wasReconnecting = if case .reconnecting = stance { true } else { false }
        let hadInvitation = stageInvitation != nil
        if wasReconnecting { act(.stopReconnecting) }
        enter(.left(error))
        if hadInvitation { act(.stageInvitation(nil)) }
        act(.reset)
    }
}
