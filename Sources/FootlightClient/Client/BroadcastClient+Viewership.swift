public import GatewayModel
public import Stage

/// How many watch.
extension BroadcastClient {
    /// The viewing figures of a room.
    ///
    /// - Throws: 20106 without the right `streaming`.
    public func viewership(of room: String) async throws(StageError) -> ViewershipResource {
        try await read(["rooms", room, "viewership"])
    }

    /// The viewing figures of all rooms, and their sum; for operators and monitors.
    public func viewership() async throws(StageError) -> ViewershipTotalsResource {
        try await read(["viewership"])
    }
}
