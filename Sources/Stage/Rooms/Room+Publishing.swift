/// A host's media: connections come and go, tracks follow what arrives and what was said of them, and the place stays.
extension Room {
    /// Whether a participant may publish now.
    func refusal(ofPublisher sid: String, at now: Double) -> PublishRefusal? {
        guard status == .inProgress else { return .roomEnded }
        guard let index = index(of: sid) else { return .unknownKey }
        guard participants[index].isHost else { return .wrongMode }
        guard let until = participants[index].quarantinedUntil, now < until else { return nil }
        return .quarantined(seconds: Int((until - now).rounded(.up)))
    }

    /// A connection begins to publish; the newest wins.
    ///
    /// Its host is there; that media flows is told by its first packet. Until then the tracks of an older connection stay
    /// as they are.
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
        note(at: index) { participant in
            // What an older connection carried says nothing about this one.
            participant.flows[source] = MediaFlow(connection: connection)
            guard !participant.flows.values.contains(where: \.isFlowing) else { return }
            participant.liveness.mediaPends(isExpected: participant.isMediaExpected, at: now)
        }
        settle(at: index, now: now)
        return .accepted(replacing: previous == connection ? nil : previous)
    }

    /// A publishing connection carries something else than before; told by any but the newest connection, it is nothing.
    ///
    /// A connection that carries neither sound nor pictures any more is silent: its tracks are interrupted, and the
    /// clock of lost media runs.
    ///
    /// Of a host with a session only those tracks are taken that it published; of others `participant.updated` tells that
    /// they are dropped.
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
        note(at: index) { participant in
            participant.flows[source]?.media = media
            participant.flows[source]?.isSilent = !media.hasVideo && !media.hasAudio
        }
        for name in TrackName.allCases where name.source == source {
            follow(name, at: index, media: media, now: now)
        }
        let flows = participants[index].flows.values
        if flows.contains(where: \.isFlowing) {
            note(at: index) { $0.liveness.mediaFlows() }
        } else if !flows.contains(where: \.isPending) {
            let isMissed = participants[index].isMediaExpected
            note(at: index) {
                $0.liveness.mediaStopped(isMissed: isMissed, since: now - Liveness.mediaSilence, at: now)
            }
        }
        settle(at: index, now: now)
        tellOfDiscarded(at: index, unless: discarded, now: now)
        announceLayout(at: now)
    }

    /// Tells of media that arrives and is dropped because its host did not publish it.
    private mutating func tellOfDiscarded(at index: Int, unless known: [TrackName], now: Double) {
        guard participants[index].discarded != known else { return }
        update(at: index) { _ in }
        emit(.participantUpdated(view(of: participants[index])), at: now)
    }

    /// What a host's encoder sends is refused.
    ///
    /// Events: `participant.media_failed`, unless the same was told within the last few seconds.
    mutating func publishRefused(by sid: String, _ error: StageError, at now: Double) {
        guard status == .inProgress, let index = index(of: sid), participants[index].isHost else { return }
        if let last = participants[index].mediaFault, last.error == error, now - last.at < Self.mediaFaultInterval {
            return
        }
        note(at: index) { $0.mediaFault = (error, now) }
        emit(.participantMediaFailed(view(of: participants[index]), error), at: now)
    }

    /// Seconds for which a host's fault is not told a second time.
    private static let mediaFaultInterval = 5.0

    /// A publishing connection is gone; an older one than the newest is nobody's loss.
    ///
    /// Tracks that were published by command stay published without media; the others end with their connection.
    ///
    /// Events: `track.unpublished` or `track.unsubscribed` for each of its tracks, `participant.reconnecting` when
    /// nothing else publishes, and `layout.changed` when a tile changes.
    ///
    /// - Parameter isLost: The connection broke; false when its encoder took leave.
    mutating func publishEnded(
        _ source: PublishSource,
        by sid: String,
        connection: UInt64,
        isLost: Bool = true,
        at now: Double
    ) {
        guard let index = current(source, of: sid, connection: connection) else { return }
        let (wasExpected, discarded) = (participants[index].isMediaExpected, participants[index].discarded)
        note(at: index) { $0.flows[source] = nil }
        for name in TrackName.allCases where name.source == source {
            switch participants[index].wish(for: name) {
            case .automatic: unpublish(name, at: index, reason: .ended, now: now)
            case .wanted, .withdrawn: follow(name, at: index, media: nil, now: now)
            }
        }
        let flows = participants[index].flows.values
        if flows.contains(where: \.isPending), !flows.contains(where: \.isFlowing) {
            note(at: index) { $0.liveness.mediaPends(isExpected: $0.isMediaExpected, at: now) }
        } else if !flows.contains(where: \.isFlowing) {
            let isMissed = wasExpected && (isLost || participants[index].isMediaExpected)
            note(at: index) { $0.liveness.mediaStopped(isMissed: isMissed, since: now, at: now) }
        }
        settle(at: index, now: now)
        tellOfDiscarded(at: index, unless: discarded, now: now)
        announceLayout(at: now)
    }

    private func current(_ source: PublishSource, of sid: String, connection: UInt64) -> Int? {
        guard status == .inProgress, let index = index(of: sid) else { return nil }
        return participants[index].flows[source]?.connection == connection ? index : nil
    }

    /// Brings one track in line with what arrives of it.
    ///
    /// - Parameter media: What its connection carries; nil without a connection.
    private mutating func follow(_ name: TrackName, at index: Int, media: PublishedMedia?, now: Double) {
        let participant = participants[index]
        let arrives = media?.carries(name) ?? false
        if arrives, participant.tracks[name] == nil, participant.publishesAutomatically(name) {
            publish(name, isEnabled: true, at: index, now: now)
        } else if arrives, let media, let known = participants[index].tracks[name] {
            var track = known
            track.describe(media)
            if track != known {
                update(at: index) { $0.set(track) }
                emit(.participantUpdated(view(of: participants[index])), at: now)
            }
        }
        // What was decoded before a break says nothing about what comes after it.
        if !arrives { note(at: index) { $0.decoding[name] = nil } }
        subscribe(name, at: index, now: now)
    }
}
