/// The status of a room's recording.
public struct RecordingStatus: Sendable, Equatable {
    /// The state.
    public var state: RecordingState
    /// The run, `RR` and 32 hexadecimal digits, that all files between a start and a stop share; nil when it never ran.
    public var run: String?
    /// Seconds since 1970 when the first file started; nil before.
    public var startedAt: Double?
    /// The current or latest file; nil before the first.
    public var file: RecordedFile?
    /// Packets dropped because the disk was too slow, in whole GOPs.
    public var droppedPackets: Int
    /// The error that ended the recording; nil without one.
    public var failure: StageError?
    /// Whether it was started by command, and not by the room's setting to record its program always.
    public var isRequested: Bool

    /// Creates a status; a recording that never ran by default.
    public init(
        state: RecordingState = .stopped,
        run: String? = nil,
        startedAt: Double? = nil,
        file: RecordedFile? = nil,
        droppedPackets: Int = 0,
        failure: StageError? = nil,
        isRequested: Bool = false
    ) {
        self.state = state
        self.run = run
        self.startedAt = startedAt
        self.file = file
        self.droppedPackets = droppedPackets
        self.failure = failure
        self.isRequested = isRequested
    }

    /// Whether the recording requires a program, with or without hosts.
    public var demandsProgram: Bool { isRequested && (state == .starting || state == .started) }
}

/// The state of a room's recording.
public enum RecordingState: String, Sendable, Hashable, Codable, CaseIterable {
    /// Requested; the file starts with the program's next keyframe.
    case starting = "RECORDING_STARTING"
    /// A file is being written.
    case started = "RECORDING_STARTED"
    /// Queued packets are being written.
    case stopping = "RECORDING_STOPPING"
    /// Not recording.
    case stopped = "RECORDING_STOPPED"
}

/// The metadata of one recorded file, as it is stored beside it.
public struct RecordedFile: Sendable, Hashable, Codable {
    /// The state of a file.
    public enum State: String, Sendable, Hashable, Codable {
        /// Being written.
        case recording
        /// Ended regularly: by command, by rotation, or with its room.
        case completed
        /// The process ended while it was written; the data on disk is playable.
        case interrupted
        /// A write failed; the written data is playable.
        case failed
    }

    /// `RC` and 32 hexadecimal digits.
    public var sid: String
    /// The id of the recording run.
    public var run: String
    /// The index in that run, from 1.
    public var part: Int
    /// The sid of the room.
    public var roomSID: String
    /// The room's unique name.
    public var roomName: String
    /// The state.
    public var state: State
    /// Seconds since 1970.
    public var startedAt: Double
    /// Seconds since 1970; nil while it is written.
    public var endedAt: Double?
    /// The duration of the program in it, in seconds.
    public var duration: Double
    /// The size of complete fragments in bytes.
    public var bytes: Int
    /// Width in pixels; nil without video.
    public var width: Int?
    /// Height in pixels; nil without video.
    public var height: Int?
    /// The codecs as RFC 6381 names them, such as `avc1.4D401F,mp4a.40.2`.
    public var codecs: String

    /// Creates the metadata of a new file.
    public init(
        sid: String,
        run: String,
        part: Int,
        roomSID: String,
        roomName: String,
        startedAt: Double,
        width: Int?,
        height: Int?,
        codecs: String
    ) {
        self.sid = sid
        self.run = run
        self.part = part
        self.roomSID = roomSID
        self.roomName = roomName
        state = .recording
        self.startedAt = startedAt
        duration = 0
        bytes = 0
        self.width = width
        self.height = height
        self.codecs = codecs
    }

    /// Returns a new sid of a file.
    public static func makeSID() -> String { StageIdentifier.make("RC") }

    /// Returns a new sid of a run.
    public static func makeRun() -> String { StageIdentifier.make("RR") }

    /// Whether a text has the format of a file's sid; no other text may become part of a path.
    public static func isSID(_ text: String) -> Bool { StageIdentifier.isValid(text, "RC") }
}

/// Records the programs of rooms; the control API's interface to the recorder.
public protocol RecordingControlling: Sendable {
    /// Starts recording a room's program at its next keyframe.
    ///
    /// - Parameter room: The room's unique name.
    /// - Throws: 3056 when the room is recorded, 3055 while it stops, 4011 when the start fails, 53106.
    func start(room: String) throws(StageError)
    /// Stops a room's recording; queued packets are still written.
    ///
    /// - Throws: 4012 when the room is not recorded, 3055 while it stops, 53106.
    func stop(room: String) throws(StageError)
    /// Returns the status of a room's recording.
    func status(room: String) -> RecordingStatus
    /// Returns the files of a room, in progress or not, the oldest first.
    ///
    /// - Parameter room: Unique name or sid.
    func files(room: String) -> [RecordedFile]
    /// Returns one file; nil if it does not exist.
    func file(_ sid: String) -> RecordedFile?
    /// Returns the path of a file; nil if it does not exist.
    func path(_ sid: String) -> String?
    /// Deletes a file that is not being written.
    ///
    /// - Throws: 53206 if it does not exist, 3057 while it is being written, 4018 when the deletion fails.
    func delete(_ sid: String) async throws(StageError)
}

/// The recording setting of rooms, and recording events.
extension RoomDirectory {
    /// Sets whether a room's program is always recorded; the setting is stored.
    ///
    /// Events: `room.updated` when the setting changes.
    ///
    /// - Throws: 53106.
    public func setRecorded(room: String, _ isRecorded: Bool) throws(StageError) {
        try change { (state, now) throws(StageError) in
            try state.change(room) { (room) throws(StageError) in try room.setRecorded(isRecorded, at: now) }
        }
    }

    /// Publishes a room's recording status.
    public func recordingChanged(room: String, _ status: RecordingStatus) {
        announce(.recordingStateChanged(status), room: room)
    }

    /// Publishes the start of a new recording file.
    public func recordingRotated(room: String, _ status: RecordingStatus) {
        announce(.recordingRotated(status), room: room)
    }

    /// Publishes the failure of a room's recording.
    public func recordingFailed(room: String, _ error: StageError) {
        announce(.recordingFailed(error), room: room)
    }
}

extension Room {
    fileprivate mutating func setRecorded(_ isRecorded: Bool, at now: Double) throws(StageError) {
        guard status == .inProgress else { throw .roomNotFound }
        guard settings.isRecorded != isRecorded else { return }
        settings.isRecorded = isRecorded
        emit(.roomUpdated(view), at: now)
    }
}
