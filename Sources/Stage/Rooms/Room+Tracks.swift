/// Tracks by command: what a host, or an operator for it, wants of microphone, camera and screen.
extension Room {
    /// Publishes a track by command, or takes over one that its encoder published by itself.
    ///
    /// Events: `track.published`, or `track.enabled`/`track.disabled` when a track that is there changes; and
    /// `layout.changed` when a tile changes.
    ///
    /// - Throws: 53106, 53204, 3066 unless a host, 20106 for a track that is not the participant's to publish, 53304 when
    ///   it is published by command already.
    mutating func publishTrack(
        _ name: TrackName,
        of reference: String,
        isEnabled: Bool,
        at now: Double
    ) throws(StageError) -> Track {
        let index = try publisher(reference)
        guard participants[index].sources.contains(name) else { throw .tokenGrantsInvalid }
        if case .wanted = participants[index].wish(for: name) { throw .trackNameDuplicated }
        note(at: index) { $0.setWish(.wanted(isEnabled: isEnabled), for: name) }
        if let track = participants[index].tracks[name], track.isEnabled == isEnabled {
            // Nobody sees the difference, but it is to be kept.
            tellOfWish(at: index, now: now)
        } else if let track = participants[index].tracks[name] {
            enable(track, isEnabled, at: index, now: now)
        } else {
            publish(name, isEnabled: isEnabled, at: index, now: now)
        }
        return try finish(name, at: index, now: now)
    }

    /// Mutes a track or ends its being muted; it stays published.
    ///
    /// Events: `track.disabled` or `track.enabled`, and `layout.changed` when a tile changes; none when nothing changes.
    ///
    /// - Throws: 53106, 53204, 3066 unless a host, 53300 when there is no such track.
    mutating func setTrack(
        _ name: TrackName,
        of reference: String,
        isEnabled: Bool,
        at now: Double
    ) throws(StageError) -> Track {
        let index = try publisher(reference)
        guard let track = participants[index].tracks[name] else { throw .trackNotFound }
        if track.isEnabled != isEnabled {
            note(at: index) { $0.setWish(.wanted(isEnabled: isEnabled), for: name) }
            enable(track, isEnabled, at: index, now: now)
        }
        return try finish(name, at: index, now: now)
    }

    /// Unpublishes a track; what its encoder goes on to send is dropped until the track is published again.
    ///
    /// A track that is not there is withdrawn all the same, so that it does not appear with its encoder.
    ///
    /// Events: `track.unpublished`, and `layout.changed` when a tile changes; `participant.updated` when nothing was
    /// published; none when it was withdrawn before.
    ///
    /// - Throws: 53106, 53204, 3066 unless a host.
    mutating func unpublishTrack(_ name: TrackName, of reference: String, at now: Double) throws(StageError) {
        let index = try publisher(reference)
        guard participants[index].wish(for: name) != .withdrawn else { return }
        note(at: index) { $0.setWish(.withdrawn, for: name) }
        if participants[index].tracks[name] == nil { tellOfWish(at: index, now: now) }
        unpublish(name, at: index, reason: .unpublished, now: now)
        settleMedia(at: index, now: now)
        announceLayout(at: now)
    }

    /// Takes over what the mixer hears and sees.
    ///
    /// Events: `track.subscribed`, `track.unsubscribed`, those of speakers, `layout.changed` when a tile changes, and
    /// `room.updated` when the program does without something else than before.
    mutating func report(_ report: MixerReport, at now: Double) {
        guard status == .inProgress else { return }
        var levels: [AudioLevel] = []
        let before = revision
        for entry in report.entries {
            guard let index = index(of: entry.participantSID), participants[index].isHost else { continue }
            if let sync = entry.sync { note(at: index) { ($0.sync, $0.screenSync) = (sync, entry.screenSync) } }
            let host = participants[index]
            levels.append(AudioLevel(participantSID: host.sid, level: entry.audioLevel, gain: host.sound.gain))
            for name in TrackName.allCases where participants[index].tracks[name]?.isEnabled ?? false {
                note(at: index) { participant in
                    let isNamed = entry.subscribed.contains(name)
                    _ = participant.decoding[name, default: DecodingClaim()].hear(isDecoded: isNamed, at: now)
                }
                subscribe(name, at: index, now: now)
            }
        }
        hear(levels, at: now)
        if revision != before { announceLayout(at: now) }
        let level = load?.level ?? 0
        if let told = report.load { (load, loadReportedAt) = (told, now) }
        frames = report.frames ?? frames
        if level != load?.level ?? 0 { emit(.roomUpdated(view), at: now) }
    }

