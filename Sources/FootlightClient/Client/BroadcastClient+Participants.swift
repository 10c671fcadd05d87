public import FootlightModel
public import Stage

/// The participants of a room.
extension BroadcastClient {
    /// Joins a room; ``BroadcastCall`` does this and manages the session.
    ///
    /// A new participant must open its event stream or send a heartbeat within 15 s.
    ///
    /// - Throws: 53105 for a full room, 4010 for a full stage, 53106, 20106, 53006, 53200 to 53202.
    public func join(_ room: String, _ body: JoinBody) async throws(StageError) -> JoinAnswer {
        try await command(.post, ["rooms", room, "participants"], body)
    }

    /// Returns participants in join order.
    ///
    /// - Parameters:
    ///   - mode: Restricts the list to a mode.
    ///   - status: Restricts the list to a status.
    ///   - pageSize: The number of entries, 1 to 100; 50 when nil.
    ///   - pageToken: The `nextPageToken` of the previous page.
    public func participants(
        of room: String,
        mode: ParticipantMode? = nil,
        status: ParticipantStatus? = nil,
        pageSize: Int? = nil,
        pageToken: String? = nil
    ) async throws(StageError) -> ParticipantList {
        try await read(
            ["rooms", room, "participants"],
            query: [
                ("mode", mode?.rawValue), ("status", status?.rawValue),
                ("page_size", pageSize.map { String($0) }), ("page_token", pageToken),
            ]
        )
    }

    /// Returns one participant.
    ///
    /// - Throws: 53204, 53106.
    public func participant(_ participant: String, in room: String) async throws(StageError) -> ParticipantResource {
        try await read(["rooms", room, "participants", participant])
    }

    /// Changes the display name, metadata or avatar of a participant.
    @discardableResult
    public func update(
        _ participant: String,
        in room: String,
        _ body: UpdateParticipantBody
    ) async throws(StageError) -> ParticipantResource {
        try await command(.patch, ["rooms", room, "participants", participant], body)
    }

    /// Leaves a room.
    ///
    /// - Throws: 53204 or 3035 for a participant that is not in the room, 53106.
    public func leave(_ participant: String, in room: String) async throws(StageError) {
        try await perform(.delete, ["rooms", room, "participants", participant])
    }

    /// Removes another participant from a room.
    ///
    /// - Throws: 20106 without the right.
    public func remove(_ participant: String, from room: String) async throws(StageError) {
        try await perform(.delete, ["rooms", room, "participants", participant], query: [("reason", "removed")])
    }

    /// Changes a participant's mode: the bearer's own, or with the right over participants another host's to a lower
    /// one.
    ///
    /// - Returns: The participant, and the ingest of a new host.
    /// - Throws: 4065 without permission, 4010 for a full stage, 3065 while reconnecting.
    @discardableResult
    public func changeMode(
        of participant: String,
        in room: String,
        to mode: ParticipantMode
    ) async throws(StageError) -> ModeAnswer {
        try await command(.post, ["rooms", room, "participants", participant, "mode"], ModeBody(mode: .known(mode)))
    }

    /// Sends a heartbeat of a participant.
    ///
    /// - Parameter audioLevel: The microphone level in dBFS, -127 to 0; nil if it is not measured.
    /// - Throws: 53002 for an expired session, 53205 for a session whose identity joined again elsewhere, 1002 for a
    ///   removed participant, 53106.
    public func heartbeat(
        _ participant: String,
        in room: String,
        sessionID: String,
        audioLevel: Double? = nil
    ) async throws(StageError) {
        try await perform(
            .post,
            ["rooms", room, "participants", participant, "heartbeat"],
            HeartbeatBody(sessionID: sessionID, audioLevel: audioLevel)
        )
    }

    /// Resumes a session after a connection loss.
    ///
    /// - Returns: As for a join, without stream keys.
    /// - Throws: 53002 for an expired session, 53205 for a session whose identity joined again elsewhere, 1002 for a
    ///   removed participant, 53106.
    public func reconnect(
        _ participant: String,
        in room: String,
        sessionID: String,
        lastEventID: UInt64? = nil
    ) async throws(StageError) -> JoinAnswer {
        try await command(
            .post,
            ["rooms", room, "participants", participant, "reconnect"],
            ReconnectBody(sessionID: sessionID, lastEventID: lastEventID.map { EventID($0) })
        )
    }
}

/// Tracks and pins.
extension BroadcastClient {
    /// Publishes a track of a host.
    ///
    /// - Throws: 3066 for a participant that is not a host, 53304 for a track that is published already, 20106, 3065.
    @discardableResult
    public func publish(
        _ track: TrackName,
        of participant: String,
        in room: String,
        isEnabled: Bool = true
    ) async throws(StageError) -> TrackResource {
        try await command(
            .put,
            path(track, participant, room),
            PublishTrackBody(kind: .known(track.kind), enabled: isEnabled)
        )
    }

