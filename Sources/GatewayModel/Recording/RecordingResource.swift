/// How the recording of a room's program is doing.
public struct RecordingResource: Codable, Sendable, Hashable {
    /// `RECORDING_STARTING`, `RECORDING_STARTED`, `RECORDING_STOPPING` or `RECORDING_STOPPED`.
    public var state: String
    /// The run; null when it never ran.
    @ExplicitNull public var run: String?
    /// When its first file began; null before.
    @ExplicitNull public var startedAt: Timestamp?
    /// The sid of the file that is written, or was written last; null before the first.
    @ExplicitNull public var fileSID: String?
    /// Packets that were not recorded because the disk was too slow.
    public var droppedPackets: Int
    /// Why it ended by itself; null unless it did.
    @ExplicitNull public var error: ErrorResource?

    /// Makes a description.
    public init(
        state: String,
        run: String?,
        startedAt: Timestamp?,
        fileSID: String?,
        droppedPackets: Int,
        error: ErrorResource?
    ) {
        self.state = state
        self.run = run
        self.startedAt = startedAt
        self.fileSID = fileSID
        self.droppedPackets = droppedPackets
        self.error = error
    }

    private enum CodingKeys: String, CodingKey {
        case state
        case run
        case startedAt = "started_at"
        case fileSID = "file_sid"
        case droppedPackets = "dropped_packets"
        case error
    }
}
