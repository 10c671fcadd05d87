public import GatewayModel
public import Stage

/// Tracks and pins.
extension BroadcastClient {
    /// Publishes a track of a host.
    ///
    /// - Throws: 3066 for somebody who is no host, 53304 for a track that is published already, 20106, 3065.
    @discardableResult
    public func publish(
        _ track: TrackName,
        of participant: String,
        in room: String,
        isEnabled: Bool = true
    ) async throws(StageError) -> TrackResource {
        try await command(
            .put,
            path(track, participant, room),
            PublishTrackBody(kind: track.kind.rawValue, enabled: isEnabled)
        )
    }

    /// Disables a published track, or enables it again; it stays published and keeps its place.
    ///
    /// - Throws: 3066, 20106, 3065, and 404 for a track that is not published.
    @discardableResult
    public func setEnabled(
        _ track: TrackName,
        _ isEnabled: Bool,
        of participant: String,
        in room: String
    ) async throws(StageError) -> TrackResource {
        try await command(.patch, path(track, participant, room), UpdateTrackBody(enabled: isEnabled))
    }

    /// Takes a track off the air.
    public func unpublish(_ track: TrackName, of participant: String, in room: String) async throws(StageError) {
        try await order(.delete, path(track, participant, room))
    }

    /// Pins a host: for everybody with the right over participants, otherwise for one's own view.
    ///
    /// - Throws: 3066 for somebody who is no host.
    @discardableResult
    public func pin(
        _ participant: String,
        in room: String,
        _ type: PinType = .screenAndCamera
    ) async throws(StageError) -> PinResource {
        try await command(
            .put,
            ["rooms", room, "participants", participant, "pin"],
            PinBody(pinType: type.rawValue)
        )
    }

    /// Takes one's pin back.
    public func unpin(_ participant: String, in room: String) async throws(StageError) {
        try await order(.delete, ["rooms", room, "participants", participant, "pin"])
    }

    private func path(_ track: TrackName, _ participant: String, _ room: String) -> [String] {
        ["rooms", room, "participants", participant, "tracks", track.rawValue]
    }
}
