public import GatewayModel
public import Stage

/// Rooms as a whole; making and ending them is for operators.
extension BroadcastClient {
    /// Makes a room.
    ///
    /// - Throws: 53113 for a name in use, 53100 to 53102 for one that is none, 53107, 53006 at the gateway's limit.
    public func createRoom(_ body: CreateRoomBody) async throws(StageError) -> RoomResource {
        try await command(.post, ["rooms"], body)
    }

    /// Rooms, the oldest first.
    ///
    /// - Parameters:
    ///   - status: Only those that are so.
    ///   - pageSize: How many, 1 to 100; 50 when nil.
    ///   - pageToken: The `nextPageToken` of the page before.
    public func rooms(
        status: RoomStatus? = nil,
        pageSize: Int? = nil,
        pageToken: String? = nil
    ) async throws(StageError) -> RoomList {
        try await read(
            ["rooms"],
            query: [
                ("status", status?.rawValue), ("page_size", pageSize.map { String($0) }), ("page_token", pageToken),
            ]
        )
    }

    /// A room as it is now.
    ///
    /// - Throws: 53106.
    public func room(_ room: String) async throws(StageError) -> RoomResource {
        try await read(["rooms", room])
    }

    /// Ends a room; everybody in it is told 53118.
    @discardableResult
    public func endRoom(_ room: String) async throws(StageError) -> RoomResource {
        try await command(.post, ["rooms", room], UpdateRoomBody(status: RoomStatus.completed.rawValue))
    }

    /// Lets the audience of a room in backstage see its program.
    @discardableResult
    public func goLive(_ room: String) async throws(StageError) -> RoomResource {
        try await command(.post, ["rooms", room, "go_live"])
    }

    /// Takes a room back to backstage.
    @discardableResult
    public func stopLive(_ room: String) async throws(StageError) -> RoomResource {
        try await command(.post, ["rooms", room, "stop_live"])
    }
}