    /// The mixer is gone, and nothing it said of itself and of how hosts keep time is true any more.
    ///
    /// Events: `room.updated` when the program did without something.
    mutating func mixerStopped(at now: Double) {
        for index in participants.indices { note(at: index) { ($0.sync, $0.screenSync) = (nil, nil) } }
        let level = load?.level ?? 0
        (load, loadReportedAt, frames) = (nil, nil, nil)
        if level != 0, status == .inProgress { emit(.roomUpdated(view), at: now) }
    }

    // MARK: Steps shared with publishing

    mutating func publish(_ name: TrackName, isEnabled: Bool, at index: Int, now: Double) {
        var track = Track(name: name, isEnabled: isEnabled)
        if let flow = participants[index].flows[name.source], flow.media.carries(name) { track.describe(flow.media) }
        update(at: index) { $0.set(track) }
        emit(.trackPublished(track, participant: view(of: participants[index])), at: now)
    }

    mutating func unpublish(_ name: TrackName, at index: Int, reason: UnpublishReason, now: Double) {
        guard participants[index].tracks[name] != nil else { return }
        var removed: Track?
        update(at: index) { removed = $0.removeTrack(name) }
        guard let removed else { return }
        emit(.trackUnpublished(removed, participant: view(of: participants[index]), reason), at: now)
    }

    mutating func unpublishAll(at index: Int, reason: UnpublishReason, now: Double) {
        for name in TrackName.allCases {
            unpublish(name, at: index, reason: reason, now: now)
        }
    }

    /// Brings a track's being subscribed in line with what arrives and what the mixer makes of it.
    ///
    /// A track that is muted keeps the state it had: nothing reaches the mixer then that it could report. So does one
    /// whose connection was taken over by another that is about to begin.
    mutating func subscribe(_ name: TrackName, at index: Int, now: Double) {
        guard var track = participants[index].tracks[name] else { return }
        if participants[index].flows[name.source]?.isPending ?? false { return }
        let arrives = participants[index].receives(name)
        let isDecoded = participants[index].decoding[name]?.isDecoded ?? false
        let isSubscribed = arrives && (track.isEnabled ? isDecoded : track.isSubscribed)
        guard isSubscribed != track.isSubscribed else { return }
        track.isSubscribed = isSubscribed
        if isSubscribed { track.hasPlayed = true }
        update(at: index) { $0.set(track) }
        let view = view(of: participants[index])
        emit(
            isSubscribed
                ? .trackSubscribed(track, participant: view) : .trackUnsubscribed(track, participant: view),
            at: now
        )
    }

    private mutating func tellOfWish(at index: Int, now: Double) {
        update(at: index) { _ in }
        emit(.participantUpdated(view(of: participants[index])), at: now)
    }

    private mutating func enable(_ known: Track, _ isEnabled: Bool, at index: Int, now: Double) {
        guard known.isEnabled != isEnabled else { return }
        var track = known
        track.isEnabled = isEnabled
        update(at: index) { $0.set(track) }
        let view = view(of: participants[index])
        emit(isEnabled ? .trackEnabled(track, participant: view) : .trackDisabled(track, participant: view), at: now)
    }

    /// The index of a host.
    private func publisher(_ reference: String) throws(StageError) -> Int {
        let index = try existing(reference)
        guard participants[index].isHost else { throw .notAHost }
        return index
    }

    private mutating func finish(_ name: TrackName, at index: Int, now: Double) throws(StageError) -> Track {
        settleMedia(at: index, now: now)
        announceLayout(at: now)
        guard let track = participants[index].tracks[name] else { throw .trackNotFound }
        return track
    }

    /// After a command the host may owe media, or none any more.
    private mutating func settleMedia(at index: Int, now: Double) {
        note(at: index) { $0.liveness.mediaIsExpected($0.isMediaExpected, at: now) }
        settle(at: index, now: now)
    }
}
