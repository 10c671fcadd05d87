import Foundation
public import Logging
import NIOCore
import Synchronization

/// Stores accepted logs in files until their lines are counted, so that a crash loses none.
///
/// One file per log holds a line of JSON and the log as sent, readable by its owner only. Log lines contain viewers'
/// addresses, so a file is deleted as soon as its lines are counted.
public final class LogSpool: Sendable {
    /// An accepted log.
    struct Entry: Sendable {
        /// The name of the log.
        var name: String
        /// The only room that the log may report; nil for all rooms.
        var room: String?
        /// The lag of the log as known when it was received, in milliseconds.
        var lag: Int64
        /// When it was received, in milliseconds since 1970.
        var received: Int64
        /// The log as sent.
        var body: ByteBuffer
    }

    private struct Header: Codable {
        var name: String
        var room: String?
        var lag: Int64
    }

    private struct State {
        /// The size of each file by name, which starts with the time of receipt; nil before the folder was read.
        var files: [String: Int]?
        var lastWarning: Int64 = 0
        var failures = 0
    }

    /// The maximum total size in bytes, far more than arrives in a minute.
    private static let limit = 256 << 20
    /// The maximum number of files.
    private static let fileLimit = 4096

    private let folder: String
    private let logger: Logger
    private let queue = DispatchQueue(label: "footlight.viewership.logs", qos: .utility)
    private let state = Mutex(State())

    /// - Parameter folder: The folder of the spool, created on demand; no other process may write there.
    public init(folder: String, logger: Logger) {
        self.folder = folder
        self.logger = logger
    }

    /// The number of logs that could not be written.
    var failures: Int { state.withLock { $0.failures } }

    /// Writes a log, and returns when the write is complete.
    func add(_ entry: Entry) async {
        await withCheckedContinuation { done in
            queue.async { [self] in
                write(entry)
                done.resume()
            }
        }
    }

    /// Deletes logs received before a time in milliseconds since 1970; returns immediately.
    func remove(before moment: Int64) {
        queue.async { [self] in
            for file in sizes.keys where Self.moment(of: file) < moment { delete(file) }
        }
    }

    /// Returns the files in the order in which their logs were received.
    func files() async -> [String] {
        await withCheckedContinuation { done in
            queue.async { [self] in done.resume(returning: sizes.keys.sorted()) }
        }
    }

    /// Reads the log in a file; nil if that fails.
    func entry(_ file: String) async -> Entry? {
        await withCheckedContinuation { done in
            queue.async { [self] in done.resume(returning: read(file)) }
        }
    }

    private func write(_ entry: Entry) {
        var data: Data
        do {
            data = try JSONEncoder().encode(Header(name: entry.name, room: entry.room, lag: entry.lag))
        } catch {
            return fail("\(error)", at: entry.received)
        }
        data.append(10)
        data.append(contentsOf: entry.body.readableBytesView)
        guard sizes.count < Self.fileLimit, sizes.values.reduce(0, +) + data.count <= Self.limit else {
            return fail("\(Self.limit >> 20) MiB of logs wait to be counted", at: entry.received)
        }
        let file = "\(entry.received)-\(UUID().uuidString)"
        do {
            try FileManager.default.createDirectory(
                atPath: folder,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
            // Written atomically, so that a later run finds all of it or nothing.
            try data.write(to: URL(fileURLWithPath: path(of: file)), options: .atomic)
            state.withLock { $0.files?[file] = data.count }
        } catch {
            fail("\(error)", at: entry.received)
        }
    }

    private func read(_ file: String) -> Entry? {
        guard let data = FileManager.default.contents(atPath: path(of: file)), let end = data.firstIndex(of: 10),
            let header = try? JSONDecoder().decode(Header.self, from: data[..<end])
        else { return nil }
        return Entry(
            name: header.name,
            room: header.room,
            lag: header.lag,
            received: Self.moment(of: file),
            body: ByteBuffer(bytes: data[(end + 1)...])
        )
    }

    /// The sizes of the files; use on the queue only.
    private var sizes: [String: Int] {
        dispatchPrecondition(condition: .onQueue(queue))
        if let files = state.withLock({ $0.files }) { return files }
        var found: [String: Int] = [:]
        // The folder does not exist before the first log.
        for file in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
            let attributes = try? FileManager.default.attributesOfItem(atPath: path(of: file))
            found[file] = attributes?[.size] as? Int ?? 0
        }
        state.withLock { $0.files = found }
        return found
    }

    private func delete(_ file: String) {
        // A missing file is deleted already.
        try? FileManager.default.removeItem(atPath: path(of: file))
        state.withLock { $0.files?[file] = nil }
    }

    private func fail(_ reason: String, at moment: Int64) {
        let isWarningDue = state.withLock { state in
            state.failures += 1
            guard moment >= state.lastWarning + 60_000 else { return false }
            state.lastWarning = moment
            return true
        }
        guard isWarningDue else { return }
        logger.warning(
            "cannot spool CDN logs; a crash would lose uncounted lines",
            metadata: ["reason": "\(reason)", "folder": "\(folder)"]
        )
    }

    private func path(of file: String) -> String { folder + "/" + file }

    /// Returns when a log was received; 0 for an unknown file, so that it is deleted.
    private static func moment(of file: String) -> Int64 {
        Int64(file.prefix { $0 != "-" }) ?? 0
    }
}
