/// All rooms that are on, and their sum.
public struct ViewershipTotals: Sendable, Equatable {
    /// Rooms that had a viewer and have not ended, the fullest first.
    public var rooms: [RoomViewership]
    /// The sum over `rooms`; a viewer of two rooms is two in it.
    ///
    /// Its peak is the most that watched at once over all rooms since the start, or since the first broadcast began that
    /// an earlier run left to this one.
    public var total: RoomViewership

    /// Rooms and a sum that was taken in the same moment.
    public init(rooms: [RoomViewership], total: RoomViewership) {
        self.rooms = rooms
        self.total = total
    }
}
