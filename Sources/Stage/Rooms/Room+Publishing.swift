/// A host's media: connections, and tracks that follow arriving media and commands.
extension Room {
    /// Returns the reason why a participant may not publish now; nil if it may.
    func refusal(ofPublisher sid: String, at now: Double) -> PublishRefusal? {
        guard status == .inProgress else { return .roomEnded }
        guard let index = index(of: sid) else { return .unknownKey }
        guard participants[index].isHost else { return .wrongMode }
        guard let until = participants[index].quarantinedUntil, now < until else { return nil }
        return .quarantined(seconds: Int((until - now).rounded(.up)))
    }

    /// Registers a connection that starts to publish; the newest wins.
    ///
    /// The connection counts as signalling; its first packet as media. Until then the tracks of an older connection
    /// stay unchanged.
    ///
    /// Events: `participant.updated` or, after a loss, `participant.reconnected`.
    mutating func publishBegan(
        _ source: PublishSource,
        by sid: String,
        connection: UInt64,
        at now: Double
    ) -> PublishAdmission {
        if let refusal = refusal(ofPublisher: sid, at: now) { return .refused(refusal) }
        guard let index = index(of: sid) else { return .refused(.unknownKey) }
        let previous = participants[index].flows[source]?.connection
        endQuarantine(at: index, now: now)
        updateSilently(at: index) { participant in
            // The media of an older connection says nothing about this one.
            participant.flows[source] = MediaFlow(connection: connection)
            guard !participant.flows.values.contains(where: \.isFlowing) else { return }
            participant.liveness.mediaPending(isExpected: participant.isMediaExpected, at: now)
        }
        updateStatus(at: index, now: now)
        return .accepted(replacing: previous == connection ? nil : previous)
    }

    /// Updates what a publishing connection carries; a call for an older connection than the newest has no effect.
    ///
    /// A connection without audio and video is silent: its tracks are interrupted, and the timeout of lost media runs.
    ///
    /// Only published tracks of a host with a session are accepted; `participant.updated` reports dropped ones of
    /// others.
    ///
    /// Events: `track.published`, `participant.updated`, `track.subscribed`, `track.unsubscribed`,
    /// `participant.reconnecting`, `participant.reconnected`, and `layout.changed` when a tile changes.
    mutating func publishChanged(
        _ source: PublishSource,
        by sid: String,
        connection: UInt64,
        media: PublishedMedia,
        at now: Double
    ) {
        guard let index = current(source, of: sid, connection: connection) else { return }
        let discarded = participants[index].discarded
        updateSilently(at: index) { participant in
            participant.flows[source]?.media = media
            participant.flows[source]?.isSilent = !media.hasVideo && !media.hasAudio
        }
        for name in TrackName.allCases where name.source == source {
            updateTrack(name, at: index, media: media, now: now)
        }
        let flows = participants[index].flows.values
        if flows.contains(where: \.isFlowing) {
            updateSilently(at: index) { $0.liveness.mediaStarted() }
        } else if !flows.contains(where: \.isPending) {
            let isMissed = participants[index].isMediaExpected
            updateSilently(at: index) {
                $0.liveness.mediaStopped(isMissed: isMissed, since: now - Liveness.mediaSilence, at: now)
            }
        }
        updateStatus(at: index, now: now)
        announceDiscarded(at: index, unless: discarded, now: now)
        announceLayout(at: now)
    }

    /// Publishes a change of the tracks that are dropped because the host did not publish them.
    private mutating func announceDiscarded(at index: Int, unless known: [TrackName], now: Double) {
        guard participants[index].discarded != known else { return }
        update(at: index) { _ in }
        emit(.participantUpdated(view(of: participants[index])), at: now)
    }

    /// Publishes the refusal of a host's encoder.
    ///
    /// Events: `participant.media_failed`, unless the same was published within the last few seconds.
    mutating func publishRefused(by sid: String, _ error: StageError, at now: Double) {
        guard status == .inProgress, let index = index(of: sid), participants[index].isHost else { return }
        if let last = participants[index].mediaFault, last.error == error, now - last.at < Self.mediaFaultInterval {
            return
        }
        updateSilently(at: index) { $0.mediaFault = (error, now) }
        emit(.participantMediaFailed(view(of: participants[index]), error), at: now)
    }

    /// The interval in seconds within which the same fault is not published again.
    private static let mediaFaultInterval = 5.0

