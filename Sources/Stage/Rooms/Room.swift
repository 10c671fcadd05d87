/// One room: who is in it, in which mode, with which tracks, and what is therefore on air.
///
/// Pure rules: every call brings the time along (seconds since 1970, from a clock that never steps back), and what
/// follows from it is read with `takeEvents()`. Nothing here waits, and nothing here is shared.
struct Room: Sendable {
    let sid: String
    let settings: RoomSettings
    private(set) var status: RoomStatus = .inProgress
    /// In join order.
    private(set) var participants: [Participant] = []
    private(set) var places: StagePlaces
    private(set) var counts = RoomCounts()
    private(set) var revision: UInt64 = 0
    private(set) var ring: EventRing
    private let createdAt: Double
    private var updatedAt: Double
    private(set) var endedAt: Double?
    /// When the last participant left; nil while somebody is there or nobody ever was.
    private var emptySince: Double?
    /// The layout last announced, so that only a change is told.
    private var announcedTiles: [Tile] = []
    private var pending: [StageEvent] = []

    init(settings: RoomSettings, replayedEvents: Int, at now: Double) {
        sid = StageIdentifier.make("RM")
        self.settings = settings
        places = StagePlaces(capacity: min(settings.layout.gridSize, GridLayout.maximumTiles))
        ring = EventRing(capacity: replayedEvents)
        createdAt = now
        updatedAt = now
        emit(.roomCreated(view), at: now)
    }

    var view: RoomView {
        RoomView(
            sid: sid,
            settings: settings,
            status: status,
            counts: counts,
            participants: participants.map(view(of:)),
            layout: layout,
            revision: revision,
            createdAt: createdAt,
            updatedAt: updatedAt,
            endedAt: endedAt
        )
    }

    func view(of participant: Participant) -> ParticipantView {
        participant.view(position: places.onAir.firstIndex(of: participant.sid))
    }

    /// The index of a participant by sid or identity.
    func index(of reference: String) -> Int? {
        participants.firstIndex { $0.sid == reference || $0.identity == reference }
    }

    /// What happened since the last call, in order.
    mutating func takeEvents() -> [StageEvent] {
        defer { pending.removeAll() }
        return pending
    }

    mutating func emit(_ payload: StageEvent.Payload, at now: Double) {
        revision += 1
        updatedAt = now
        let event = StageEvent(roomSID: sid, roomName: settings.name, revision: revision, payload: payload, at: now)
        ring.append(event)
        pending.append(event)
    }

    // MARK: The end

    /// Ends the room; everybody is out of it.
    mutating func end(at now: Double) throws(StageError) {
        guard status == .inProgress else { throw .roomCompleted }
        status = .completed
        endedAt = now
        participants.removeAll()
        places.removeAll()
        counts = RoomCounts()
        announcedTiles = []
        emit(.roomEnded(view), at: now)
    }

    /// Whether nobody was here for longer than the settings allow.
    func isAbandoned(at now: Double) -> Bool {
        guard status == .inProgress, participants.isEmpty else { return false }
        if let emptySince { return now - emptySince >= Double(settings.emptyTimeout) }
        return now - createdAt >= Double(settings.unusedTimeout)
    }

    // MARK: Members, kept in step with the counts and the places

    mutating func insert(_ participant: Participant, inPlaceOf old: String? = nil) {
        participants.append(participant)
        count(participant.mode, 1)
        emptySince = nil
        guard participant.isHost else { return }
        if let old {
            places.replace(old, with: participant.sid)
        } else {
            places.add(participant.sid)
        }
    }

    /// Takes a participant out.
    ///
    /// - Parameter keepsPlace: The place stays for a successor, which must be inserted right after.
    mutating func remove(at index: Int, keepsPlace: Bool = false, now: Double) -> Participant {
        let participant = participants.remove(at: index)
        count(participant.mode, -1)
        if participant.isHost, !keepsPlace {
            places.remove(participant.sid)
        }
        if participants.isEmpty {
            emptySince = now
        }
        return participant
    }

    /// Moves a participant between the modes, the counts and the places.
    mutating func setMode(_ mode: ParticipantMode, at index: Int) {
        let old = participants[index]
        count(old.mode, -1)
        count(mode, 1)
        participants[index].mode = mode
        if old.isHost {
            places.remove(old.sid)
        }
        if mode == .sendAndReceive {
            places.add(old.sid)
        }
    }

    /// Changes one participant and its revision.
    mutating func update(at index: Int, _ change: (inout Participant) -> Void) {
        change(&participants[index])
        participants[index].revision += 1
    }

    private mutating func count(_ mode: ParticipantMode, _ change: Int) {
        switch mode {
        case .sendAndReceive: counts.hosts += change
        case .receiveOnly: counts.receiveOnly += change
        case .signallingOnly: counts.signallingOnly += change
        }
    }

    // MARK: The layout

    /// What is on air now.
    var layout: LayoutView {
        LayoutView(
            settings: settings.layout,
            width: settings.program.width,
            height: settings.program.height,
            tiles: tiles
        )
    }

    private var tiles: [Tile] {
        let rectangles = GridLayout.rectangles(
            count: places.onAir.count,
            width: settings.program.width,
            height: settings.program.height
        )
        return zip(places.onAir, rectangles).enumerated().compactMap { position, place in
            guard let host = participants.first(where: { $0.sid == place.0 }) else { return nil }
            return Tile(
                position: position,
                participantSID: host.sid,
                source: host.tileSource,
                rectangle: place.1,
                scaleMode: host.tileSource == .screen ? .fit : .fill,
                label: host.displayName,
                isMicOn: host.isMicOn
            )
        }
    }

    /// Tells of the layout when it is not the one told last.
    mutating func announceLayout(at now: Double) {
        let layout = layout
        guard layout.tiles != announcedTiles else { return }
        announcedTiles = layout.tiles
        emit(.layoutChanged(layout), at: now)
    }
}
