/// The stored state of a room.
public struct RoomRecord: Sendable, Equatable, Codable {
    /// `RM` and 32 hexadecimal digits.
    public var sid: String
    /// The operator's settings, the current layout included.
    public var settings: RoomSettings
    /// Whether the room can be joined.
    public var status: RoomStatus
    /// Whether the room is backstage.
    public var isBackstage: Bool
    /// The revision of the latest event.
    public var revision: UInt64
    /// Seconds since 1970.
    public var createdAt: Double
    /// Seconds since 1970.
    public var updatedAt: Double
    /// Seconds since 1970; nil while the room is in progress.
    public var endedAt: Double?
    /// Whether a participant ever joined; nil in older records.
    public var wasJoined: Bool?
    /// Whether the audience ever saw or heard a host; nil in older records.
    public var wasOnAir: Bool?
    /// In join order.
    public var participants: [ParticipantRecord]
    /// The placements of the layout.
    public var places: TilePlacements
    /// Pins for all and for single views.
    var pins: RoomPins
    /// Invitations, the answered ones included.
    var invitations: RoomInvitations
    /// The raised hands; nil in older records.
    var hands: RaisedHands?
    /// The digests of the hosts' keys.
    public var keys: [StreamKeyRecord]
}

extension RoomRecord {
    /// The maximum plausible revision; a higher stored one is corrupt.
    private static let mostRevisions: UInt64 = 1 << 53

    /// Validates that stored numbers are plausible.
    ///
    /// Implausible numbers would overflow. Values that an older version permitted pass, so that an upgrade loses no
    /// room.
    ///
    /// - Throws: 3073 naming the field.
    public func validate() throws(StageError) {
        let program = settings.program
        try StageError.check(program.keyInterval, in: 1...3600, field: "program.key_interval")
        try StageError.check(settings.layout.gridSize, in: 1...1000, field: "layout.grid_size")
        var numbers = [
            program.width, program.height, program.videoBitrate, program.audioBitrate, program.jitterTarget,
            settings.maximumParticipants, settings.maximumHosts, settings.emptyTimeout, settings.unusedTimeout,
            settings.linger ?? 0, settings.maximumAudience ?? 0,
            settings.layout.transition, settings.layout.stripSize ?? 0, settings.sound.jitterTarget ?? 0,
        ]
        for rendition in program.ladder?.renditions ?? [] {
            numbers += [rendition.width, rendition.height, rendition.videoBitrate]
        }
        for settings in participants.map(\.callSettings) {
            numbers += [settings.maximumBitrate, settings.width, settings.height].compactMap(\.self)
        }
        for number in numbers { try StageError.check(number, in: 0...1_000_000_000, field: "settings") }
        guard revision <= Self.mostRevisions, participants.allSatisfy({ $0.revision <= Self.mostRevisions }) else {
            throw .invalidParameter("revision", "must be at most \(Self.mostRevisions)")
        }
        for time in [createdAt, updatedAt, endedAt ?? 0] + participants.map(\.joinedAt) {
            try StageError.check(time, in: -1e11...1e11, field: "created_at")
        }
    }

    /// Returns the sids of rooms in progress that share their name with a newer one in progress.
    ///
    /// Such duplicates arise when the end of the older room could not be stored.
    public static func superseded(in records: [RoomRecord]) -> Set<String> {
        var newest: [String: RoomRecord] = [:]
        var superseded: Set<String> = []
        for record in records where record.status == .inProgress {
            guard let other = newest[record.settings.name] else {
                newest[record.settings.name] = record
                continue
            }
            guard other.sid != record.sid else { continue }
            let isNewer = (record.createdAt, record.updatedAt) > (other.createdAt, other.updatedAt)
            superseded.insert(isNewer ? other.sid : record.sid)
            if isNewer { newest[record.settings.name] = record }
        }
        return superseded
    }
}

/// Stored state, and its restoration.
extension Room {
    /// The increment of the revision at a restart, which exceeds all revisions that were not stored, so that no reader
    /// mistakes a new event for a known one.
    static let revisionLeap: UInt64 = 100_000
    /// The maximum number of revisions between events that store the room; less than the leap.
    static let revisionsUntilStored: UInt64 = 50_000

    /// - Parameter keys: The stored part of the hosts' keys.
    func record(keys: [StreamKeyRecord]) -> RoomRecord {
        RoomRecord(
            sid: sid,
            settings: settings,
            status: status,
            isBackstage: isBackstage,
            revision: revision,
            createdAt: createdAt,
            updatedAt: updatedAt,
            endedAt: endedAt,
            wasJoined: wasJoined,
            wasOnAir: wasOnAir,
            participants: participants.map(\.record),
            places: roomLayout.placements,
            pins: pins,
            invitations: invitations,
            hands: hands.hands.isEmpty ? nil : hands,
            keys: keys
        )
    }

    /// Restores a stored room; its participants are reconnecting.
    ///
    /// Events: `room.created`, with all participants; none for an ended room.
    init(restoring record: RoomRecord, replayedEvents: Int, at now: Double) {
        self.init(record, revision: record.revision + Self.revisionLeap, replayedEvents: replayedEvents)
        guard status == .inProgress else { return }
        for participant in record.participants {
            insert(Participant(participant, at: now))
        }
        restartTimers(at: now)
        roomLayout.restore(record.places)
        markLayoutAnnounced()
        emit(.roomCreated(view), at: now)
    }
}

extension Participant {
    var record: ParticipantRecord {
        ParticipantRecord(
            sid: sid,
            sessionID: sessionID,
            identity: identity,
            displayName: displayName,
            metadata: metadata,
            avatar: avatar,
            sound: sound,
            callSettings: callSettings,
            sources: sources,
            mode: mode,
            hasSession: liveness.hasSession,
            trackPreferences: trackPreferences,
            automaticTracks: automaticTracks,
            joinedAt: joinedAt,
            revision: revision
        )
    }

    fileprivate init(_ record: ParticipantRecord, at now: Double) {
        self.init(
            sid: record.sid,
            sessionID: record.sessionID,
            identity: record.identity,
            displayName: record.displayName,
            metadata: record.metadata,
            avatar: record.avatar,
            sound: record.sound,
            callSettings: record.callSettings,
            sources: record.sources,
            mode: record.mode,
            joinedAt: record.joinedAt,
            liveness: Liveness(at: now)
        )
        revision = record.revision + 1
        status = .reconnecting
        for (name, preference) in record.trackPreferences {
            setPreference(preference, for: name)
            if isHost, case .published(let isEnabled) = preference { set(Track(name: name, isEnabled: isEnabled)) }
        }
        limitAutomaticTracks(to: record.automaticTracks)
        liveness.restored(at: now, hadSession: record.hasSession, isHost: isHost)
        if isHost { liveness.mediaStopped(isMissed: isMediaExpected, since: now, at: now) }
    }
}
