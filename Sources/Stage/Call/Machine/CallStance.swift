import Media

/// Everything a call's machine knows in a phase; what is not needed there does not exist there.
enum CallStance: Sendable, Equatable {
    case idle
    case lobby(LobbyInfo)
    case incoming(Ringing)
    case outgoing(Calling)
    case joining(Joining)
    case joined(Session)
    case reconnecting(Session, Outage)
    case leaving(Farewell)
    case left(StageError?)

    /// An invitation that rings here.
    struct Ringing: Sendable, Equatable {
        var invitation: CallInvitation
        /// When it stops ringing, or when an accepted one must be confirmed.
        var deadline: MonotonicTime
        /// The user has said yes; the gateway has not yet.
        var isAccepting = false
    }

    /// Invitations that ring elsewhere.
    struct Calling: Sendable, Equatable {
        var order: CallRing
        /// The number of the action that sent them.
        var ring: Int
        var deadline: MonotonicTime
        /// Empty until they are sent.
        var sids: [String] = []
        /// Who said no.
        var refusals: Set<String> = []
    }

    /// A join under way.
    struct Joining: Sendable, Equatable {
        var order: CallJoin
        /// The number of the latest request.
        var request: Int
        /// Requests that failed and count as tries.
        var failures = 0
        var deadline: MonotonicTime
        /// When to send the next request; nil while one is under way.
        var retryAt: MonotonicTime?
        /// Why the latest request failed.
        var error: StageError?
    }

    /// One stay in a room.
    struct Session: Sendable, Equatable {
        var room: String
        /// The number of the request that made it.
        var request: Int
        /// Since when the connection has held.
        var heldSince: MonotonicTime
        /// Tries to reconnect since a connection that held.
        var attempts = 0
        /// When the session was asked for anew, within the window that counts.
        var rejoins: [MonotonicTime] = []
        /// An invitation to the stage.
        var invitation: Ringing?
    }

    /// An interruption of a stay.
    struct Outage: Sendable, Equatable {
        /// What was lost first of all that is missing; what observers are told.
        var loss: ConnectionLoss
        /// When that was lost.
        var began: MonotonicTime
        /// When the other one was lost, too; nil while it is there.
        var otherLostAt: MonotonicTime?
        /// Tries since the event stream was lost, or since media alone are missing.
        var tries = 0
        /// When to try next; nil while a try is under way.
        var tryAt: MonotonicTime?

        /// When something was lost; nil while it is there.
        func lostAt(_ loss: ConnectionLoss) -> MonotonicTime? {
            loss == self.loss ? began : otherLostAt
        }

        /// The interruption that remains when something is back; nil when nothing is missing any more.
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

    /// The way out.
    struct Farewell: Sendable, Equatable {
        var deadline: MonotonicTime
        /// A join that was cancelled and has not been heard of since.
        var request: Int?
    }

    /// What observers see of it.
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
