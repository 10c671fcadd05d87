import DequeModule

/// The state and rules of one room: participants, modes, tracks, and the resulting layout.
///
/// Pure rules: every call passes the time (seconds since 1970, from a clock that never steps back), and the caller
/// reads the resulting events with `drainEvents()`. A value type without waiting or sharing.
struct Room: Sendable {
    let sid: String
    var settings: RoomSettings
    private(set) var status: RoomStatus = .inProgress
    /// Whether the room is backstage: the audience does not see the hosts.
    var isBackstage: Bool
    /// In join order.
    private(set) var participants: [Participant] = []
    /// The index of each participant by sid, and by identity.
    private var directory = ParticipantIndex()
    private(set) var counts = RoomCounts()
    private(set) var revision: UInt64
    private(set) var replayBuffer: EventReplayBuffer
    /// The recently ended sessions with their reasons, for clients that return.
    var endedSessions = EndedSessions()
    var viewershipThrottle = ViewershipThrottle()
    let createdAt: Double
    private(set) var updatedAt: Double
    private(set) var endedAt: Double?
    /// Whether the audience saw or heard a host at least once.
    var wasOnAir = false
    /// Whether a participant ever joined.
    private(set) var wasJoined = false
    /// The start of the wait for the first participant.
    private var unusedSince: Double
    /// The time when the last participant left; nil while there are participants or none ever joined.
    private var emptySince: Double?
    private var pending: [StageEvent] = []

    // The state of each feature; its rules are in an extension.
    var roomLayout = RoomLayout()
    var load: MixerLoad?
    var loadReportedAt: Double?
    var frames: MixerFrames?
    var speakers = DominantSpeakerDetector()
    var pins = RoomPins()
    var invitations = RoomInvitations()
    var hands = RaisedHands()
    var senderLimiter = SenderRateLimiter()
    /// Returns the viewership of a room, by unique name.
    var readAudience: RoomDirectory.AudienceReading = { RoomViewership(room: $0, asOf: 0) }

    /// Creates a room.
    init(settings: RoomSettings, replayedEvents: Int, at now: Double) {
        sid = StageIdentifier.make("RM")
        self.settings = settings
        isBackstage = settings.backstage
        revision = 0
        replayBuffer = EventReplayBuffer(capacity: replayedEvents)
        createdAt = now
        unusedSince = now
        updatedAt = now
        markLayoutAnnounced()
        emit(.roomCreated(view), at: now)
    }

    /// Restores a stored room without its participants.
    init(_ record: RoomRecord, revision: UInt64, replayedEvents: Int) {
        sid = record.sid
        settings = record.settings
        isBackstage = record.isBackstage
        status = record.status
        self.revision = revision
        replayBuffer = EventReplayBuffer(capacity: replayedEvents)
        createdAt = record.createdAt
        unusedSince = record.createdAt
        wasJoined = record.wasJoined ?? true
        wasOnAir = record.wasOnAir ?? false
        updatedAt = record.updatedAt
        endedAt = record.endedAt
        pins = record.pins
        invitations = record.invitations
        hands = record.hands ?? RaisedHands()
    }

    var view: RoomView {
        RoomView(
            sid: sid,
            settings: settings,
            status: status,
            isBackstage: isBackstage,
            wasOnAir: wasOnAir,
            counts: counts,
            participants: participants.map(view(of:)),
            dominantSpeakerSID: speakers.dominant,
            layout: layout,
            hands: hands.hands,
            load: load,
            frames: frames,
            revision: revision,
            createdAt: createdAt,
            updatedAt: updatedAt,
            endedAt: endedAt
        )
    }

    var summary: RoomSummary {
        RoomSummary(
            sid: sid,
            name: settings.name,
            type: settings.type,
            status: status,
            isBackstage: isBackstage,
            counts: counts,
            revision: revision,
            endedAt: endedAt
        )
    }

