/// Starts and stops the HLS of a room; the control API's view of whoever makes the playlists.
///
/// HLS runs by itself as soon as a program flows. A command makes it explicit: after `stop` players find the playlist
/// ended, until `start`.
public protocol HLSControlling: Sendable {
    /// Makes a room's program playable by HLS, when it flows.
    ///
    /// - Throws: 3054 when it was started before, 3055 while a start or a stop is under way.
    func start(room: String) throws(StageError)
    /// Ends a room's playlist.
    ///
    /// - Throws: 4017 when nothing runs, 3055 while a stop is under way.
    func stop(room: String) throws(StageError)
    /// The present state; `stopped` for a room without a program.
    func status(room: String) -> HLSStatus
}
