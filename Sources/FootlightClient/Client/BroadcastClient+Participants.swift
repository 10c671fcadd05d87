public import GatewayModel
public import Stage

/// Who is in a room.
extension BroadcastClient {
    /// Joins a room; ``BroadcastCall`` does so with all that belongs to it.
    ///
    /// Somebody who joins shows that it is there within 15 s, by its event stream or a heartbeat.
    ///
    /// - Throws: 53105 for a full room, 4010 for a full stage, 53106, 20106, 53006, 53200 to 53202.
    public func join(_ room: String, _ body: JoinBody) async throws(StageError) -> JoinAnswer {
        try await command(.post, ["rooms", room, "participants"], body)
    }

    /// Participants in join order.
    ///
    /// - Parameters:
    ///   - mode: Only those in this mode.
    ///   - status: Only those that are so.
    ///   - pageSize: How many, 1 to 100; 50 when nil.
    ///   - pageToken: The `nextPageToken` of the page before.
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

    /// One participant.
    ///
    /// - Throws: 53204, 53106.
    public func participant(_ participant: String, in room: String) async throws(StageError) -> ParticipantResource {
        try await read(["rooms", room, "participants", participant])
    }

    /// Changes what is shown of a participant.
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
    /// - Throws: 53204 or 3035 for somebody who is not there, 53106.
    public func leave(_ participant: String, in room: String) async throws(StageError) {
        try await order(.delete, ["rooms", room, "participants", participant])
    }

    /// Takes somebody else out of a room.
    ///
    /// - Throws: 20106 without the right to.
    public func remove(_ participant: String, from room: String) async throws(StageError) {
        try await order(.delete, ["rooms", room, "participants", participant], query: [("reason", "removed")])
    }

    /// Changes a participant's mode: one's own, or with the right to somebody else's down from the stage.
    ///
    /// - Returns: The participant, and for a new host where to publish.
    /// - Throws: 4065 without permission, 4010 for a full stage, 3065 while reconnecting.
    @discardableResult
    public func changeMode(
        of participant: String,
        in room: String,
        to mode: ParticipantMode
    ) async throws(StageError) -> ModeAnswer {
        try await command(.post, ["rooms", room, "participants", participant, "mode"], ModeBody(mode: mode.rawValue))
    }

    /// Says that a participant is there.
    ///
    /// - Parameter audioLevel: The microphone in dBFS, -127 to 0; nil where it is not measured.
    /// - Throws: 53002 for a session that is over, 53205 for one whose identity somebody took, 1002 for one that was
    ///   taken out, 53106.
    public func heartbeat(
        _ participant: String,
        in room: String,
        sessionID: String,
        audioLevel: Double? = nil
    ) async throws(StageError) {
        try await order(
            .post,
            ["rooms", room, "participants", participant, "heartbeat"],
            HeartbeatBody(sessionID: sessionID, audioLevel: audioLevel)
        )
    }

    /// Takes up a session again after a loss.
    ///
    /// - Returns: As for a join, without keys.
    /// - Throws: 53002 for a session that is over, 53205 for one whose identity somebody took, 1002 for one that was
    ///   taken out, 53106.
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
