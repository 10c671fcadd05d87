/// What outlives the process, and coming back from it.
extension Room {
    /// A restart goes on with a revision this much higher: what was not stored any more is passed for certain, and no
    /// reader takes a new event for one it knows.
    static let revisionLeap: UInt64 = 100_000
    /// After so many revisions at the latest an event comes with which the room is stored; less than the leap.
    static let revisionsUntilStored: UInt64 = 50_000

    /// - Parameter keys: What is stored of the hosts' keys.
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
            places: roomLayout.places,
            pins: pins,
            invitations: invitations,
            hands: hands.hands.isEmpty ? nil : hands,
            keys: keys
        )
    }

    /// A stored room, with everybody who was in it lost until they come back.
    ///
    /// Events: `room.created`, with everybody in it; none for a room that has ended.
    init(restoring record: RoomRecord, replayedEvents: Int, at now: Double) {
        self.init(record, revision: record.revision + Self.revisionLeap, replayedEvents: replayedEvents)
        guard status == .inProgress else { return }
        for participant in record.participants {
            insert(Participant(participant, at: now))
        }
        beginAnew(at: now)
        roomLayout.restore(record.places)
        announceLayoutQuietly()
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
            wishes: wishes,
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
        for (name, wish) in record.wishes {
            setWish(wish, for: name)
            if isHost, case .wanted(let isEnabled) = wish { set(Track(name: name, isEnabled: isEnabled)) }
        }
        limitAutomaticTracks(to: record.automaticTracks)
        liveness.restored(at: now, hadSession: record.hasSession, isHost: isHost)
        if isHost { liveness.mediaStopped(isMissed: isMediaExpected, since: now, at: now) }
    }
}
