/// What proves that an event stream works.
enum StreamBeginning: Sendable {
    /// The snapshot of the room.
    case snapshot
    /// Anything at all: where nothing was missed, nothing is replayed.
    case anything
}
