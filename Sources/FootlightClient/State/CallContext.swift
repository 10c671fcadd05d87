import Media
import Stage

/// The internal state of a call in each phase.
enum CallContext: Sendable, Equatable {
    case idle
    case lobby(LobbyInfo)
    case incoming(Ringing)
    case outgoing(Calling)
    case joining(Joining)
    case joined(Session)
    case reconnecting(Session, Outage)
    case leaving(Leaving)
    case left(StageError?)

    /// An incoming invitation.
    struct Ringing: Sendable, Equatable {
        var invitation: CallInvitation
        /// The end of the ringing, or the timeout of the confirmation.
        var deadline: MonotonicTime
        /// The user has accepted; the gateway has not confirmed yet.
        var isAccepting = false
    }

    /// Outgoing invitations.
    struct Calling: Sendable, Equatable {
        var order: CallRing
        /// The number of the action that sent them.
        var ring: Int
        var deadline: MonotonicTime
        /// Empty until the gateway has confirmed them.
        var sids: [String] = []
        /// The identities that declined.
        var refusals: Set<String> = []
    }

    /// A pending join.
    struct Joining: Sendable, Equatable {
        var order: CallJoin
        /// The number of the latest request.
        var request: Int
        /// The number of failed requests that count as attempts.
        var failures = 0
        var deadline: MonotonicTime
        /// The time of the next request; nil while one is pending.
        var retryAt: MonotonicTime?
        /// The error of the latest request.
        var error: StageError?
    }

    /// A session in a room.
    struct Session: Sendable, Equatable {
        var room: String
        /// The number of the join request.
        var request: Int
        /// The time since which the connection is up.
        var connectedSince: MonotonicTime
        /// Reconnect attempts since the last connection that lasted.
        var attempts = 0
        /// The rejoins within the window.
        var rejoins: [MonotonicTime] = []
        /// An invitation to the stage.
        var invitation: Ringing?
    }

    /// An interruption of a session.
    struct Outage: Sendable, Equatable {
        /// The first loss that persists; reported to observers.
        var loss: ConnectionLoss
        /// The time of that loss.
        var began: MonotonicTime
        /// The time of the other loss; nil while the other part is connected.
        var otherLostAt: MonotonicTime?
        /// Attempts since the event stream was lost, or since only media is missing.
        var tries = 0
        /// The time of the next attempt; nil while one is pending.
        var tryAt: MonotonicTime?

        /// Returns the time of a loss; nil while that part is connected.
        func lostAt(_ loss: ConnectionLoss) -> MonotonicTime? {
            loss == self.loss ? began : otherLostAt
        }

        /// Returns the interruption that remains after a restoration; nil when everything is connected.
        func without(_ restored: ConnectionLoss) -> Outage? {
            var rest = self
            rest.otherLostAt = nil
            guard restored == loss else { return rest }
            guard let otherLostAt else { return nil }
            rest.loss = loss == .media ? .signalling : .media
            rest.began = otherLostAt
            return rest
        }
    }

    /// A pending leave.
    struct Leaving: Sendable, Equatable {
        var deadline: MonotonicTime
        /// A cancelled join whose result is outstanding.
        var request: Int?
    }

    /// The phase that observers see.
    var phase: CallPhase {
        switch self {
        case .idle: .idle
        case .lobby(let info): .lobby(info)
        case .incoming(let ringing): .incoming(ringing.invitation)
        case .outgoing(let calling): .outgoing(calling.order)
        case .joining: .joining
        case .joined: .joined
        case .reconnecting(_, let outage): .reconnecting(outage.loss)
        case .leaving: .leaving
        case .left(let error): .left(error)
        }
    }
}
