/// One room: who is in it, in which mode, with which tracks, and what is therefore on air.
///
/// Pure rules: every call brings the time along (seconds since 1970, from a clock that never steps back), and what
/// follows from it is read with `takeEvents()`. Nothing here waits, and nothing here is shared.
struct Room: Sendable {
    let sid: String
    var settings: RoomSettings
    private(set) var status: RoomStatus = .inProgress
    /// The hosts prepare, and the audience does not see them.
    var isBackstage: Bool
    /// In join order.
    private(set) var participants: [Participant] = []
    /// The index of each participant by sid, and by identity.
    private var directory = ParticipantIndex()
    private(set) var counts = RoomCounts()
    private(set) var revision: UInt64
    private(set) var ring: EventRing
    /// Who left of late and why, by session; who comes back with such a session is told.
    var departed = DepartedSessions()
    var viewershipPacing = ViewershipPacing()
    let createdAt: Double
    private(set) var updatedAt: Double
    private(set) var endedAt: Double?
    /// The audience saw or heard a host at least once.
    var wasOnAir = false
    /// Somebody ever joined.
    private(set) var wasJoined = false
    /// Since when the room waits for its first participant.
    private var unusedSince: Double
    /// When the last participant left; nil while somebody is there or nobody ever was.
    private var emptySince: Double?
    private var pending: [StageEvent] = []

    // The state of each feature; its rules are in an extension of its own.
    var roomLayout = RoomLayout()
    var load: MixerLoad?
    var loadReportedAt: Double?
    var frames: MixerFrames?
    var speakers = DominantSpeaker()
    var pins = PinBoard()
    var invitations = InvitationBook()
    var hands = RaisedHands()
    var senders = SenderLimits()

    /// A new room.
    init(settings: RoomSettings, replayedEvents: Int, at now: Double) {
        sid = StageIdentifier.make("RM")
        self.settings = settings
        isBackstage = settings.backstage
        revision = 0
        ring = EventRing(capacity: replayedEvents)
        createdAt = now
        unusedSince = now
        updatedAt = now
        announceLayoutQuietly()
        emit(.roomCreated(view), at: now)
    }

    /// A room that was stored, as it was but for who is in it.
    init(_ record: RoomRecord, revision: UInt64, replayedEvents: Int) {
        sid = record.sid
        settings = record.settings
        isBackstage = record.isBackstage
        status = record.status
        self.revision = revision
        ring = EventRing(capacity: replayedEvents)
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

    /// The index of a participant of a room in progress.
    ///
    /// - Throws: 53106 or 53204.
    func existing(_ reference: String) throws(StageError) -> Int {
        guard status == .inProgress else { throw .roomNotFound }
        guard let index = index(of: reference) else { throw .participantNotFound }
        return index
    }

    // MARK: Events

    /// What happened since the last call, in order.
    mutating func takeEvents() -> [StageEvent] {
        defer { pending.removeAll() }
        return pending
    }

    @discardableResult
    mutating func emit(_ payload: StageEvent.Payload, at now: Double) -> StageEvent {
        revision += 1
        updatedAt = now
        let event = StageEvent(roomSID: sid, roomName: settings.name, revision: revision, payload: payload, at: now)
        ring.append(event)
        pending.append(event)
        // Most that happens is not stored; that the revision has come far is told by an event that is.
        if revision % Self.revisionsUntilStored == 0, status == .inProgress { emit(.roomUpdated(view), at: now) }
        return event
    }

    /// Something for readers that is not a change: it carries the latest revision.
    func event(_ payload: StageEvent.Payload, at now: Double) -> StageEvent {
        StageEvent(roomSID: sid, roomName: settings.name, revision: revision, payload: payload, at: now)
    }

    // MARK: The end

    /// Ends the room; everybody is out of it.
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
        speakers = DominantSpeaker()
        pins = PinBoard()
        hands = RaisedHands()
        departed = DepartedSessions()
        emit(.roomEnded(view), at: now)
    }

    /// The program of the room, which has ended before, is over too: its linger time has passed.
    ///
    /// Events: `room.updated`, for those in the process; of the readers none is left.
    mutating func endProgram(at now: Double) {
        guard status == .completed else { return }
        emit(.roomUpdated(view), at: now)
    }

    /// Whether nobody was here for longer than the settings allow.
    func isAbandoned(at now: Double) -> Bool {
        guard status == .inProgress, participants.isEmpty else { return false }
        if let emptySince { return now - emptySince >= Double(settings.emptyTimeout) }
        return now - unusedSince >= Double(settings.unusedTimeout)
    }

    // MARK: Members, kept in step with the counts

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

    /// Moves a participant between the modes and the counts.
    mutating func setMode(_ mode: ParticipantMode, at index: Int) {
        counts[participants[index].mode] -= 1
        counts[mode] += 1
        participants[index].mode = mode
    }

    /// Changes one participant and its revision.
    mutating func update(at index: Int, _ change: (inout Participant) -> Void) {
        change(&participants[index])
        participants[index].revision += 1
    }

    /// Changes what nobody sees of a participant.
    mutating func note(at index: Int, _ change: (inout Participant) -> Void) {
        change(&participants[index])
    }

    /// After a restart the time until the room counts as abandoned begins anew.
    mutating func beginAnew(at now: Double) {
        unusedSince = now
        if participants.isEmpty, wasJoined { emptySince = now }
    }
}