    /// Disables a published track, or enables it again; it stays published and keeps its position.
    ///
    /// - Throws: 3066, 20106, 3065, and 404 for a track that is not published.
    @discardableResult
    public func setEnabled(
        _ track: TrackName,
        _ isEnabled: Bool,
        of participant: String,
        in room: String
    ) async throws(StageError) -> TrackResource {
        try await command(.patch, path(track, participant, room), UpdateTrackBody(enabled: isEnabled))
    }

    /// Unpublishes a track.
    public func unpublish(_ track: TrackName, of participant: String, in room: String) async throws(StageError) {
        try await perform(.delete, path(track, participant, room))
    }

    /// Pins a host: for all viewers with the right over participants, otherwise for the bearer's own view.
    ///
    /// - Throws: 3066 for a participant that is not a host.
    @discardableResult
    public func pin(
        _ participant: String,
        in room: String,
        _ type: PinType = .screenAndCamera
    ) async throws(StageError) -> PinResource {
        try await command(
            .put,
            ["rooms", room, "participants", participant, "pin"],
            PinBody(pinType: .known(type))
        )
    }

    /// Removes the bearer's pin.
    public func unpin(_ participant: String, in room: String) async throws(StageError) {
        try await perform(.delete, ["rooms", room, "participants", participant, "pin"])
    }

    private func path(_ track: TrackName, _ participant: String, _ room: String) -> [String] {
        ["rooms", room, "participants", participant, "tracks", track.rawValue]
    }
}

/// Raised hands.
extension BroadcastClient {
    /// Raises the bearer's own hand; returns the existing one if it is raised already.
    ///
    /// - Parameter timeout: The time in seconds it stays raised, 10 to 3600; 300 when nil.
    /// - Throws: 3066 for a host, 3035 for a bearer that has not joined, 3065, 3073, 429, 53106.
    @discardableResult
    public func raiseHand(in room: String, timeout: Int? = nil) async throws(StageError) -> HandResource {
        try await command(.post, ["rooms", room, "hands"], RaiseHandBody(timeout: timeout))
    }

    /// Returns the raised hands in the order in which they were raised.
    ///
    /// - Parameters:
    ///   - pageSize: The number of entries, 1 to 100; 50 when nil.
    ///   - pageToken: The `nextPageToken` of the previous page.
    public func hands(
        in room: String,
        pageSize: Int? = nil,
        pageToken: String? = nil
    ) async throws(StageError) -> HandList {
        try await read(
            ["rooms", room, "hands"],
            query: [("page_size", pageSize.map { String($0) }), ("page_token", pageToken)]
        )
    }

    /// Lowers a hand; the bearer's own may be lowered already.
    ///
    /// - Parameter hand: The hand's sid, or its participant's sid or identity.
    /// - Throws: 20106 for another participant's hand without the right to, 404 if it is not raised, 53106.
    public func lowerHand(_ hand: String, in room: String) async throws(StageError) {
        try await perform(.delete, ["rooms", room, "hands", hand])
    }

    /// Accepts a raised hand: its participant may change its mode to host within two minutes.
    ///
    /// - Parameter hand: The hand's sid, or its participant's sid or identity.
    /// - Throws: 20106 for a bearer that is neither a host nor has the right `participants`, 404 if it is not raised,
    ///   4010 for a full stage, 53106.
    @discardableResult
    public func acceptHand(_ hand: String, in room: String) async throws(StageError) -> HandResource {
        try await command(.post, ["rooms", room, "hands", hand, "accept"])
    }

    /// Rejects a raised hand; its participant may raise it again.
    ///
    /// - Parameter hand: The hand's sid, or its participant's sid or identity.
    /// - Throws: As ``acceptHand(_:in:)``, except 4010.
    @discardableResult
    public func rejectHand(_ hand: String, in room: String) async throws(StageError) -> HandResource {
        try await command(.post, ["rooms", room, "hands", hand, "reject"])
    }
}

/// Invitations to a room or its stage.
extension BroadcastClient {
    /// Creates an invitation, which rings until it is answered, expires or is cancelled.
    public func invite(to room: String, _ body: CreateInvitationBody) async throws(StageError) -> InvitationResource {
        try await command(.post, ["rooms", room, "invitations"], body)
    }

    /// Returns an invitation, for its inviter and invitees.
    public func invitation(_ sid: String) async throws(StageError) -> InvitationResource {
        try await read(["invitations", sid])
    }

    /// Accepts an invitation; the next step is to join with it, or to change the mode.
    ///
    /// - Throws: 409 if it is closed, 410 if it has expired.
    @discardableResult
    public func acceptInvitation(_ sid: String) async throws(StageError) -> InvitationResource {
        try await command(.post, ["invitations", sid, "accept"])
    }

    /// Rejects an invitation.
    @discardableResult
    public func rejectInvitation(_ sid: String) async throws(StageError) -> InvitationResource {
        try await command(.post, ["invitations", sid, "reject"])
    }

    /// Cancels an invitation of the bearer.
    @discardableResult
    public func cancelInvitation(_ sid: String) async throws(StageError) -> InvitationResource {
        try await command(.post, ["invitations", sid, "cancel"])
    }
}
