public import Logging
import Media
public import Stage
import Synchronization

/// Starts and stops the recordings of rooms, and keeps their files.
///
/// Commands return at once; what becomes of them is told by `onChange`, `onRotation` and `onFailure`. A recording that
/// fails is over, and the show it recorded knows nothing of it.
public final class RecordingControl: RecordingControlling {
    private struct Room {
        let sid: String
        let groupSeconds: Double
        var status = RecordingStatus()
        var recorder: RoomRecorder?
        /// The room is gone; the entry goes with its recorder.
        var isOver = false
    }

    private let configuration: RecordingConfiguration
    private let feeds: any ProgramFeeding
    private let library: RecordingLibrary
    private let logger: Logger
    private let onChange: @Sendable (_ room: String, RecordingStatus) -> Void
    private let onRotation: @Sendable (_ room: String, RecordingStatus) -> Void
    private let onFailure: @Sendable (_ room: String, StageError) -> Void
    private let rooms = Mutex<[String: Room]>([:])
    private let counts = Mutex(RecordingCounts())

    /// - Parameters:
    ///   - feeds: Where the programs come from.
    ///   - onChange: The state of a room's recording has changed.
    ///   - onRotation: A file has ended, and the next one has begun.
    ///   - onFailure: A recording has ended by itself.
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
        library = RecordingLibrary(configuration, logger: logger)
        library.load()
    }

    // MARK: Rooms

    /// A room is there.
    ///
    /// - Parameters:
    ///   - room: Its unique name.
    ///   - groupSeconds: Seconds between its program's key pictures.
    ///   - isRecorded: Its recording begins by itself.
    public func roomBegan(_ room: String, sid: String, groupSeconds: Double, isRecorded: Bool) {
        rooms.withLock { $0[room] = Room(sid: sid, groupSeconds: groupSeconds) }
        guard isRecorded else { return }
        do throws(StageError) {
            try start(room, isAsked: false)
        } catch {
            logger.warning("a recording does not begin", metadata: ["room": "\(room)", "error": "\(error)"])
        }
    }

    /// A room is over, and with it its recording.
    public func roomEnded(_ room: String) {
        // What still happens to its recorder is told under the name for as long as the recorder is known.
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

    /// Ends every recording; what waits for the disk is written.
    ///
    /// For the process's end.
    public func shutdown() {
        for room in rooms.withLock({ Array($0.keys) }) { roomEnded(room) }
    }

    /// Whether nothing is being written any more.
    public var isIdle: Bool { rooms.withLock { $0.values.allSatisfy { $0.recorder == nil } } }

    /// Deletes what is kept no longer; to be called now and then.
    public func sweep() { library.sweepLater() }

    // MARK: Commands

    /// Begins to record a room's program.
    public func start(room: String) throws(StageError) { try start(room, isAsked: true) }

    private func start(_ room: String, isAsked: Bool) throws(StageError) {
        let outcome = rooms.withLock { rooms -> Result<(RoomRecorder, RecordingStatus), StageError> in
            guard let entry = rooms[room] else { return .failure(.roomNotFound) }
            switch entry.status.state {
            case .starting, .started: return .failure(.recordingAlreadyStarted)
            case .stopping: return .failure(.recordingInFlight)
            case .stopped: break
            }
            let recorder = makeRecorder(room, entry)
            let status = RecordingStatus(state: .starting, run: recorder.run, isAsked: isAsked)
            rooms[room]?.recorder = recorder
            rooms[room]?.status = status
            return .success((recorder, status))
        }
        let (recorder, status) = try outcome.get()
        onChange(room, status)
        // It gets the configuration and the present group of pictures, then what comes.
        feeds.attach(recorder, room: room)
    }

    /// Ends a room's recording.
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
            groupSeconds: entry.groupSeconds,
            library: library,
            configuration: configuration
        ) { [weak self] news in self?.take(news, room: room, sid: sid) }
    }

    /// What a recorder says, on its thread.
    private func take(_ news: RoomRecorder.News, room: String, sid: String) {
        let told = rooms.withLock { rooms -> (status: RecordingStatus, recorder: RoomRecorder?, isNew: Bool)? in
            guard rooms[room]?.sid == sid, var entry = rooms[room] else { return nil }
            let recorder = entry.recorder
            let before = entry.status.state
            switch news {
            case .started(let file):
                // A stop may have come first; then only the end is told.
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
                if case .failed(let reason) = news { entry.status.failure = .recordingFailed(reason) }
            }
            rooms[room] = entry.isOver && entry.recorder == nil ? nil : entry
            return (entry.status, recorder, entry.status.state != before)
        }
        count(news, told?.recorder)
        guard let (status, recorder, isNew) = told else { return }
        switch news {
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

    private func count(_ news: RoomRecorder.News, _ recorder: RoomRecorder?) {
        counts.withLock { counts in
            switch news {
            case .started, .rotated: counts.files += 1
            case .failed: counts.failures += 1
            case .ended: break
            }
            switch news {
            case .ended, .failed: counts.droppedPackets += recorder?.droppedPackets ?? 0
            case .started, .rotated: break
            }
        }
    }

    // MARK: Reading

    /// How a room's recording is doing.
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

    /// The files of a room by name or sid, the oldest first.
    public func files(room: String) -> [RecordedFile] { library.files(room: room) }

    /// One file; nil when there is none of that sid.
    public func file(_ sid: String) -> RecordedFile? { library.file(sid) }

    /// Where the bytes of a file are.
    public func path(_ sid: String) -> String? {
        library.file(sid).map { library.path(of: $0) }
    }

    /// Deletes a file that is not being written.
    public func delete(_ sid: String) async throws(StageError) { try await library.delete(sid) }

    /// What was counted since the process began.
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
