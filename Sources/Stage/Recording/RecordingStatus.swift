/// How the recording of a room's program is doing.
public struct RecordingStatus: Sendable, Equatable {
    /// How far it is.
    public var state: RecordingState
    /// The run, `RR` and 32 hexadecimal digits, that all files between a start and a stop share; nil when it never ran.
    public var run: String?
    /// Seconds since 1970 when the first file began; nil before.
    public var startedAt: Double?
    /// The file that is being written, or was written last; nil before the first.
    public var file: RecordedFile?
    /// Packets that were not recorded because the disk was too slow, in whole groups of pictures.
    public var droppedPackets: Int
    /// Why it ended by itself; nil unless it did.
    public var failure: StageError?
    /// It was started by command, and not because its room is one that is recorded whenever its program is on.
    public var isAsked: Bool

    /// Makes a status; a recording that never ran by default.
    public init(
        state: RecordingState = .stopped,
        run: String? = nil,
        startedAt: Double? = nil,
        file: RecordedFile? = nil,
        droppedPackets: Int = 0,
        failure: StageError? = nil,
        isAsked: Bool = false
    ) {
        self.state = state
        self.run = run
        self.startedAt = startedAt
        self.file = file
        self.droppedPackets = droppedPackets
        self.failure = failure
        self.isAsked = isAsked
    }

    /// Whether there is to be a program to record, whoever is on stage.
    public var demandsProgram: Bool { isAsked && (state == .starting || state == .started) }
}