    func view(of participant: Participant) -> ParticipantView {
        ParticipantView(
            sid: participant.sid,
            identity: participant.identity,
            displayName: participant.displayName,
            metadata: participant.metadata,
            avatar: participant.avatar,
            sound: participant.sound,
            mode: participant.mode,
            status: participant.status,
            tracks: TrackName.allCases.compactMap { participant.tracks[$0] },
            discarded: participant.discarded,
            position: roomLayout.position(of: participant.sid),
            pin: pins.pin(of: participant.sid),
            isSpeaking: speakers.isSpeaking(participant.sid),
            isDominantSpeaker: speakers.dominant == participant.sid,
            audioLevel: speakers.level(of: participant.sid) ?? participant.reportedLevel,
            sync: participant.sync,
            screenSync: participant.screenSync,
            quarantinedUntil: participant.quarantinedUntil,
            joinedAt: participant.joinedAt,
            revision: participant.revision
        )
    }

    /// The index of a participant by sid or identity.
    func index(of reference: String) -> Int? {
        directory.index(of: reference)
    }

    func index(ofIdentity identity: String) -> Int? {
        directory.index(ofIdentity: identity)
    }

    /// Returns the index of a participant of a room in progress.
    ///
    /// - Throws: 53106 or 53204.
    func existing(_ reference: String) throws(StageError) -> Int {
        guard status == .inProgress else { throw .roomNotFound }
        guard let index = index(of: reference) else { throw .participantNotFound }
        return index
    }

    // MARK: Events

    /// Returns and removes the events since the last call, in order.
    mutating func drainEvents() -> [StageEvent] {
        defer { pending.removeAll() }
        return pending
    }

    @discardableResult
    mutating func emit(_ payload: StageEvent.Payload, at now: Double) -> StageEvent {
        revision += 1
        updatedAt = now
        let event = StageEvent(roomSID: sid, roomName: settings.name, revision: revision, payload: payload, at: now)
        replayBuffer.append(event)
        pending.append(event)
        // Most events do not store the room; this event stores the revision in time.
        if revision % Self.revisionsUntilStored == 0, status == .inProgress { emit(.roomUpdated(view), at: now) }
        return event
    }

    /// Returns an event without a revision of its own: it carries the latest one.
    func event(_ payload: StageEvent.Payload, at now: Double) -> StageEvent {
        StageEvent(roomSID: sid, roomName: settings.name, revision: revision, payload: payload, at: now)
    }

    // MARK: End of the room

    /// Ends the room and removes all participants.
    ///
    /// Its program goes on for the room's linger time, see `endProgram`.
    mutating func end(at now: Double) throws(StageError) {
        guard status == .inProgress else { throw .roomCompleted }
        cancelInvitations(at: now)
        status = .completed
        endedAt = now
        for participant in participants { participant.gate.open([]) }
        participants.removeAll()
        directory = ParticipantIndex()
        counts = RoomCounts()
        roomLayout = RoomLayout()
        speakers = DominantSpeakerDetector()
        pins = RoomPins()
        hands = RaisedHands()
        endedSessions = EndedSessions()
        emit(.roomEnded(view), at: now)
    }

    /// Ends the program of an ended room, after its linger time.
    ///
    /// Events: `room.updated`, for observers in the process; the readers' streams have ended.
    mutating func endProgram(at now: Double) {
        guard status == .completed else { return }
        emit(.roomUpdated(view), at: now)
    }

    /// Whether the room exceeded its empty or unused timeout.
    func isAbandoned(at now: Double) -> Bool {
        guard status == .inProgress, participants.isEmpty else { return false }
        if let emptySince { return now - emptySince >= Double(settings.emptyTimeout) }
        return now - unusedSince >= Double(settings.unusedTimeout)
    }

    // MARK: Participants and counts

    mutating func insert(_ participant: Participant) {
        directory.add(participant, at: participants.count)
        participants.append(participant)
        counts[participant.mode] += 1
        wasJoined = true
        emptySince = nil
    }

    mutating func remove(at index: Int, now: Double) -> Participant {
        let participant = participants.remove(at: index)
        directory.remove(participant, at: index)
        counts[participant.mode] -= 1
        if participants.isEmpty { emptySince = now }
        return participant
    }

