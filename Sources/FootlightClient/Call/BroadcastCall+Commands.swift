public import GatewayModel
public import Stage

/// Commands of somebody in the room: they wait for the gateway, and only then anything changes.
///
/// All throw 3035 outside of a room and 3065 while reconnecting, and whatever the gateway says. When it says that the
/// session is over (1002, 53002, 53106, 53205), or refuses the token (20101, 20103, 20104, 20107), so is the call.
extension BroadcastCall {
    /// Changes one's own mode.
    ///
    /// - Throws: 4065 without permission, 4010 for a full stage.
    public func changeMode(_ mode: ParticipantMode) async throws(StageError) {
        let answer = try await command { (client, session) throws(StageError) in
            try await client.changeMode(of: session.participantSID, in: session.roomSID, to: mode)
        }
        ingest = answer.ingest?.rtmp
        take(answer.participant)
    }

    /// Publishes a track.
    ///
    /// - Throws: 3066 for somebody who is no host, 53304 for a track that is published already.
    @discardableResult
    public func publish(_ track: TrackName, isEnabled: Bool = true) async throws(StageError) -> TrackResource {
        try await command { (client, session) throws(StageError) in
            try await client.publish(track, of: session.participantSID, in: session.roomSID, isEnabled: isEnabled)
        }
    }

    /// Disables a published track, or enables it again.
    @discardableResult
    public func setEnabled(_ track: TrackName, _ isEnabled: Bool) async throws(StageError) -> TrackResource {
        try await command { (client, session) throws(StageError) in
            try await client.setEnabled(track, isEnabled, of: session.participantSID, in: session.roomSID)
        }
    }

    /// Takes a track off the air.
    public func unpublish(_ track: TrackName) async throws(StageError) {
        try await command { (client, session) throws(StageError) in
            try await client.unpublish(track, of: session.participantSID, in: session.roomSID)
        }
    }

    /// Pins a host, by sid or identity.
    @discardableResult
    public func pin(
        _ participant: String,
        _ type: PinType = .screenAndCamera
    ) async throws(StageError) -> PinResource {
        try await command { (client, session) throws(StageError) in
            try await client.pin(participant, in: session.roomSID, type)
        }
    }

    /// Takes one's pin back.
    public func unpin(_ participant: String) async throws(StageError) {
        try await command { (client, session) throws(StageError) in
            try await client.unpin(participant, in: session.roomSID)
        }
    }

    /// Calls others on this room's stage.
    @discardableResult
    public func invite(_ body: CreateInvitationBody) async throws(StageError) -> InvitationResource {
        try await command { (client, session) throws(StageError) in
            try await client.invite(to: session.roomSID, body)
        }
    }

    func command<Value: Sendable>(
        _ body: (BroadcastClient, CallSession) async throws(StageError) -> Value
    ) async throws(StageError) -> Value {
        guard let session else { throw .notJoined }
        if case .reconnecting = status.phase { throw .reconnecting }
        do {
            return try await body(client, session)
        } catch {
            if error.endsSession { sessionEnded(session, error) }
            throw error
        }
    }
}

extension StageError {
    /// Whether the gateway says that the session is over, or refuses the token, which no try changes.
    var endsSession: Bool { Self.endings.contains(code) }

    private static let endings = Set(
        [
            StageError.sessionTimedOut, .duplicateIdentity, .roomNotFound, .roomCompleted,
            .participantRemoved,
            // Revoked or unreadable, for others, expired, signed with a key that is gone.
            .tokenInvalid, .tokenIssuerInvalid, .tokenExpired, .tokenSignatureInvalid,
        ].map(\.code)
    )
}
