import Media

// A connection that breaks and is won back, or is not.

extension CallStateMachine {
    mutating func connectionLost(_ loss: ConnectionLoss, now: MonotonicTime, chance: Double) {
        switch stance {
        case .joined(var session):
            if now.seconds(since: session.heldSince) >= limits.healthyAfter { session.attempts = 0 }
            let signallingLostAt = loss == .signalling ? now : nil
            let outage = CallStance.Outage(loss: loss, signallingLostAt: signallingLostAt, began: now)
            schedule(session, outage, now: now, chance: chance)
        case .reconnecting(let session, var outage) where loss == .signalling && outage.signallingLostAt == nil:
            // Media alone were missing until now. Observers keep the first reason; the tries are for the stream.
            outage.signallingLostAt = now
            outage.tries = 0
            schedule(session, outage, now: now, chance: chance)
        default: break
        }
    }

    mutating func restored(_ way: ReconnectWay, now: MonotonicTime) {
        guard case .reconnecting(var session, let outage) = stance else { return }
        if outage.signallingLostAt != nil, way == .rejoin {
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
        if now.seconds(since: outage.began) >= limits.reconnect { return end(.callConnectionLost) }
        if let invitation = session.invitation, invitation.deadline <= now { return ringingEnded() }
        outage.tryAt = nil
        outage.tries += 1
        session.attempts += 1
        enter(.reconnecting(session, outage))
        guard let lostAt = outage.signallingLostAt else {
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
