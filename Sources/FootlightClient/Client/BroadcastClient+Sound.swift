public import GatewayModel
public import Stage

/// How hosts are mixed; needs the right `streaming` to be changed.
extension BroadcastClient {
    /// The sound of a room.
    public func sound(of room: String) async throws(StageError) -> RoomSoundResource {
        try await read(["rooms", room, "sound"])
    }

    /// Changes the sound of a room on air; what is not named stays.
    ///
    /// - Throws: 3073 naming the field, 20106 without the right to.
    @discardableResult
    public func setSound(of room: String, _ body: RoomSoundBody) async throws(StageError) -> RoomSoundResource {
        try await command(.put, ["rooms", room, "sound"], body)
    }

    /// Changes how one participant is mixed; what is not named stays.
    ///
    /// - Throws: 3073 naming the field, 20106 without the right to, 53204.
    @discardableResult
    public func setSound(
        of participant: String,
        in room: String,
        _ body: ParticipantSoundBody
    ) async throws(StageError) -> ParticipantResource {
        try await command(.put, ["rooms", room, "participants", participant, "sound"], body)
    }
}
