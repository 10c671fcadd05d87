import Foundation
import Media
import Synchronization
import TestSupport

/// One low-latency player beside a crowd, which tracks the newest part and measures its delay.
final class PlaylistMonitor: Sendable {
    /// The contents of a playlist at one moment.
    struct PlaylistSnapshot: Sendable {
        /// The playlist's text.
        var playlist = ""
        /// The path of the newest part.
        var partPath = ""
        /// The path of the newest independent part, from which a player can start.
        var firstPath = ""
        /// The path of the initialization section.
        var initializationPath = ""
        /// The part target duration in milliseconds.
        var partMilliseconds: Int64?
        /// The query directives for the next playlist.
        var nextDirectives = ""
    }

    private let latest = Mutex(PlaylistSnapshot())
    private let parts = Mutex<[[UInt8]]>([])
    private let delays = Mutex(Samples())
    private let failure = Mutex<(any Error)?>(nil)
    private let isStopped = Atomic(false)
    private let hasEnded = DispatchSemaphore(value: 0)

    /// The number of parts stored for `middlePart`.
    private static let partLimit = 12

    /// Starts to play.
    init(port: Int, room: String, stream: PublishedStream) {
        Thread.detachNewThread {
            do {
                try self.play(port: port, room: room, stream: stream)
            } catch {
                self.failure.withLock { $0 = error }
            }
            self.hasEnded.signal()
        }
    }

    /// The newest playlist; nil before the first part.
    var snapshot: PlaylistSnapshot? { latest.withLock { $0.partPath.isEmpty ? nil : $0 } }

    /// The stored part of median length.
    var middlePart: [UInt8]? {
        let sorted = parts.withLock { $0 }.sorted { $0.count < $1.count }
        return sorted.isEmpty ? nil : sorted[sorted.count / 2]
    }

    /// Milliseconds from sending the last frame of a part to receiving the part's last byte.
    var frameDelays: Samples { delays.withLock { $0 } }

    /// Stops the player, and rethrows its error; called once.
    func stop() throws {
        isStopped.store(true, ordering: .relaxed)
        hasEnded.wait()
        if let error = failure.withLock({ $0 }) { throw error }
    }

    private func play(port: Int, room: String, stream: PublishedStream) throws {
        var connection = try HTTPExchange(port: port)
        let path = try Self.mediaPath(room: room, connection: &connection) { self.isStopped.load(ordering: .relaxed) }
        var directives = ""
        while !isStopped.load(ordering: .relaxed) {
            let (status, body) = try connection.get(path + directives)
            guard status == 200 else { throw ToolFailure("a playlist is answered with \(status)") }
            let snapshot = Self.read(String(decoding: body, as: UTF8.self), path: path)
            directives = snapshot.nextDirectives
            guard !snapshot.partPath.isEmpty else {
                Thread.sleep(forTimeInterval: 0.1)
                continue
            }
            let isNew = latest.withLock { latest in
                defer { latest = snapshot }
                return latest.partPath != snapshot.partPath
            }
            guard isNew else { continue }
            let (partStatus, part) = try connection.get(snapshot.partPath)
            let now = MonotonicTime.now()
            guard partStatus == 200 else { throw ToolFailure("a part is answered with \(partStatus)") }
            if let delay = stream.delay(ofLastFrameIn: part, arrival: now) { delays.withLock { $0.add(delay) } }
            parts.withLock { parts in
                parts.append(part)
                if parts.count > Self.partLimit { parts.removeFirst() }
            }
        }
    }

    /// Returns the path of a media playlist with a new session; waits for the program to start.
    static func mediaPath(
        room: String,
        connection: inout HTTPExchange,
        isCancelled: () -> Bool = { false }
    ) throws -> String {
        while !isCancelled() {
            let (status, body) = try connection.get("/live/\(room)/index.m3u8")
            let lines = String(decoding: body, as: UTF8.self).split(separator: "\n")
            if status == 200, let line = lines.first(where: { $0.contains("media.m3u8") }) {
                return "/live/\(room)/\(line)"
            }
            Thread.sleep(forTimeInterval: 0.1)
        }
        return ""
    }

    /// Parses the tags that a low-latency player needs.
    static func read(_ playlist: String, path: String) -> PlaylistSnapshot {
        let folder = path.prefix { $0 != "?" }.split(separator: "/").dropLast().map { "/" + $0 }.joined() + "/"
        func uri(_ line: Substring) -> Substring? {
            guard let start = line.firstRange(of: "URI=\"") else { return nil }
            return line[start.upperBound...].prefix { $0 != "\"" }
        }
        var snapshot = PlaylistSnapshot(playlist: playlist)
        for line in playlist.split(separator: "\n") {
            if line.hasPrefix("#EXT-X-PART:"), let part = uri(line) {
                snapshot.partPath = folder + part
                if line.contains("INDEPENDENT=YES") { snapshot.firstPath = snapshot.partPath }
            } else if line.hasPrefix("#EXT-X-PART-INF:") {
                let seconds = line.split(separator: "=").last.flatMap { Double($0) }
                snapshot.partMilliseconds = seconds.map { Int64($0 * 1000) }
            } else if line.hasPrefix("#EXT-X-MAP:"), let map = uri(line) {
                snapshot.initializationPath = folder + map
            } else if line.hasPrefix("#EXT-X-PRELOAD-HINT:"), let hint = uri(line) {
                // The URI is named sSEQUENCE.pPART.m4s.
                let numbers =
                    hint.split(separator: "/").last?.split(separator: ".").prefix(2).map { $0.dropFirst() } ?? []
                guard numbers.count == 2 else { continue }
                // A URI with the session in its path has no query.
                let sign = path.contains("?") ? "&" : "?"
                snapshot.nextDirectives = "\(sign)_HLS_msn=\(numbers[0])&_HLS_part=\(numbers[1])"
            }
        }
        return snapshot
    }
}
