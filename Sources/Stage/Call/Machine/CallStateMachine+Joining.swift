import Media

// From the wish to join to the room, or to the error that keeps one out.

extension CallStateMachine {
    mutating func beginJoin(_ order: CallJoin, now: MonotonicTime) {
        let joining = CallStance.Joining(
            order: order,
            request: nextNumber(),
            deadline: now.advanced(seconds: limits.join)
        )
        enter(.joining(joining))
        act(.sendJoin(order, request: joining.request))
    }

    mutating func joinSucceeded(_ request: Int, mode: ParticipantMode, now: MonotonicTime) {
        switch stance {
        case .joining(let joining) where joining.request == request && joining.retryAt == nil:
            act(.applySnapshot)
            enter(.joined(CallStance.Session(room: joining.order.room, request: request, heldSince: now)))
            if mode == .sendAndReceive { act(.publishTracks) }
        case .joined(let session) where session.request == request: break
        case .reconnecting(let session, _) where session.request == request: break
        case .leaving(var farewell):
            if farewell.request == request {
                farewell.request = nil
                enter(.leaving(farewell))
            }
            if isOurs(request) { act(.abandonJoin(request: request)) }
        default:
            // Nobody waits for it any more: given up, or overtaken by a later try.
            if isOurs(request) { act(.abandonJoin(request: request)) }
        }
    }

    mutating func joinFailed(_ request: Int, _ error: StageError, now: MonotonicTime, chance: Double) {
        switch stance {
        case .joining(let joining) where joining.request == request && joining.retryAt == nil:
            retry(joining, after: error, now: now, chance: chance)
        case .leaving(let farewell) where farewell.request == request:
            // Cancelled in time: there is nothing at the gateway to take down.
            leaveEnded()
        default: break
        }
    }

    private mutating func retry(
        _ failed: CallStance.Joining,
        after error: StageError,
        now: MonotonicTime,
        chance: Double
    ) {
        var joining = failed
        joining.error = error
        var pause = limits.pause(chance: chance)
        if error.code == StageError.serverBusy(retryAfter: nil).code {
            // A busy gateway says when to come back, or that there is no use in it.
            guard let retryAfter = error.retryAfter, retryAfter >= 0 else { return enter(.left(error)) }
            pause += min(Double(retryAfter), limits.join)
        } else {
            joining.failures += 1
            guard error.isRetryable, joining.failures < limits.joinTries else { return enter(.left(error)) }
        }
        let retryAt = now.advanced(seconds: pause)
        guard retryAt < joining.deadline else { return enter(.left(error)) }
        joining.retryAt = retryAt
        enter(.joining(joining))
    }

    /// A pause between two tries is over, or the join has taken too long.
    mutating func joiningTimer(now: MonotonicTime) {
        guard case .joining(var joining) = stance else { return }
        if now >= joining.deadline {
            let isUnderWay = joining.retryAt == nil
            enter(.left(joining.error ?? .callNotConnected))
            if isUnderWay { act(.cancelJoin(request: joining.request)) }
        } else {
            joining.retryAt = nil
            joining.request = nextNumber()
            enter(.joining(joining))
            act(.sendJoin(joining.order, request: joining.request))
        }
    }
}
