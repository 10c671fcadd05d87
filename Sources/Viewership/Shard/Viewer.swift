/// Somebody who is known beyond one session, and how many of the sessions are its own.
struct Viewer {
    var room: Int32
    var key: ViewerKey
    /// It said through the API that it watches.
    var isWatching = false
    /// It is on stage: none of its players counts.
    var isHost = false
    /// It counts by itself, as `sdk`: it watches, and none of its players counts in its place.
    var isSeated = false
    /// Live sessions of its own.
    var players: Int32 = 0
    /// Sessions of its own in any phase.
    var sessions: Int32 = 0
    /// Proofs of the ids that were made for it, the latest.
    var codes: [UInt64] = []
    /// When it took its seat.
    var since: Int64 = 0
}

/// A participant who had a seat when an earlier run ended.
struct RecoveredSeat {
    var room: Int32
    /// Names the row in the history.
    var code: UInt64
    var start: Int64
    /// Where its watching ended, if it does not come back.
    var end: Int64
    /// Until when it may come back.
    var deadline: Int64
}
