/// A participant's state inside its room.
struct Participant: Sendable {
    let sid: String
    let sessionID: String
    let identity: String
    var displayName: String
    var mode: ParticipantMode
    var status: ParticipantStatus
    let joinedAt: Double
    var revision: UInt64 = 1
    private(set) var tracks: [TrackName: Track] = [:]
    /// The connection that publishes now, by what it publishes.
    var connections: [PublishSource: UInt64] = [:]

    var isHost: Bool { mode == .sendAndReceive }

    var isMicOn: Bool { tracks[.mic]?.isOn ?? false }

    /// What the tile shows: a screen takes the camera's place.
    var tileSource: Tile.Source {
        if tracks[.screen]?.isOn ?? false { return .screen }
        if tracks[.camera]?.isOn ?? false { return .camera }
        return .placeholder
    }

    func view(position: Int?) -> ParticipantView {
        ParticipantView(
            sid: sid,
            identity: identity,
            displayName: displayName,
            mode: mode,
            status: status,
            tracks: TrackName.allCases.compactMap { tracks[$0] },
            position: position,
            joinedAt: joinedAt,
            revision: revision
        )
    }

    mutating func set(_ track: Track) {
        tracks[track.name] = track
    }

    mutating func removeTrack(_ name: TrackName) -> Track? {
        tracks.removeValue(forKey: name)
    }
}
