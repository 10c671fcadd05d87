import Media

// Out of the call, from whatever phase it is in.

extension CallStateMachine {
    mutating func hangUp(now: MonotonicTime) {
        let deadline = now.advanced(seconds: limits.leave)
        switch stance {
        case .idle, .left, .leaving: break
        case .lobby: retreat()
        case .incoming: reject()
        case .outgoing: callingEnded(cancels: true)
        case .joining(let joining):
            let request = joining.retryAt == nil ? joining.request : nil
            enter(.leaving(CallStance.Farewell(deadline: deadline, request: request)))
            if let request { act(.cancelJoin(request: request)) } else { leaveEnded() }
        case .joined, .reconnecting:
            let hadInvitation = stageInvitation != nil
            if case .reconnecting = stance { act(.stopReconnecting) }
            enter(.leaving(CallStance.Farewell(deadline: deadline)))
            if hadInvitation { act(.stageInvitation(nil)) }
            act(.deleteParticipant)
        }
    }

    /// The gateway has let go of us, or cannot be waited for.
    mutating func leaveEnded() {
        guard case .leaving = stance else { return }
        enter(.left(nil))
        act(.reset)
    }
}