    /// Changes a participant's mode and the counts.
    mutating func setMode(_ mode: ParticipantMode, at index: Int) {
        counts[participants[index].mode] -= 1
        counts[mode] += 1
        participants[index].mode = mode
    }

    /// Changes a participant and increments its revision.
    mutating func update(at index: Int, _ change: (inout Participant) -> Void) {
        change(&participants[index])
        participants[index].revision += 1
    }

    /// Changes private state of a participant without a new revision.
    mutating func updateSilently(at index: Int, _ change: (inout Participant) -> Void) {
        change(&participants[index])
    }

    /// Restarts the empty and unused timeouts after a restart.
    mutating func restartTimers(at now: Double) {
        unusedSince = now
        if participants.isEmpty, wasJoined { emptySince = now }
    }
}

/// Backstage mode: the hosts are on stage, and the audience does not see them.
extension Room {
    /// Shows the stage to the audience or hides it; an unchanged value has no effect.
    ///
    /// Events: `room.updated`.
    mutating func setBackstage(_ isBackstage: Bool, at now: Double) throws(StageError) {
        guard status == .inProgress else { throw .roomNotFound }
        guard self.isBackstage != isBackstage else { return }
        self.isBackstage = isBackstage
        updateWasOnAir()
        emit(.roomUpdated(view), at: now)
    }

    /// Records that the audience saw or heard a host, if it does now.
    mutating func updateWasOnAir() {
        guard !wasOnAir, !isBackstage else { return }
        wasOnAir = participants.contains { $0.isHost && $0.hasEnabledTrack }
    }

    /// Publishes the audience.
    ///
    /// Events: `viewership.updated`.
    mutating func announceAudience(at now: Double) {
        let (name, read) = (settings.name, readAudience)
        emit(.viewershipUpdated(AudienceUpdate(counts: counts) { read(name) }), at: now)
    }

    /// Publishes an event from outside of the room; an ended room publishes none.
    mutating func announce(_ payload: StageEvent.Payload, at now: Double) {
        guard status == .inProgress else { return }
        emit(payload, at: now)
    }
}

/// The current layout, and its updates.
extension Room {
    /// The current layout.
    var layout: LayoutView { roomLayout.view(settings) }

    /// The hosts as input of the layout, in their order on stage.
    var layoutHosts: [LayoutHost] {
        orderedHosts.map { host in
            let pin = pins.pin(of: host.sid)
            return LayoutHost(
                sid: host.sid,
                label: host.displayName,
                hasCamera: host.isCameraOn,
                hasScreen: host.isScreenOn,
                isMicOn: host.isMicOn,
                avatar: host.avatar?.text,
                pin: pin?.type,
                pinnedAt: pin?.pinnedAt ?? 0,
                isDominantSpeaker: speakers.dominant == host.sid,
                speakingOrder: speakers.order.firstIndex(of: host.sid)
            )
        }
    }

    /// Sets the layout.
    ///
    /// Events: `layout.changed` when that is a change.
    ///
    /// - Throws: 53106, or 3073 naming the field.
    mutating func setLayout(_ layout: LayoutSettings, at now: Double) throws(StageError) {
        guard status == .inProgress else { throw .roomNotFound }
        try layout.validate(path: "")
        settings.layout = layout
        announceLayout(at: now)
    }

    /// Updates the tiles without an event, before events that contain positions.
    mutating func arrangeLayout() {
        roomLayout.arrange(layoutHosts, settings)
    }

    /// Rotates hidden hosts in, when the interval has passed.
    ///
    /// Events: `layout.changed`.
    mutating func rotateTiles(at now: Double) {
        guard settings.layout.rotation > 0, roomLayout.rotate(layoutHosts, settings, at: now) else { return }
        announceLayout(at: now)
    }

    /// Updates the tiles, and publishes the layout if it differs from the last announced one.
    ///
    /// The last step of a command, so that it is announced at most once.
    mutating func announceLayout(at now: Double) {
        arrangeLayout()
        // Every change of visible or audible media passes here.
        updateWasOnAir()
        guard let layout = roomLayout.changeToAnnounce(settings) else { return }
        emit(.layoutChanged(layout), at: now)
    }

