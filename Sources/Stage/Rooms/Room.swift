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
            revision: revision
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

    /// The hosts as input of the layout, in join order.
    var layoutHosts: [LayoutHost] {
        participants.filter(\.isHost).map { host in
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
