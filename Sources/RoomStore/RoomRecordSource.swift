public import Stage

/// Who knows how the rooms are now.
public protocol RoomRecordSource: Sendable {
    /// A room by sid as it is now; nil when it is forgotten.
    func record(of room: String) -> RoomRecord?

    /// The sids of all rooms, the ended ones that are remembered included.
    func recordedRooms() -> [String]
}

extension RoomDirectory: RoomRecordSource {
    /// The sids of all rooms, the ended ones that are remembered included.
    public func recordedRooms() -> [String] {
        rooms().map(\.sid)
    }
}
