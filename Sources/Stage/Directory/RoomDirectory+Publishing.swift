import Synchronization

/// Hosts' media: what ingest asks and tells, from its event loops.
extension RoomDirectory {
    /// Checks a presented stream key, with or without the suffix for the screen.
    ///
    /// Costs two SHA-256 of some 80 bytes; a wrong secret takes as long as an unknown key.
    public func authorizePublish(streamKey: String) -> Result<PublishGrant, PublishRefusal> {
        let isScreen = streamKey.hasSuffix(StreamKey.screenSuffix)
        let bare = isScreen ? String(streamKey.dropLast(StreamKey.screenSuffix.count)) : streamKey
        guard let key = StreamKey(bare) else { return .failure(.unknownKey) }
        return state.withLock { state in
            guard let owner = state.keyring.owner(of: key), let room = state.rooms[owner.roomSID] else {
                return .failure(.unknownKey)
            }
            if let refusal = room.refusal(ofPublisher: owner.participantSID, at: clock.now) { return .failure(refusal) }
            guard let index = room.index(of: owner.participantSID) else { return .failure(.unknownKey) }
            return .success(
                PublishGrant(
                    roomSID: room.sid,
                    room: room.settings.name,
                    participantSID: owner.participantSID,
                    identity: room.participants[index].identity,
                    source: isScreen ? .screen : .camera,
                    gate: room.participants[index].gate,
                    limits: PublishLimits(room.participants[index].callSettings)
                )
            )
        }
    }

    /// A connection begins to publish; of two with the same key the newer one wins.
    ///
    /// - Parameter connection: A number that no other connection of this process has or had.
    @discardableResult
    public func publishBegan(_ grant: PublishGrant, connection: UInt64) -> PublishAdmission {
        defer { deliver() }
        return state.withLock { state in
            let now = clock.now
            let admission = try? state.change(grant.roomSID) { room in
                room.publishBegan(grant.source, by: grant.participantSID, connection: connection, at: now)
            }
            return admission ?? .refused(.roomEnded)
        }
    }

    /// A publishing connection carries something else than before; with neither sound nor pictures it is silent.
    ///
    /// To be told at once when media begins, and after three seconds without it when it stops. What arrives counts, whether
    /// or not the grant's gate lets it pass.
    ///
    /// Told by an older connection than the newest, it changes nothing.
    public func publishChanged(_ grant: PublishGrant, connection: UInt64, media: PublishedMedia) {
        defer { deliver() }
        state.withLock { state in
            let now = clock.now
            // A room that is forgotten has nothing to change.
            _ = try? state.change(grant.roomSID) { room in
                room.publishChanged(
                    grant.source,
                    by: grant.participantSID,
                    connection: connection,
                    media: media,
                    at: now
                )
            }
        }
    }

    /// What a host's encoder wanted to publish, or publishes, is refused; those who follow the room are told why.
    ///
    /// An encoder that tries again and again is told of every few seconds.
    public func publishRefused(_ grant: PublishGrant, because error: StageError) {
        defer { deliver() }
        state.withLock { state in
            let now = clock.now
            // A room that is forgotten has nobody to tell.
            _ = try? state.change(grant.roomSID) { $0.publishRefused(by: grant.participantSID, error, at: now) }
        }
    }

    /// A publishing connection is gone; the host keeps the place.
    ///
    /// Told by an older connection than the newest, it changes nothing.
    ///
    /// - Parameter isLost: The connection broke; false when its encoder took leave.
    public func publishEnded(_ grant: PublishGrant, connection: UInt64, isLost: Bool = true) {
        defer { deliver() }
        state.withLock { state in
            let now = clock.now
            // A room that is forgotten has nothing to change.
            _ = try? state.change(grant.roomSID) { room in
                room.publishEnded(
                    grant.source,
                    by: grant.participantSID,
                    connection: connection,
                    isLost: isLost,
                    at: now
                )
            }
        }
    }
}
