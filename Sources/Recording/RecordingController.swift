public import Logging
import Media
public import Stage
import Synchronization

/// Starts and stops the recordings of rooms, and manages their files.
///
/// Commands return immediately; results are reported by `onChange`, `onRotation` and `onFailure`. A failed recording
/// ends without any effect on the program.
public final class RecordingController: RecordingControlling {
    private struct Room {
        let sid: String
        let gopSeconds: Double
        var status = RecordingStatus()
        var recorder: RoomRecorder?
        /// Whether the room has ended; the entry is removed when its recorder ends.
        var isOver = false
    }

    private let configuration: RecordingConfiguration
    private let feeds: any ProgramFeeding
    private let library: RecordingStore
    private let logger: Logger
    private let onChange: @Sendable (_ room: String, RecordingStatus) -> Void
    private let onRotation: @Sendable (_ room: String, RecordingStatus) -> Void
    private let onFailure: @Sendable (_ room: String, StageError) -> Void
    private let rooms = Mutex<[String: Room]>([:])
    private let counts = Mutex(RecordingCounts())

    /// - Parameters:
    ///   - feeds: Provides the programs.
    ///   - onChange: Called when the state of a room's recording changes.
    ///   - onRotation: Called when a file ended and the next one began.
    ///   - onFailure: Called when a recording ended because of an error.
    public init(
        _ configuration: RecordingConfiguration,
        feeds: any ProgramFeeding,
        logger: Logger,
        onChange: @escaping @Sendable (_ room: String, RecordingStatus) -> Void,
        onRotation: @escaping @Sendable (_ room: String, RecordingStatus) -> Void = { _, _ in },
        onFailure: @escaping @Sendable (_ room: String, StageError) -> Void = { _, _ in }
    ) {
        self.configuration = configuration
        self.feeds = feeds
        self.logger = logger
        self.onChange = onChange
        self.onRotation = onRotation
        self.onFailure = onFailure
        library = RecordingStore(configuration, logger: logger)
        library.load()
    }

    // MARK: Rooms

    /// Registers a room.
    ///
    /// - Parameters:
    ///   - room: The unique name of the room.
    ///   - gopSeconds: The keyframe interval of the program in seconds.
    ///   - isRecorded: Whether recording starts automatically.
    public func roomBegan(_ room: String, sid: String, gopSeconds: Double, isRecorded: Bool) {
        rooms.withLock { $0[room] = Room(sid: sid, gopSeconds: gopSeconds) }
        guard isRecorded else { return }
        do throws(StageError) {
            try start(room, isRequested: false)
        } catch {
            logger.warning("recording did not start", metadata: ["room": "\(room)", "error": "\(error)"])
        }
    }

    /// Ends a room's recording and unregisters the room.
    public func roomEnded(_ room: String) {
        // The entry stays until its recorder ends, so that later events are reported under the room's name.
        let recorder = rooms.withLock { rooms -> RoomRecorder? in
            guard let recorder = rooms[room]?.recorder else {
                rooms[room] = nil
                return nil
            }
            rooms[room]?.status.state = .stopping
            rooms[room]?.isOver = true
            return recorder
        }
        guard let recorder else { return }
        feeds.detach(recorder, room: room)
        recorder.finish()
    }

    /// Ends every recording; waiting packets are written.
    ///
    /// Called at shutdown.
    public func shutdown() {
        for room in rooms.withLock({ Array($0.keys) }) { roomEnded(room) }
    }

    /// Whether no file is being written.
    public var isIdle: Bool { rooms.withLock { $0.values.allSatisfy { $0.recorder == nil } } }

    /// Deletes expired files; called periodically.
    public func sweep() { library.sweepLater() }

    // MARK: Commands

    /// Starts recording a room's program.
    public func start(room: String) throws(StageError) { try start(room, isRequested: true) }

    private func start(_ room: String, isRequested: Bool) throws(StageError) {
        let outcome = rooms.withLock { rooms -> Result<(RoomRecorder, RecordingStatus), StageError> in
            guard let entry = rooms[room] else { return .failure(.roomNotFound) }
            switch entry.status.state {
            case .starting, .started: return .failure(.recordingAlreadyStarted)
            case .stopping: return .failure(.recordingInFlight)
            case .stopped: break
            }
            let recorder = makeRecorder(room, entry)
            let status = RecordingStatus(state: .starting, run: recorder.run, isRequested: isRequested)
            rooms[room]?.recorder = recorder
            rooms[room]?.status = status
            return .success((recorder, status))
        }
        let (recorder, status) = try outcome.get()
        onChange(room, status)
        // The sink receives the configuration and the current GOP, then the following packets.
        feeds.attach(recorder, room: room)
    }

    /// Stops a room's recording.
    public func stop(room: String) throws(StageError) {
        let outcome = rooms.withLock { rooms -> Result<(RoomRecorder, RecordingStatus), StageError> in
            guard let entry = rooms[room] else { return .failure(.roomNotFound) }
            guard let recorder = entry.recorder, entry.status.state != .stopped else {
                return .failure(.recordingNotRunning)
            }
            guard entry.status.state != .stopping else { return .failure(.recordingInFlight) }
            rooms[room]?.status.state = .stopping
            return .success((recorder, rooms[room]?.status ?? entry.status))
        }
        let (recorder, status) = try outcome.get()
        onChange(room, status)
        feeds.detach(recorder, room: room)
        recorder.finish()
    }

    private func makeRecorder(_ room: String, _ entry: Room) -> RoomRecorder {
        let sid = entry.sid
        return RoomRecorder(
            room: (sid, room),
            gopSeconds: entry.gopSeconds,
            library: library,
            configuration: configuration
        ) { [weak self] event in self?.handle(event, room: room, sid: sid) }
    }

