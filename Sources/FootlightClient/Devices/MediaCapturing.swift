public import Stage

/// What takes pictures and sound of its owner, and plays sound: a device's camera and microphone, a file, a pattern.
@MainActor
public protocol MediaCapturing: AudioPlaying {
    /// Whether the user allows a device to be used; asks where that was never asked.
    func isAuthorized(for track: TrackName) async -> Bool

    /// Begins to capture for a track.
    ///
    /// - Throws: Whatever kept it from beginning; nothing is captured then.
    func start(_ track: TrackName, camera: CallSettings.CameraPosition) async throws(StageError)

    /// Ends capturing for a track; without effect when nothing is captured.
    func stop(_ track: TrackName) async

    /// Takes the other camera; the track stays the one it is.
    func use(_ camera: CallSettings.CameraPosition) async throws(StageError)
}
