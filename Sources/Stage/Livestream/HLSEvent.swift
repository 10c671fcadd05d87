/// What happens to a room's HLS.
public enum HLSEvent: Sendable, Equatable {
    /// The program's first media, or the first after it ended, are here.
    case programFlows
    /// The playlist has one whole segment more.
    case segmentCompleted
    /// The program is over.
    case programEnded
    /// The end of the list is written: the answer to `HLSAction.end`.
    case playlistEnded
    /// The segments cannot be made any more, and why.
    case broke(String)
    /// The machine's `deadline` has come.
    case timePassed
}