    /// Handles an event of a recorder, on its thread.
    private func handle(_ event: RoomRecorder.Event, room: String, sid: String) {
        let change = rooms.withLock { rooms -> (status: RecordingStatus, recorder: RoomRecorder?, isNew: Bool)? in
            guard rooms[room]?.sid == sid, var entry = rooms[room] else { return nil }
            let recorder = entry.recorder
            let before = entry.status.state
            switch event {
            case .started(let file):
                // If a stop came first, only the end is reported.
                if entry.status.state == .starting { entry.status.state = .started }
                entry.status.startedAt = file.startedAt
                entry.status.file = file
            case .rotated(let file):
                entry.status.file = file
            case .ended, .failed:
                entry.status.state = .stopped
                entry.status.file = recorder?.file ?? entry.status.file
                entry.status.droppedPackets = recorder?.droppedPackets ?? 0
                entry.recorder = nil
                if case .failed(let reason) = event { entry.status.failure = .recordingFailed(reason) }
            }
            rooms[room] = entry.isOver && entry.recorder == nil ? nil : entry
            return (entry.status, recorder, entry.status.state != before)
        }
        count(event, change?.recorder)
        guard let (status, recorder, isNew) = change else { return }
        switch event {
        case .rotated:
            onRotation(room, status)
        case .failed:
            if let recorder { feeds.detach(recorder, room: room) }
            logger.error("recording failed", metadata: ["room": "\(room)", "error": "\(status.failure?.cause ?? "")"])
            onChange(room, status)
            if let failure = status.failure { onFailure(room, failure) }
        case .started, .ended:
            if isNew { onChange(room, status) }
        }
    }

    private func count(_ event: RoomRecorder.Event, _ recorder: RoomRecorder?) {
        counts.withLock { counts in
            switch event {
            case .started, .rotated: counts.files += 1
            case .failed: counts.failures += 1
            case .ended: break
            }
            switch event {
            case .ended, .failed: counts.droppedPackets += recorder?.droppedPackets ?? 0
            case .started, .rotated: break
            }
        }
    }

    // MARK: Reading

    /// Returns the state of a room's recording.
    public func status(room: String) -> RecordingStatus {
        rooms.withLock { rooms in
            guard let entry = rooms[room] else { return RecordingStatus() }
            var status = entry.status
            if let recorder = entry.recorder {
                status.file = recorder.file ?? status.file
                status.droppedPackets = recorder.droppedPackets
            }
            return status
        }
    }

    /// Returns the files of a room by name or sid, oldest first.
    public func files(room: String) -> [RecordedFile] { library.files(room: room) }

    /// Returns one file by its sid, or nil.
    public func file(_ sid: String) -> RecordedFile? { library.file(sid) }

    /// Returns the path of a file by its sid.
    public func path(_ sid: String) -> String? {
        library.file(sid).map { library.path(of: $0) }
    }

    /// Deletes a finished file.
    public func delete(_ sid: String) async throws(StageError) { try await library.delete(sid) }

    /// The counters since the process started.
    public var figures: RecordingCounts {
        var result = counts.withLock { $0 }
        let files = library.all
        result.storedFiles = files.count
        result.storedBytes = files.reduce(0) { $0 + $1.bytes }
        for entry in rooms.withLock({ Array($0.values) }) {
            guard let recorder = entry.recorder else { continue }
            result.active += 1
            result.droppedPackets += recorder.droppedPackets
        }
        return result
    }
}

/// The counters of recordings.
public struct RecordingCounts: Sendable, Equatable {
    /// The number of rooms being recorded.
    public var active = 0
    /// The number of files started since the process began.
    public var files = 0
    /// The number of recordings that failed since the process began.
    public var failures = 0
    /// The number of packets dropped because the disk was too slow, since the process began.
    public var droppedPackets = 0
    /// The number of stored files, including those of earlier runs.
    public var storedFiles = 0
    /// The bytes of stored files.
    public var storedBytes = 0

    /// Creates zero counters.
    public init() {}
}

/// The file limits and the retention of recordings.
public struct RecordingConfiguration: Sendable, Equatable {
    /// The folder that contains a folder per room.
    public var folder: String
    /// The bytes after which a file ends at the next keyframe.
    public var fileBytes: Int
    /// The seconds after which a file ends at the next keyframe.
    public var fileSeconds: Double
    /// The maximum bytes of finished files over all rooms, beyond which the oldest are deleted; nil for no limit.
    public var maximumStoredBytes: Int?
    /// The seconds after their end for which finished files are retained; nil for no limit.
    public var retentionSeconds: Double?
    /// The bytes to leave free on the disk, which also stores the room database.
    public var reservedBytes: Int
    /// The maximum bytes of packets waiting for the disk.
    public var queuedBytes: Int

    /// Creates a configuration; values out of range are clamped.
    public init(
        folder: String,
        fileBytes: Int = 2 << 30,
        fileSeconds: Double = 3600,
        maximumStoredBytes: Int? = nil,
        retentionSeconds: Double? = nil,
        reservedBytes: Int = 256 << 20,
        queuedBytes: Int = 32 << 20
    ) {
        self.folder = folder
        self.fileBytes = max(fileBytes, 1 << 20)
        self.fileSeconds = max(fileSeconds, 1)
        self.maximumStoredBytes = maximumStoredBytes
        self.retentionSeconds = retentionSeconds
        self.reservedBytes = max(reservedBytes, 0)
        self.queuedBytes = max(queuedBytes, 1 << 20)
    }
}