    /// Unregisters a publishing connection; a call for an older connection than the newest has no effect.
    ///
    /// Tracks that were published by command stay published without media; the others end with their connection.
    ///
    /// Events: `track.unpublished` or `track.unsubscribed` for each of its tracks, `participant.reconnecting` when no
    /// other connection publishes, and `layout.changed` when a tile changes.
    ///
    /// - Parameter isLost: The connection broke; false when its encoder disconnected cleanly.
    mutating func publishEnded(
        _ source: PublishSource,
        by sid: String,
        connection: UInt64,
        isLost: Bool = true,
        at now: Double
    ) {
        guard let index = current(source, of: sid, connection: connection) else { return }
        let (wasExpected, discarded) = (participants[index].isMediaExpected, participants[index].discarded)
        updateSilently(at: index) { $0.flows[source] = nil }
        for name in TrackName.allCases where name.source == source {
            switch participants[index].preference(for: name) {
            case .automatic: unpublish(name, at: index, reason: .ended, now: now)
            case .published, .unpublished: updateTrack(name, at: index, media: nil, now: now)
            }
        }
        let flows = participants[index].flows.values
        if flows.contains(where: \.isPending), !flows.contains(where: \.isFlowing) {
            updateSilently(at: index) { $0.liveness.mediaPending(isExpected: $0.isMediaExpected, at: now) }
        } else if !flows.contains(where: \.isFlowing) {
            let isMissed = wasExpected && (isLost || participants[index].isMediaExpected)
            updateSilently(at: index) { $0.liveness.mediaStopped(isMissed: isMissed, since: now, at: now) }
        }
        updateStatus(at: index, now: now)
        announceDiscarded(at: index, unless: discarded, now: now)
        announceLayout(at: now)
    }

    private func current(_ source: PublishSource, of sid: String, connection: UInt64) -> Int? {
        guard status == .inProgress, let index = index(of: sid) else { return nil }
        return participants[index].flows[source]?.connection == connection ? index : nil
    }

    /// Updates one track from its arriving media.
    ///
    /// - Parameter media: The media of its connection; nil without a connection.
    private mutating func updateTrack(_ name: TrackName, at index: Int, media: PublishedMedia?, now: Double) {
        let participant = participants[index]
        let arrives = media?.carries(name) ?? false
        if arrives, participant.tracks[name] == nil, participant.publishesAutomatically(name) {
            publish(name, isEnabled: true, at: index, now: now)
        } else if arrives, let media, let known = participants[index].tracks[name] {
            var track = known
            track.apply(media)
            if track != known {
                update(at: index) { $0.set(track) }
                emit(.participantUpdated(view(of: participants[index])), at: now)
            }
        }
        // Decoding before a break says nothing about the time after it.
        if !arrives { updateSilently(at: index) { $0.decoding[name] = nil } }
        subscribe(name, at: index, now: now)
    }
}

/// Quarantine of hosts whose media crashed the mixer repeatedly.
extension Room {
    /// Refuses a host's media for `seconds`; the caller closes its connection.
    ///
    /// Has no effect on other participants. Events: `participant.media_failed`.
    mutating func quarantine(_ sid: String, seconds: Double, at now: Double) {
        guard status == .inProgress, let index = index(of: sid), participants[index].isHost else { return }
        update(at: index) { $0.quarantinedUntil = now + seconds }
        let error = StageError.hostQuarantined(seconds: Int(seconds.rounded(.up)))
        updateSilently(at: index) { $0.mediaFault = (error, now) }
        emit(.participantMediaFailed(view(of: participants[index]), error), at: now)
    }

    /// Ends a host's quarantine early.
    ///
    /// Events: `participant.updated` for a host in quarantine.
    ///
    /// - Throws: 53106, 53204.
    mutating func release(_ participant: String, at now: Double) throws(StageError) {
        guard status == .inProgress else { throw .roomNotFound }
        guard let index = index(of: participant) else { throw .participantNotFound }
        endQuarantine(at: index, now: now)
    }

    /// Ends the quarantine, by a new connection after its time or by command.
    mutating func endQuarantine(at index: Int, now: Double) {
        guard participants[index].quarantinedUntil != nil else { return }
        update(at: index) { $0.quarantinedUntil = nil }
        emit(.participantUpdated(view(of: participants[index])), at: now)
    }
}

/// Tracks by command of a host, or of an operator for it.
extension Room {
    /// Publishes a track by command, or takes over one that its encoder published.
    ///
    /// Events: `track.published`, or `track.enabled`/`track.disabled` when a published track changes; and
    /// `layout.changed` when a tile changes.
    ///
    /// - Throws: 53106, 53204, 3066 unless a host, 20106 for a track that the participant may not publish, 53304 for a
    ///   track that is published by command.
    mutating func publishTrack(
        _ name: TrackName,
        of reference: String,
        isEnabled: Bool,
        at now: Double
    ) throws(StageError) -> Track {
        let index = try publisher(reference)
        guard participants[index].sources.contains(name) else { throw .tokenGrantsInvalid }
        if case .published = participants[index].preference(for: name) { throw .trackNameDuplicated }
        updateSilently(at: index) { $0.setPreference(.published(isEnabled: isEnabled), for: name) }
        if let track = participants[index].tracks[name], track.isEnabled == isEnabled {
            // The visible state is unchanged, but the request is stored.
            announceParticipant(at: index, now: now)
        } else if let track = participants[index].tracks[name] {
            enable(track, isEnabled, at: index, now: now)
        } else {
            publish(name, isEnabled: isEnabled, at: index, now: now)
        }
        return try finish(name, at: index, now: now)
    }

