import Synchronization

/// Hosts' media: the calls of ingest, from its event loops.
extension RoomDirectory {
    /// Validates a stream key, with or without the suffix for the screen.
    ///
    /// Computes two SHA-256 of some 80 bytes; a wrong secret takes as long as an unknown key.
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

    /// Registers a connection that starts to publish; the newer of two with the same key wins.
    ///
    /// - Parameter connection: A number that is unique in this process.
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

    /// Updates what a publishing connection carries; without audio and video it is silent.
    ///
    /// Called at once when media starts, and after three seconds without it when it stops. Arriving media counts,
    /// whether or not the grant's gate passes it.
    ///
    /// A call for an older connection than the newest has no effect.
    public func publishChanged(_ grant: PublishGrant, connection: UInt64, media: PublishedMedia) {
        defer { deliver() }
        state.withLock { state in
            let now = clock.now
            // A room that was evicted has no state to change.
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

    /// Publishes the refusal of a host's encoder to the room's readers.
    ///
    /// Repeated refusals are published every few seconds.
    public func publishRefused(_ grant: PublishGrant, because error: StageError) {
        defer { deliver() }
        state.withLock { state in
            let now = clock.now
            // A room that was evicted has no readers.
            _ = try? state.change(grant.roomSID) { $0.publishRefused(by: grant.participantSID, error, at: now) }
        }
    }

    /// Unregisters a publishing connection; the host keeps its tile.
    ///
    /// A call for an older connection than the newest has no effect.
    ///
    /// - Parameter isLost: The connection broke; false when its encoder disconnected cleanly.
    public func publishEnded(_ grant: PublishGrant, connection: UInt64, isLost: Bool = true) {
        defer { deliver() }
        state.withLock { state in
            let now = clock.now
            // A room that was evicted has no state to change.
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