    /// Updates the tiles and marks the layout as announced, where an event contains the whole room.
    mutating func markLayoutAnnounced() {
        arrangeLayout()
        _ = roomLayout.changeToAnnounce(settings)
    }
}

/// The positions of participants in a list, by sid and by identity.
struct ParticipantIndex: Sendable {
    private var bySID: [String: Int] = [:]
    private var byIdentity: [String: Int] = [:]

    /// Returns the position of a participant; a sid has precedence over an equal identity.
    func index(of reference: String) -> Int? {
        bySID[reference] ?? byIdentity[reference]
    }

    func index(ofIdentity identity: String) -> Int? {
        byIdentity[identity]
    }

    mutating func add(_ participant: Participant, at index: Int) {
        bySID[participant.sid] = index
        byIdentity[participant.identity] = index
    }

    /// Removes a participant and shifts the later positions by one.
    mutating func remove(_ participant: Participant, at index: Int) {
        bySID[participant.sid] = nil
        byIdentity[participant.identity] = nil
        bySID = bySID.mapValues { $0 > index ? $0 - 1 : $0 }
        byIdentity = byIdentity.mapValues { $0 > index ? $0 - 1 : $0 }
    }
}

/// The recently ended sessions with their reasons; the oldest is evicted first.
struct EndedSessions: Sendable {
    /// The maximum number of sessions.
    static let capacity = 256

    private var reasons: [String: LeaveReason] = [:]
    private var order: Deque<String> = []

    var count: Int { reasons.count }

    mutating func add(_ sessionID: String, _ reason: LeaveReason) {
        guard reasons.updateValue(reason, forKey: sessionID) == nil else { return }
        order.append(sessionID)
        if order.count > Self.capacity, let oldest = order.popFirst() { reasons[oldest] = nil }
    }

    /// Returns the reason of a session's end; nil for an unknown or evicted one.
    func reason(of sessionID: String) -> LeaveReason? {
        reasons[sessionID]
    }
}

/// Joining and leaving.
extension Room {
    /// Adds a participant; a known identity replaces its older session.
    ///
    /// Events: `participant.left` (duplicate identity only), `participant.joined`, `layout.changed` when a tile
    /// changes.
    mutating func join(_ request: JoinRequest, at now: Double) throws(StageError) -> Participant {
        guard status == .inProgress else { throw .roomNotFound }
        try request.validate()
        let older = index(ofIdentity: request.identity)
        let mode = older.map { participants[$0].mode }
        try admit(request.mode, inPlaceOf: mode, anonymousViewers: request.anonymousViewers)
        try useInvitation(of: request, at: now)

        var request = request
        request.callSettings = request.callSettings.filled(from: settings.callSettings)
        var participant = Participant(request, at: now)
        if let older {
            // The audio mix settings belong to the person, not to one connection.
            participant.sound = participants[older].sound
            let keepsPlace = participants[older].isHost && participant.isHost
            let gone = removeParticipant(
                at: older,
                reason: .duplicateIdentity,
                successor: keepsPlace ? participant.sid : nil,
                now: now
            )
            if gone.mode == .receiveOnly || participant.mode == .receiveOnly { viewershipThrottle.changed() }
        } else if participant.mode == .receiveOnly {
            viewershipThrottle.changed()
        }
        insert(participant)
        arrangeLayout()
        emit(.participantJoined(view(of: participant)), at: now)
        announceLayout(at: now)
        return participant
    }

    /// Removes a participant.
    ///
    /// Events: `track.unpublished` for each track, `hand.lowered` for a raised hand, `participant.left`,
    /// `layout.changed` when a tile changes.
    ///
    /// - Parameter actor: The identity of who removes it; nil if it leaves by itself, or for a reason of the room.
    mutating func leave(
        _ reference: String,
        reason: LeaveReason,
        by actor: String? = nil,
        at now: Double
    ) throws(StageError) -> Participant {
        leave(at: try existing(reference), reason: reason, by: actor, now: now)
    }

