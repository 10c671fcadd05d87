import Synchronization

/// Tracks by command, and what the mixer says of them.
extension RoomDirectory {
    /// Publishes a track of a host.
    ///
    /// One that its encoder has published by itself is taken over as it is.
    ///
    /// - Throws: 53106, 53204, 3066 unless a host, 3073 when `kind` is not the track's, 20106 for a track that is not the
    ///   participant's to publish, 53304 when it is published by command already.
    public func publishTrack(
        room: String,
        participant: String,
        name: TrackName,
        kind: TrackKind? = nil,
        isEnabled: Bool = true
    ) throws(StageError) -> Track {
        if let kind, kind != name.kind {
            throw .invalidParameter("kind", "must be \(name.kind.rawValue) for \(name.rawValue)")
        }
        return try change { (state, now) throws(StageError) in
            try state.change(room) { (room) throws(StageError) in
                try room.publishTrack(name, of: participant, isEnabled: isEnabled, at: now)
            }
        }
    }

    /// Mutes a published track of a host, or ends its being muted.
    ///
    /// - Throws: 53106, 53204, 3066 unless a host, 53300 (404) when the track is not published.
    public func setTrack(
        room: String,
        participant: String,
        name: TrackName,
        isEnabled: Bool
    ) throws(StageError) -> Track {
        try change { (state, now) throws(StageError) in
            try state.change(room) { (room) throws(StageError) in
                try room.setTrack(name, of: participant, isEnabled: isEnabled, at: now)
            }
        }
    }

    /// Unpublishes a track of a host; what its encoder sends of it is dropped from now on.
    ///
    /// To do so again is fine.
    ///
    /// - Throws: 53106, 53204, 3066 unless a host.
    public func unpublishTrack(room: String, participant: String, name: TrackName) throws(StageError) {
        try change { (state, now) throws(StageError) in
            try state.change(room) { (room) throws(StageError) in
                try room.unpublishTrack(name, of: participant, at: now)
            }
        }
    }

    /// Takes over what a room's mixer hears and sees; whom it does not name stays as it was.
    ///
    /// - Throws: 53106.
    public func report(room: String, _ report: MixerReport) throws(StageError) {
        try change { (state, now) throws(StageError) in
            try state.change(room) { (room) throws(StageError) in room.report(report, at: now) }
        }
    }

    /// Forgets what a room's mixer said of itself and of how hosts keep time, for it is gone.
    public func mixerStopped(room: String) {
        defer { deliver() }
        state.withLock { state in
            let now = clock.now
            // Nobody asks for the load of a room that is forgotten.
            _ = try? state.change(room) { $0.mixerStopped(at: now) }
        }
    }
}