    /// Mutes or unmutes a published track.
    ///
    /// Events: `track.disabled` or `track.enabled`, and `layout.changed` when a tile changes; none when nothing
    /// changes.
    ///
    /// - Throws: 53106, 53204, 3066 unless a host, 53300 for an unpublished track.
    mutating func setTrack(
        _ name: TrackName,
        of reference: String,
        isEnabled: Bool,
        at now: Double
    ) throws(StageError) -> Track {
        let index = try publisher(reference)
        guard let track = participants[index].tracks[name] else { throw .trackNotFound }
        if track.isEnabled != isEnabled {
            updateSilently(at: index) { $0.setPreference(.published(isEnabled: isEnabled), for: name) }
            enable(track, isEnabled, at: index, now: now)
        }
        return try finish(name, at: index, now: now)
    }

    /// Unpublishes a track; its media is dropped until the track is published again.
    ///
    /// An unpublished track is also recorded, so that it does not appear with its encoder.
    ///
    /// Events: `track.unpublished`, and `layout.changed` when a tile changes; `participant.updated` when the track was
    /// not published; none when it was unpublished by command before.
    ///
    /// - Throws: 53106, 53204, 3066 unless a host.
    mutating func unpublishTrack(_ name: TrackName, of reference: String, at now: Double) throws(StageError) {
        let index = try publisher(reference)
        guard participants[index].preference(for: name) != .unpublished else { return }
        updateSilently(at: index) { $0.setPreference(.unpublished, for: name) }
        if participants[index].tracks[name] == nil { announceParticipant(at: index, now: now) }
        unpublish(name, at: index, reason: .unpublished, now: now)
        updateMediaExpectation(at: index, now: now)
        announceLayout(at: now)
    }

    /// Applies a mixer report.
    ///
    /// Events: `track.subscribed`, `track.unsubscribed`, those of speakers, `layout.changed` when a tile changes, and
    /// `room.updated` when the degradation level changes.
    mutating func report(_ report: MixerReport, at now: Double) {
        guard status == .inProgress else { return }
        var levels: [AudioLevel] = []
        let before = revision
        for entry in report.entries {
            guard let index = index(of: entry.participantSID), participants[index].isHost else { continue }
            if let sync = entry.sync {
                updateSilently(at: index) { ($0.sync, $0.screenSync) = (sync, entry.screenSync) }
            }
            let host = participants[index]
            levels.append(AudioLevel(participantSID: host.sid, level: entry.audioLevel, gain: host.sound.gain))
            for name in TrackName.allCases where participants[index].tracks[name]?.isEnabled ?? false {
                updateSilently(at: index) { participant in
                    let isNamed = entry.subscribed.contains(name)
                    _ = participant.decoding[name, default: TrackDecodeState()].update(isDecoded: isNamed, at: now)
                }
                subscribe(name, at: index, now: now)
            }
        }
        updateLevels(levels, at: now)
        if revision != before { announceLayout(at: now) }
        let level = load?.level ?? 0
        if let reported = report.load { (load, loadReportedAt) = (reported, now) }
        frames = report.frames ?? frames
        if level != load?.level ?? 0 { emit(.roomUpdated(view), at: now) }
    }

    /// Clears the mixer load and the hosts' sync after the mixer stopped.
    ///
    /// Events: `room.updated` when the program was degraded.
    mutating func mixerStopped(at now: Double) {
        for index in participants.indices { updateSilently(at: index) { ($0.sync, $0.screenSync) = (nil, nil) } }
        let level = load?.level ?? 0
        (load, loadReportedAt, frames) = (nil, nil, nil)
        if level != 0, status == .inProgress { emit(.roomUpdated(view), at: now) }
    }

    // MARK: Helpers shared with publishing

    mutating func publish(_ name: TrackName, isEnabled: Bool, at index: Int, now: Double) {
        var track = Track(name: name, isEnabled: isEnabled)
        if let flow = participants[index].flows[name.source], flow.media.carries(name) { track.apply(flow.media) }
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

    /// Updates a track's subscription from arriving media and the mixer's decode state.
    ///
    /// A muted track keeps its state, because its media does not reach the mixer. So does a track whose connection was
    /// replaced by one that has not sent media yet.
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

    private mutating func announceParticipant(at index: Int, now: Double) {
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

    /// Returns the index of a host.
    private func publisher(_ reference: String) throws(StageError) -> Int {
        let index = try existing(reference)
        guard participants[index].isHost else { throw .notAHost }
        return index
    }

    private mutating func finish(_ name: TrackName, at index: Int, now: Double) throws(StageError) -> Track {
        updateMediaExpectation(at: index, now: now)
        announceLayout(at: now)
        guard let track = participants[index].tracks[name] else { throw .trackNotFound }
        return track
    }

    /// Updates whether media is expected, after a command.
    private mutating func updateMediaExpectation(at index: Int, now: Double) {
        updateSilently(at: index) { $0.liveness.mediaIsExpected($0.isMediaExpected, at: now) }
        updateStatus(at: index, now: now)
    }
}
