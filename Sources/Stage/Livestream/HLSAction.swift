/// What the owner of a room's HLS does next, in the order given.
public enum HLSAction: Sendable, Equatable {
    /// Tell everybody who watches.
    case changed(HLSStatus)
    /// Begin a new playlist and cut the program into it.
    case open
    /// Write the end of the playlist, then report `playlistEnded`.
    case end
    /// Tell of a failure: 4016, 4017 or 5003.
    case fail(StageError)
}