    mutating func leave(at index: Int, reason: LeaveReason, by actor: String? = nil, now: Double) -> Participant {
        let gone = removeParticipant(at: index, reason: reason, by: actor, successor: nil, now: now)
        if gone.mode == .receiveOnly { viewershipThrottle.changed() }
        announceLayout(at: now)
        return gone
    }

    /// Changes a participant's public data; nil leaves a value unchanged, a blank name becomes the identity.
    ///
    /// Events: `participant.updated`, and `layout.changed` when a tile changes; none when nothing changes.
    ///
    /// - Parameter avatar: The inner nil removes the avatar.
    ///
    /// - Throws: 53106, 53204, or 3073 naming the field.
    mutating func updateParticipant(
        _ reference: String,
        displayName: String?,
        metadata: String?,
        avatar: AssetReference?? = .none,
        at now: Double
    ) throws(StageError) -> Participant {
        let index = try existing(reference)
        try JoinRequest.check(displayName: displayName)
        try JoinRequest.check(metadata: metadata)
        let old = participants[index]
        let name =
            displayName.map { JoinRequest.effectiveDisplayName($0, identity: old.identity) } ?? old.displayName
        let text = metadata ?? old.metadata
        let image = avatar ?? old.avatar
        guard name != old.displayName || text != old.metadata || image != old.avatar else { return old }
        update(at: index) { participant in
            participant.displayName = name
            participant.metadata = text
            participant.avatar = image
        }
        emit(.participantUpdated(view(of: participants[index])), at: now)
        announceLayout(at: now)
        return participants[index]
    }

    private func admit(
        _ mode: ParticipantMode,
        inPlaceOf older: ParticipantMode?,
        anonymousViewers: Int
    ) throws(StageError) {
        if older == nil, counts.participants >= settings.maximumParticipants { throw .roomFull }
        if mode == .receiveOnly, older != .receiveOnly, let most = settings.maximumAudience {
            // Participants that are not connected yet count as present.
            guard counts.receiveOnly + anonymousViewers < most else { throw .roomFull }
        }
        let otherHosts = counts.hosts - (older == .sendAndReceive ? 1 : 0)
        if mode == .sendAndReceive, otherHosts >= settings.maximumHosts { throw .tooManyHosts }
    }

    private mutating func useInvitation(of request: JoinRequest, at now: Double) throws(StageError) {
        guard let requested = request.invitationSID else { return }
        let permission = invitations.permission(of: request.identity, for: request.mode, sid: requested, at: now)
        guard let permission else { throw .changeModeFailed }
        invitations.use(permission, by: request.identity)
    }

    /// Removes a participant.
    ///
    /// - Parameter successor: The sid of the same person's new session, which gets the tile and the pins and must be
    ///   inserted right after.
    private mutating func removeParticipant(
        at index: Int,
        reason: LeaveReason,
        by actor: String? = nil,
        successor: String?,
        now: Double
    ) -> Participant {
        let sid = participants[index].sid
        unpublishAll(at: index, reason: .left, now: now)
        stopSpeaking(sid, at: now)
        removeHand(of: sid, reason: .left, at: now)
        if let successor {
            pins.replace(sid, with: successor)
            roomLayout.replace(sid, with: successor)
        } else {
            removePins(of: sid, at: now)
        }
        var gone = remove(at: index, now: now)
        gone.gate.open([])
        endedSessions.add(gone.sessionID, reason)
        gone.status = .disconnected
        gone.revision += 1
        var view = view(of: gone)
        view.position = nil
        if reason == .removed { view.removedBy = actor }
        emit(.participantLeft(view, reason), at: now)
        return gone
    }
}

extension Participant {
    /// Creates a joining participant; tracks that the call settings switch off are unpublished from the start.
    fileprivate init(_ request: JoinRequest, at now: Double) {
        self.init(
            sid: StageIdentifier.make("PA"),
            sessionID: StageIdentifier.make("SE"),
            identity: request.identity,
            displayName: request.effectiveDisplayName,
            metadata: request.metadata,
            avatar: request.avatar,
            callSettings: request.callSettings.effective(),
            sources: request.sources,
            mode: request.mode,
            joinedAt: now,
            liveness: Liveness(at: now)
        )
        beginTracks()
    }
}

