import Dispatch
import Foundation
import Logging
import Stage
import Synchronization

/// All recorded files: `FOLDER/ROOM-SID/FILE-SID.mp4`, and beside each a `.json` that says what it is.
///
/// The descriptions are in memory; files are touched by recorders on their threads and on a queue of the library's own,
/// never by whoever asks.
final class RecordingLibrary: Sendable {
    private let configuration: RecordingConfiguration
    private let logger: Logger
    private let files = Mutex<[String: RecordedFile]>([:])
    private let queue = DispatchQueue(label: "footlight.recordings")

    init(_ configuration: RecordingConfiguration, logger: Logger) {
        self.configuration = configuration
        self.logger = logger
    }

    // MARK: Reading

    /// The files of a room by name or sid, the oldest first.
    func files(room: String) -> [RecordedFile] {
        all.filter { $0.roomSID == room || $0.roomName == room }
    }

    /// Every file, the oldest first.
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

    private func note(of file: RecordedFile) -> String { "\(folder(of: file))/\(file.sid).json" }

    // MARK: Writing, by a recorder on its thread

    /// Takes a new file in, and makes room for it on the disk.
    func begin(_ file: RecordedFile) throws(RecordingFault) -> RecordingFile {
        do {
            try FileManager.default.createDirectory(
                atPath: folder(of: file),
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {
            throw RecordingFault(action: "make a folder", reason: error.localizedDescription)
        }
        let opened = try RecordingFile(path: path(of: file), reservedBytes: configuration.reservedBytes)
        try describe(file)
        syncFolder(of: file)
        return opened
    }

    /// Notes how far a file is.
    func update(_ file: RecordedFile) {
        files.withLock { $0[file.sid] = file }
    }

    /// Notes that a file has ended; one that holds nothing is removed.
    func end(_ file: RecordedFile) {
        guard file.bytes > 0 else { return remove(file) }
        do throws(RecordingFault) {
            try describe(file)
        } catch {
            // A full disk: at the next start it counts as interrupted, which is as true.
            files.withLock { $0[file.sid] = file }
            logger.warning("a recording cannot be described", metadata: ["file": "\(file.sid)", "error": "\(error)"])
        }
        queue.async { self.sweep(now: Date().timeIntervalSince1970) }
    }

    /// Writes a description whole or not at all.
    private func describe(_ file: RecordedFile) throws(RecordingFault) {
        let target = note(of: file)
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

    // MARK: At the start

    /// No file is larger; a description that says so is damaged, and sums of it would overflow.
    private static let mostBytes = 1 << 50

    /// Finds the files of earlier lives, and ends those that were being written when their process died.
    func load() {
        let manager = FileManager.default
        for room in (try? manager.contentsOfDirectory(atPath: configuration.folder)) ?? [] {
            let folder = "\(configuration.folder)/\(room)"
            for name in (try? manager.contentsOfDirectory(atPath: folder)) ?? [] where name.hasSuffix(".json") {
                guard let data = manager.contents(atPath: "\(folder)/\(name)"),
                    let file = try? JSONDecoder().decode(RecordedFile.self, from: data),
                    RecordedFile.isSID(file.sid), file.roomSID == room, name == file.sid + ".json",
                    (0...Self.mostBytes).contains(file.bytes), (0...1e9).contains(file.duration),
                    (0...1e11).contains(file.startedAt)
                else {
                    logger.warning("a recording's description cannot be read", metadata: ["file": "\(folder)/\(name)"])
                    continue
                }
                if file.state == .recording { finish(file) } else { files.withLock { $0[file.sid] = file } }
            }
        }
        queue.async { self.sweep(now: Date().timeIntervalSince1970) }
    }

    /// Takes off the fragment that was being written when the process died, and says how long the rest is.
    private func finish(_ unfinished: RecordedFile) {
        var file = unfinished
        let path = path(of: file)
        let scan = FragmentScan(path: path)
        file.state = .interrupted
        file.bytes = scan.bytes
        file.duration = scan.duration
        file.endedAt = file.startedAt + scan.duration
        guard scan.duration > 0 else { return remove(file) }
        if truncate(path, off_t(scan.bytes)) != 0 {
            logger.warning("a recording's torn end stays", metadata: ["file": "\(file.sid)"])
        }
        logger.notice(
            "a recording was interrupted",
            metadata: ["file": "\(file.sid)", "room": "\(file.roomName)", "seconds": "\(Int(file.duration))"]
        )
        end(file)
    }

    // MARK: Forgetting

    /// Deletes a file by command.
    func delete(_ sid: String) async throws(StageError) {
        let refusal: StageError? = await withCheckedContinuation { done in
            queue.async { done.resume(returning: self.refusal(toDelete: sid)) }
        }
        if let refusal { throw refusal }
    }

    private func refusal(toDelete sid: String) -> StageError? {
        guard let file = file(sid) else { return .recordingNotFound }
        guard file.state != .recording else { return .recordingBeingWritten }
        // The description goes last: while it is there, the file is known.
        if unlink(path(of: file)) != 0, errno != ENOENT {
            return .recordingNotDeleted(RecordingFault.system("delete the file").reason)
        }
        remove(file)
        return nil
    }

    /// Deletes finished files that are too old, or too much, the oldest first.
    func sweep(now: Double) {
        var finished = all.filter { $0.state != .recording }
        var total = finished.reduce(0) { $0 + $1.bytes }
        while let oldest = finished.first {
            let isTooMuch = configuration.keptBytes.map { total > $0 } ?? false
            let isTooOld = configuration.keptSeconds.map { now - (oldest.endedAt ?? now) > $0 } ?? false
            guard isTooMuch || isTooOld else { break }
            finished.removeFirst()
            total -= oldest.bytes
            remove(oldest)
            logger.info(
                "a recording's time is over",
                metadata: ["file": "\(oldest.sid)", "room": "\(oldest.roomName)"]
            )
        }
    }

    /// As `sweep(now:)`, on the library's queue.
    func sweepLater() {
        queue.async { self.sweep(now: Date().timeIntervalSince1970) }
    }

    private func remove(_ file: RecordedFile) {
        _ = unlink(path(of: file))
        _ = unlink(note(of: file))
        // Goes only when it is empty.
        _ = rmdir(folder(of: file))
        files.withLock { $0[file.sid] = nil }
    }
}
