import Stage

/// What a shard remembers of one viewer session.
///
/// Times are whole milliseconds of the monotonic clock.
/// NEW until it is proven to watch, LIVE while it counts, ENDED while it may still come back, then gone.
struct ViewerSession {
    enum Phase: UInt8 {
        /// The place is free, or waits for its timer before it is.
        case vacant
        case new
        case live
        /// Left or timed out; the same id within the grace time makes it live again without a new join.
        case ended
    }

    /// No playlist was fetched yet.
    static let never = Int64.min

    var id: SessionID
    /// Place of the room in the shard's list.
    var room: Int32
    /// Place of the participant it belongs to in the shard's list; -1 for an anonymous player.
    var participant: Int32 = -1
    var phase: Phase = .new
    var playback: PlaybackProtocol
    var endReason: AudienceEvent.CloseReason = .left
    /// The timer wheel holds an entry for it.
    var isScheduled = false
    /// It holds a join that no leave has answered yet.
    var isCredited = false
    /// Open connections that present this id; more than one while a reconnect overtakes the end of the old connection.
    var connections: UInt16 = 0
    /// Median time between playlist fetches, in milliseconds; 0 until it is known.
    var poll: UInt16 = 0
    /// Where its present state began.
    ///
    /// NEW: the first playlist. LIVE by connection: the start of the present run. ENDED: when it ended.
    var since: Int64
    /// The last sign of life, of a viewer by requests.
    var lastHit: Int64
    var lastPlaylist: Int64 = ViewerSession.never

    /// Follows the median of the poll interval: a step towards each sample, whatever its distance, so that one long
    /// pause does not move it.
    mutating func notePoll(_ interval: Int64, limit: Int64) {
        guard interval > 0 else { return }
        let sample = min(interval, limit)
        guard poll > 0 else {
            poll = UInt16(clamping: sample)
            return
        }
        let step = max(1, Int64(poll) / 8)
        let distance = sample - Int64(poll)
        poll = UInt16(clamping: Int64(poll) + min(max(distance, -step), step))
    }
}
