import Foundation
public import Logging
import NIOCore
import Synchronization

/// Stores the logs whose lines wait to be counted in files, so that a process that is killed loses no line that it accepted.
///
/// A file for each log, as it was sent behind one line of JSON, readable by its owner alone. Lines of logs hold addresses of
/// viewers: a file is deleted as soon as its lines are counted.
public final class LogSpool: Sendable {
    /// A log that was accepted.
    struct Entry: Sendable {
        /// Whose log it is.
        var name: String
        /// The one room that it may tell of; nil for all.
        var room: String?
        /// By how much that log lags behind, in milliseconds, as far as was known then.
        var lag: Int64
        /// When it was received, in milliseconds since 1970.
        var received: Int64
        /// As it was sent.
        var body: ByteBuffer
    }

    private struct Header: Codable {
        var name: String
        var room: String?
        var lag: Int64
    }

    private struct State {
        /// The bytes of each file by its name, which begins with when it was received; nil before the folder was read.
        var files: [String: Int]?
        var lastWarning: Int64 = 0
        var failures = 0
    }

    /// Bytes of all files together, which is much more than comes in a minute.
    private static let limit = 256 << 20
    /// Most files.
    private static let fileLimit = 4096

    private let folder: String
    private let logger: Logger
    private let queue = DispatchQueue(label: "footlight.viewership.logs", qos: .utility)
    private let state = Mutex(State())

    /// - Parameter folder: Made when it is needed; nobody else may write there.
    public init(folder: String, logger: Logger) {
        self.folder = folder
        self.logger = logger
    }

    /// Logs that could not be written.
    var failures: Int { state.withLock { $0.failures } }

    /// Writes a log; returns when the system has it.
    func add(_ entry: Entry) async {
        await withCheckedContinuation { done in
            queue.async { [self] in
                write(entry)
                done.resume()
            }
        }
    }

    /// Deletes logs that were received before a moment, milliseconds since 1970; returns at once.
    func remove(before moment: Int64) {
        queue.async { [self] in
            for file in sizes.keys where Self.moment(of: file) < moment { delete(file) }
        }
    }

    /// The files, in the order in which their logs were received.
    func files() async -> [String] {
        await withCheckedContinuation { done in
            queue.async { [self] in done.resume(returning: sizes.keys.sorted()) }
        }
    }

    /// The log in a file; nil where it cannot be read.
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
            // In one step, so that a later run finds the whole of it or nothing.
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

    /// The bytes of each file; used on the queue.
    private var sizes: [String: Int] {
        if let files = state.withLock({ $0.files }) { return files }
        var found: [String: Int] = [:]
        // The folder is made with the first log.
        for file in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
            let attributes = try? FileManager.default.attributesOfItem(atPath: path(of: file))
            found[file] = attributes?[.size] as? Int ?? 0
        }
        state.withLock { $0.files = found }
        return found
    }

    private func delete(_ file: String) {
        // One that is gone already is what is wanted.
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
            "logs of content networks cannot be spooled; a kill would lose lines that are not counted yet",
            metadata: ["reason": "\(reason)", "folder": "\(folder)"]
        )
    }

    private func path(of file: String) -> String { folder + "/" + file }

    /// When a log was received; 0 for a file that is none of ours, so that it does not stay.
    private static func moment(of file: String) -> Int64 {
        Int64(file.prefix { $0 != "-" }) ?? 0
    }
}
