import GatewayModel
import Stage

/// Which events of a room are news: those with a higher revision than any before, so that what is replayed counts once.
struct RevisionFilter: Sendable, Equatable {
    /// The highest revision so far; nil before the first event.
    private(set) var known: UInt64?

    init(known: UInt64? = nil) {
        self.known = known
    }

    /// Whether an event is to be taken; heartbeats are not.
    mutating func takes(_ event: EventResource) -> Bool {
        switch StageEvent.Name(rawValue: event.type) {
        case .heartbeat: return false
        case .roomSnapshot:
            // Whatever was known, this is how things are; after a restart of the gateway it may be older.
            known = event.rev
            return true
        // Written into the stream, not into the room: it bears the revision of the event before it.
        case .sessionDisconnected: return true
        default:
            guard known.map({ event.rev > $0 }) ?? true else { return false }
            known = event.rev
            return true
        }
    }
}
