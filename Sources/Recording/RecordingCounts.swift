/// What recordings have come to.
public struct RecordingCounts: Sendable, Equatable {
    /// Rooms that are being recorded now.
    public var active = 0
    /// Files begun since the process began.
    public var files = 0
    /// Recordings that ended by themselves since the process began.
    public var failures = 0
    /// Packets that were not recorded because the disk was too slow, since the process began.
    public var droppedPackets = 0
    /// Files there are, of earlier lives too.
    public var storedFiles = 0
    /// Bytes in them.
    public var storedBytes = 0

    /// Nothing yet.
    public init() {}
}
