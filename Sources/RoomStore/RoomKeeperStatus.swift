/// How the keeping of rooms goes.
public struct RoomKeeperStatus: Sendable, Hashable {
    /// Rooms that changed since they were written last.
    public var waitingRooms: Int
    /// Transactions that went to disk.
    public var writes: UInt64
    /// Tries that failed.
    public var failures: UInt64
    /// Tries that failed since the last one that did not; 0 while all is well.
    public var failuresInARow: Int
    /// Databases that were put aside because they could not be read.
    public var damagedDatabases: Int
}
