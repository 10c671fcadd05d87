public import FootlightModel
public import Stage

/// Commands of a participant: they await the gateway, and state changes only after its response.
///
/// All throw 3035 outside a room, 3065 while reconnecting, and the gateway's error. When that reports that the session
/// is over (1002, 53002, 53106, 53205) or refuses the token (20101, 20103, 20104, 20107), the call ends too.
extension BroadcastCall {
    /// Changes the local participant's mode.
    ///
    /// - Throws: 4065 without permission, 4010 for a full stage.
    public func changeMode(_ mode: ParticipantMode) async throws(StageError) {
        let answer = try await command { (client, session) throws(StageError) in
            try await client.changeMode(of: session.participantSID, in: session.roomSID, to: mode)
        }
        ingest = answer.ingest?.rtmp
        apply(answer.participant)
    }

    /// Publishes a track.
    ///
    /// - Throws: 3066 for a participant that is not a host, 53304 for a track that is published already.
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

    /// Unpublishes a track.
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

    /// Removes a pin of the local participant.
    public func unpin(_ participant: String) async throws(StageError) {
        try await command { (client, session) throws(StageError) in
            try await client.unpin(participant, in: session.roomSID)
        }
    }

    /// Invites others to the stage of this room.
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
    /// Whether the error means that the session is over or the token refused, so that a retry cannot succeed.
    var endsSession: Bool { Self.endings.contains(code) }

    private static let endings = Set(
        [
            StageError.sessionTimedOut, .duplicateIdentity, .roomNotFound, .roomCompleted,
            .participantRemoved,
            // Revoked or unreadable, for another audience, expired, signed with a removed key.
            .tokenInvalid, .tokenIssuerInvalid, .tokenExpired, .tokenSignatureInvalid,
        ].map(\.code)
    )
}

/// Raised hands, custom events and reactions.
///
/// All throw 3035 outside a room, 3065 while reconnecting, and the gateway's error.
extension BroadcastCall {
    // MARK: Raised hands

    /// The raised hands in the order in which they were raised; empty outside a room.
    public var hands: [HandResource] { room?.hands ?? [] }

    /// The local participant's raised hand; nil if it is not raised.
    public var raisedHand: HandResource? { hands.first { $0.identity == identity } }

    /// Raises the local participant's hand, to ask to speak.
    ///
    /// When a host accepts, the call joins the stage automatically, as after an accepted invitation.
    ///
    /// - Parameter timeout: Seconds until the hand goes down, 10 to 3600; 300 when nil.
    /// - Throws: 3066 for a host, 429 for too many requests.
    @discardableResult
    public func raiseHand(timeout: Int? = nil) async throws(StageError) -> HandResource {
        try await command { (client, session) throws(StageError) in
            try await client.raiseHand(in: session.roomSID, timeout: timeout)
        }
    }

    /// Lowers the local participant's hand; it may be raised again.
    public func lowerHand() async throws(StageError) {
        try await command { (client, session) throws(StageError) in
            try await client.lowerHand(session.participantSID, in: session.roomSID)
        }
    }

    /// Accepts a raised hand, so that its participant may join the stage; for hosts, and bearers with the right
    /// `participants`.
    ///
    /// - Throws: 20106, 404 for a hand that is down, 4010 for a full stage.
    @discardableResult
    public func acceptHand(_ hand: HandResource) async throws(StageError) -> HandResource {
        try await command { (client, session) throws(StageError) in
            try await client.acceptHand(hand.sid, in: session.roomSID)
        }
    }

    /// Rejects a raised hand; for hosts, and bearers with the right `participants`.
    ///
    /// - Throws: 20106, 404 for a hand that is down.
    @discardableResult
    public func rejectHand(_ hand: HandResource) async throws(StageError) -> HandResource {
        try await command { (client, session) throws(StageError) in
            try await client.rejectHand(hand.sid, in: session.roomSID)
        }
    }

    // MARK: Custom events

    /// Custom events from now on, including the local participant's own, in order; buffers up to 256.
    public var customEvents: AsyncStream<CustomEventResource> { customEventSubject.stream() }

    /// Sends a custom event to every participant of the room.
    ///
    /// - Parameters:
    ///   - type: The event's type, `[A-Za-z0-9._-]{1,64}`.
    ///   - data: The event's data, up to 4 KiB as JSON.
    /// - Throws: 3073 naming the field, 429 for too many events.
    public func sendEvent(type: String, data: [String: AnyJSON] = [:]) async throws(StageError) {
        _ = try await command { (client, session) throws(StageError) in
            try await client.sendEvent(type, data, to: session.roomSID)
        }
    }

    /// Sends a reaction, such as an emoji, to every participant of the room.
    ///
    /// - Throws: 429 for too many events.
    public func sendReaction(_ reaction: String) async throws(StageError) {
        try await sendEvent(type: CustomEvent.reaction, data: CustomEventResource.reactionData(reaction))
    }
}