/// Changes of mode.
extension Room {
    /// Changes a participant's mode.
    ///
    /// Events: `track.unpublished` for each track of a former host, `hand.lowered` for the raised hand of a new host,
    /// `participant.mode_changed`, `viewership.updated` when the audience changes, `layout.changed` when a tile
    /// changes.
    ///
    /// - Parameters:
    ///   - byInvitation: An accepted invitation alone permits the mode, and is used up.
    ///   - sources: The tracks that a new host may publish; nil leaves them unchanged, and permits all for an invited
    ///     one.
    /// - Throws: 53106, 53204, 4010 at the maximum of hosts, 4065 without a valid invitation.
    mutating func changeMode(
        _ reference: String,
        to mode: ParticipantMode,
        byInvitation: Bool = false,
        sources: Set<TrackName>? = nil,
        at now: Double
    ) throws(StageError) -> Participant {
        let index = try existing(reference)
        let (sid, identity, old) = (participants[index].sid, participants[index].identity, participants[index].mode)
        guard old != mode else { return participants[index] }
        if mode == .sendAndReceive, counts.hosts >= settings.maximumHosts { throw .tooManyHosts }
        if byInvitation {
            guard let permission = invitations.permission(of: identity, for: mode, at: now) else {
                throw .changeModeFailed
            }
            invitations.use(permission, by: identity)
        }

        unpublishAll(at: index, reason: .modeChanged, now: now)
        stopSpeaking(sid, at: now)
        removePins(on: sid, at: now)
        if mode == .sendAndReceive { removeHand(of: sid, reason: .onStage, at: now) }
        setMode(mode, at: index)
        update(at: index) { participant in
            participant.modeSince = now
            participant.flows.removeAll()
            if participant.isHost {
                participant.sources = sources ?? (byInvitation ? Set(TrackName.allCases) : participant.sources)
            }
            participant.beginTracks()
            participant.liveness.restart(at: now)
            participant.status = participant.liveness.status(at: now, isHost: participant.isHost)
        }
        arrangeLayout()
        emit(.participantModeChanged(view(of: participants[index]), from: old), at: now)
        if old == .receiveOnly || mode == .receiveOnly {
            // Not throttled: the numbers of hosts and audience change together.
            viewershipThrottle.markSent(at: now)
            announceAudience(at: now)
        }
        announceLayout(at: now)
        return participants[index]
    }
}

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
    /// - Parameter actor: Who does it, if not the host.
    /// - Throws: 53106, 53204, 3066 unless a host, 53300 for an unpublished track.
    mutating func setTrack(
        _ name: TrackName,
        of reference: String,
        isEnabled: Bool,
        by actor: String? = nil,
        at now: Double
    ) throws(StageError) -> Track {
        let index = try publisher(reference)
        guard let track = participants[index].tracks[name] else { throw .trackNotFound }
        if track.isEnabled != isEnabled {
            updateSilently(at: index) { $0.symptoms.switchedOffBy[name] = isEnabled ? nil : actor }
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
            updateSilently(at: index) { $0.symptoms.update(entry, before: $0.sync, at: now) }
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

/// Connection states and timeouts of participants.
extension Room {
    /// Returns the index of a participant after verification of its session id.
    ///
    /// - Throws: 53106; 53204 for an unknown one; 53002 for an ended session; 53205 after a join with the same
    ///   identity; 1002 for a removed participant.
    func index(of reference: String, sessionID: String) throws(StageError) -> Int {
        guard status == .inProgress else { throw .roomGone }
        if let index = index(of: reference), participants[index].sessionID == sessionID { return index }
        if let reason = endedSessions.reason(of: sessionID) { throw reason.answer }
        throw index(of: reference) == nil ? .participantNotFound : .sessionTimedOut
    }

    /// Records a client's heartbeat; a lost participant is connected again.
    ///
    /// - Parameter audioLevel: In dBFS; used until the mixer reports a level.
    mutating func heartbeat(at index: Int, audioLevel: Double? = nil, now: Double) {
        let level = audioLevel.flatMap { $0.isFinite ? min(max($0, -127), 0) : nil }
        updateSilently(at: index) { $0.reportedLevel = level ?? $0.reportedLevel }
        recordSignal(at: index, now: now) { $0.heartbeatReceived(at: now) }
    }

    /// Records the opening of the participant's own event stream.
    mutating func streamOpened(at index: Int, now: Double) {
        recordSignal(at: index, now: now) { $0.streamOpened(at: now) }
    }

    /// Records signalling; the first one causes an event, because its existence is stored.
    private mutating func recordSignal(at index: Int, now: Double, _ apply: (inout Liveness) -> Void) {
        let (isFirst, before) = (!participants[index].liveness.hasSession, revision)
        updateSilently(at: index) { participant in
            apply(&participant.liveness)
            if isFirst { participant.beginSession() }
        }
        updateStatus(at: index, now: now)
        guard isFirst, revision == before else { return }
        update(at: index) { _ in }
        emit(.participantUpdated(view(of: participants[index])), at: now)
    }

    /// Records the closing of one of the participant's own event streams.
    mutating func streamClosed(sid: String, at now: Double) {
        guard status == .inProgress, let index = index(of: sid) else { return }
        updateSilently(at: index) { $0.liveness.streamClosed(at: now) }
        updateStatus(at: index, now: now)
    }

    /// Checks all timeouts of the room; called several times a second.
    ///
    /// Events: those of lost or removed participants, expired invitations and raised hands, silent speakers,
    /// `layout.changed` where hosts rotate, and `viewership.updated` when due.
    ///
    /// - Returns: The removed participants.
    mutating func sweep(at now: Double) -> [Participant] {
        guard status == .inProgress else { return [] }
        let before = revision
        updateWithoutLevels(at: now)
        // A pinned host may take the tile of a speaker that fell silent.
        if revision != before { announceLayout(at: now) }
        rotateTiles(at: now)
        expireInvitations(at: now)
        expireHands(at: now)
        var gone: [Participant] = []
        // In reverse order, so that a removal does not shift unchecked indices.
        for index in participants.indices.reversed() {
            let participant = participants[index]
            if case .gone(let reason) = participant.liveness.state(at: now, isHost: participant.isHost) {
                gone.append(leave(at: index, reason: reason, now: now))
            } else {
                updateStatus(at: index, now: now)
            }
        }
        if viewershipThrottle.shouldSend(at: now) { announceAudience(at: now) }
        return gone
    }

    /// Updates a participant's status from its liveness.
    ///
    /// Events: `participant.updated` for the first signalling, `participant.reconnecting`, `participant.reconnected`.
    mutating func updateStatus(at index: Int, now: Double) {
        let participant = participants[index]
        switch (participant.status, participant.liveness.state(at: now, isHost: participant.isHost)) {
        case (.connecting, .connected):
            update(at: index) { $0.status = .connected }
            if participant.mode == .receiveOnly { viewershipThrottle.changed() }
            emit(.participantUpdated(view(of: participants[index])), at: now)
        case (.reconnecting, .connected):
            update(at: index) { $0.status = .connected }
            emit(.participantReconnected(view(of: participants[index])), at: now)
        case (.connecting, .reconnecting(let error)), (.connected, .reconnecting(let error)):
            update(at: index) { $0.status = .reconnecting }
            emit(.participantReconnecting(view(of: participants[index]), error), at: now)
        default:
            break
        }
    }

    /// Checks that a participant can send commands now.
    ///
    /// - Throws: 53106, 53204, or 3065 while its connection is lost.
    func requireReady(_ reference: String) throws(StageError) {
        let participant = participants[try existing(reference)]
        if participant.status == .reconnecting, participant.liveness.hasSession { throw .reconnecting }
    }
}

extension LeaveReason {
    /// The error for a client that returns with a session that ended for this reason.
    fileprivate var answer: StageError {
        switch self {
        case .duplicateIdentity: .duplicateIdentity
        case .left: .participantNotFound
        case .removed: .participantRemoved
        case .sessionTimeout, .mediaTimeout, .roomEnded: .sessionTimedOut
        }
    }
}
