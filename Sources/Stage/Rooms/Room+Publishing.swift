/// A host's media: connections come and go, tracks follow what arrives, and the place on stage stays.
extension Room {
    /// Whether a participant may publish now.
    func refusal(ofPublisher sid: String) -> PublishRefusal? {
        guard status == .inProgress else { return .roomEnded }
        guard let index = index(of: sid) else { return .unknownKey }
        return participants[index].isHost ? nil : .wrongMode
    }

    /// A connection begins to publish; the newest wins.
    ///
    /// Events: `participant.updated` or, after a loss, `participant.reconnected`.
    mutating func publishBegan(
        _ source: PublishSource,
        by sid: String,
        connection: UInt64,
        at now: Double
    ) -> PublishAdmission {
        if let refusal = refusal(ofPublisher: sid) { return .refused(refusal) }
        guard let index = index(of: sid) else { return .refused(.unknownKey) }
        let previous = participants[index].connections[source]
        let status = participants[index].status
        update(at: index) { participant in
            participant.connections[source] = connection
            participant.status = .connected
        }
        let view = view(of: participants[index])
        switch status {
        case .connected: break
        case .reconnecting: emit(.participantReconnected(view), at: now)
        case .connecting, .disconnected: emit(.participantUpdated(view), at: now)
        }
        return .accepted(replacing: previous == connection ? nil : previous)
    }

    /// A publishing connection carries something else than before; told by any but the newest connection, it is nothing.
    ///
    /// Events: `track.published`, `track.subscribed`, `track.unsubscribed`, and `layout.changed` when a tile changes.
    mutating func publishChanged(
        _ source: PublishSource,
        by sid: String,
        connection: UInt64,
        media: PublishedMedia,
        at now: Double
    ) {
        guard let index = current(source, of: sid, connection: connection) else { return }
        switch source {
        case .camera:
            flow(media.hasAudio, .mic, at: index, media: media, now: now)
            flow(media.hasVideo, .camera, at: index, media: media, now: now)
        case .screen:
            flow(media.hasVideo, .screen, at: index, media: media, now: now)
        }
        announceLayout(at: now)
    }

    /// A publishing connection is gone; an older one than the newest is nobody's loss.
    ///
    /// Events: `track.unpublished` for each of its tracks, `participant.reconnecting` when nothing else publishes, and
    /// `layout.changed` when a tile changes.
    mutating func publishEnded(_ source: PublishSource, by sid: String, connection: UInt64, at now: Double) {
        guard let index = current(source, of: sid, connection: connection) else { return }
        update(at: index) { participant in
            participant.connections[source] = nil
            if participant.connections.isEmpty { participant.status = .reconnecting }
        }
        for name in TrackName.allCases where name.source == source {
            unpublish(name, at: index, reason: .ended, now: now)
        }
        if participants[index].status == .reconnecting {
            emit(.participantReconnecting(view(of: participants[index])), at: now)
        }
        announceLayout(at: now)
    }

    mutating func unpublishAll(at index: Int, reason: UnpublishReason, now: Double) {
        for name in TrackName.allCases {
            unpublish(name, at: index, reason: reason, now: now)
        }
    }

    private func current(_ source: PublishSource, of sid: String, connection: UInt64) -> Int? {
        guard status == .inProgress, let index = index(of: sid) else { return nil }
        return participants[index].connections[source] == connection ? index : nil
    }

    private mutating func unpublish(_ name: TrackName, at index: Int, reason: UnpublishReason, now: Double) {
        guard participants[index].tracks[name] != nil else { return }
        var removed: Track?
        update(at: index) { removed = $0.removeTrack(name) }
        guard let removed else { return }
        emit(.trackUnpublished(removed, participant: view(of: participants[index]), reason), at: now)
    }

    /// Brings one track in line with whether its media arrives.
    private mutating func flow(_ arrives: Bool, _ name: TrackName, at index: Int, media: PublishedMedia, now: Double) {
        let known = participants[index].tracks[name]
        guard arrives || known != nil else { return }
        var track = known ?? Track(sid: StageIdentifier.make("MT"), name: name, isSubscribed: false, isEnabled: true)
        let wasSubscribed = track.isSubscribed
        track.isSubscribed = arrives
        if arrives { track.describe(media) }
        guard track != known else { return }
        update(at: index) { $0.set(track) }
        let view = view(of: participants[index])
        if known == nil { emit(.trackPublished(track, participant: view), at: now) }
        if arrives, !wasSubscribed { emit(.trackSubscribed(track, participant: view), at: now) }
        if !arrives, wasSubscribed { emit(.trackUnsubscribed(track, participant: view), at: now) }
        if arrives, wasSubscribed { emit(.participantUpdated(view), at: now) }
    }
}

extension TrackName {
    /// The connection that carries the track.
    var source: PublishSource { self == .screen ? .screen : .camera }
}

extension Track {
    /// Takes over what the encoder says of itself.
    fileprivate mutating func describe(_ media: PublishedMedia) {
        switch name.kind {
        case .audio:
            codec = media.audioCodec
        case .video:
            codec = media.videoCodec
            width = media.width
            height = media.height
            frameRate = media.frameRate
        }
    }
}
