import Dispatch
import Foundation
import Logging
import Stage
import Synchronization

/// The recorded files, `FOLDER/ROOM-SID/FILE-SID.mp4`, each with a `.json` description.
///
/// The descriptions are held in memory. Files are accessed by the recorders' threads and by the store's own queue only.
final class RecordingStore: Sendable {
    private let configuration: RecordingConfiguration
    private let logger: Logger
    private let files = Mutex<[String: RecordedFile]>([:])
    private let queue = DispatchQueue(label: "footlight.recordings")

    init(_ configuration: RecordingConfiguration, logger: Logger) {
        self.configuration = configuration
        self.logger = logger
    }

    // MARK: Reading

    /// Returns the files of a room by name or sid, oldest first.
    func files(room: String) -> [RecordedFile] {
        all.filter { $0.roomSID == room || $0.roomName == room }
    }

    /// All files, oldest first.
    var all: [RecordedFile] {
        files.withLock { Array($0.values) }.sorted { ($0.startedAt, $0.part) < ($1.startedAt, $1.part) }
    }

    func file(_ sid: String) -> RecordedFile? {
        files.withLock { $0[sid] }
    }

    func path(of file: RecordedFile) -> String {
        "\(folder(of: file))/\(file.sid).mp4"
    }

    private func folder(of file: RecordedFile) -> String { "\(configuration.folder)/\(file.roomSID)" }

    private func descriptionPath(of file: RecordedFile) -> String { "\(folder(of: file))/\(file.sid).json" }

    // MARK: Writing, on a recorder's thread

    /// Registers a new file and opens it.
    func begin(_ file: RecordedFile) throws(RecordingFault) -> RecordingFile {
        do {
            try FileManager.default.createDirectory(
                atPath: folder(of: file),
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {
            throw RecordingFault(action: "create a folder", reason: error.localizedDescription)
        }
        let opened = try RecordingFile(path: path(of: file), reservedBytes: configuration.reservedBytes)
        try describe(file)
        syncFolder(of: file)
        return opened
    }

    /// Updates the progress of a file.
    func update(_ file: RecordedFile) {
        files.withLock { $0[file.sid] = file }
    }

    /// Marks a file as ended; an empty one is deleted.
    func end(_ file: RecordedFile) {
        guard file.bytes > 0 else { return remove(file) }
        do throws(RecordingFault) {
            try describe(file)
        } catch {
            // On a full disk, the next start marks the file as interrupted.
            files.withLock { $0[file.sid] = file }
            logger.warning("recording description not written", metadata: ["file": "\(file.sid)", "error": "\(error)"])
        }
        queue.async { self.sweep(now: Date().timeIntervalSince1970) }
    }

    /// Writes a description atomically.
    private func describe(_ file: RecordedFile) throws(RecordingFault) {
        let target = descriptionPath(of: file)
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys]
            try encoder.encode(file).write(to: URL(fileURLWithPath: target), options: .atomic)
        } catch {
            throw RecordingFault(action: "describe a file", reason: error.localizedDescription)
        }
        files.withLock { $0[file.sid] = file }
    }

    private func syncFolder(of file: RecordedFile) {
        let descriptor = open(folder(of: file), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        _ = fsync(descriptor)
        close(descriptor)
    }

    // MARK: Startup

    /// The maximum file size; a description beyond it is considered damaged and would overflow sums.
    private static let maximumBytes = 1 << 50

    /// Loads the files of earlier runs, and finishes those that were being written when their process ended.
    func load() {
        let manager = FileManager.default
        for room in (try? manager.contentsOfDirectory(atPath: configuration.folder)) ?? [] {
            let folder = "\(configuration.folder)/\(room)"
            for name in (try? manager.contentsOfDirectory(atPath: folder)) ?? [] where name.hasSuffix(".json") {
                guard let data = manager.contents(atPath: "\(folder)/\(name)"),
                    let file = try? JSONDecoder().decode(RecordedFile.self, from: data),
                    RecordedFile.isSID(file.sid), file.roomSID == room, name == file.sid + ".json",
                    (0...Self.maximumBytes).contains(file.bytes), (0...1e9).contains(file.duration),
                    (0...1e11).contains(file.startedAt)
                else {
                    logger.warning("recording description unreadable", metadata: ["file": "\(folder)/\(name)"])
                    continue
                }
                if file.state == .recording { finish(file) } else { files.withLock { $0[file.sid] = file } }
            }
        }
        queue.async { self.sweep(now: Date().timeIntervalSince1970) }
    }

    /// Truncates an incomplete fragment and determines the duration.
    private func finish(_ unfinished: RecordedFile) {
        var file = unfinished
        let path = path(of: file)
        let scan = FragmentScanner(path: path)
        file.state = .interrupted
        file.bytes = scan.bytes
        file.duration = scan.duration
        file.endedAt = file.startedAt + scan.duration
        guard scan.duration > 0 else { return remove(file) }
        if truncate(path, off_t(scan.bytes)) != 0 {
            logger.warning("recording not truncated", metadata: ["file": "\(file.sid)"])
        }
        logger.notice(
            "interrupted recording recovered",
            metadata: ["file": "\(file.sid)", "room": "\(file.roomName)", "seconds": "\(Int(file.duration))"]
        )
        end(file)
    }

    // MARK: Deletion

    /// Deletes a file.
    func delete(_ sid: String) async throws(StageError) {
        let refusal: StageError? = await withCheckedContinuation { done in
            queue.async { done.resume(returning: self.refusal(toDelete: sid)) }
        }
        if let refusal { throw refusal }
    }

    private func refusal(toDelete sid: String) -> StageError? {
        guard let file = file(sid) else { return .recordingNotFound }
        guard file.state != .recording else { return .recordingBeingWritten }
        // The description is deleted last, since the file is known as long as it exists.
        if unlink(path(of: file)) != 0, errno != ENOENT {
            return .recordingNotDeleted(RecordingFault.system("delete the file").reason)
        }
        remove(file)
        return nil
    }

    /// Deletes finished files beyond the age or size limit, oldest first.
    func sweep(now: Double) {
        var finished = all.filter { $0.state != .recording }
        var total = finished.reduce(0) { $0 + $1.bytes }
        while let oldest = finished.first {
            let isTooMuch = configuration.maximumStoredBytes.map { total > $0 } ?? false
            let isTooOld = configuration.retentionSeconds.map { now - (oldest.endedAt ?? now) > $0 } ?? false
            guard isTooMuch || isTooOld else { break }
            finished.removeFirst()
            total -= oldest.bytes
            remove(oldest)
            logger.info(
                "recording expired",
                metadata: ["file": "\(oldest.sid)", "room": "\(oldest.roomName)"]
            )
        }
    }

    /// Runs `sweep(now:)` on the store's queue.
    func sweepLater() {
        queue.async { self.sweep(now: Date().timeIntervalSince1970) }
    }

    private func remove(_ file: RecordedFile) {
        _ = unlink(path(of: file))
        _ = unlink(descriptionPath(of: file))
        // Succeeds only if the folder is empty.
        _ = rmdir(folder(of: file))
        files.withLock { $0[file.sid] = nil }
    }
}
