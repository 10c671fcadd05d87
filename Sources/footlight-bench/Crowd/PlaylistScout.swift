import FootlightTesting
import Foundation
import Media
import Synchronization

/// One prompt player of low latency ahead of a crowd: it knows what is newest, and how old that was when it came.
final class PlaylistScout: Sendable {
    /// A playlist as it stood.
    struct News: Sendable {
        /// The playlist's text.
        var playlist = ""
        /// Where its newest part is.
        var partPath = ""
        /// The newest part from which a player can begin.
        var firstPath = ""
        /// Where the initialization is.
        var initializationPath = ""
        /// Milliseconds that a part lasts at most.
        var partMilliseconds: Int64?
        /// What the next playlist is asked for by.
        var nextDirectives = ""
    }

    private let latest = Mutex(News())
    private let parts = Mutex<[[UInt8]]>([])
    private let delays = Mutex(Samples())
    private let failure = Mutex<(any Error)?>(nil)
    private let isStopped = Atomic(false)
    private let hasEnded = DispatchSemaphore(value: 0)

    /// Parts kept to choose from.
    private static let kept = 12

    /// Begins to play.
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

    /// What is newest; nil before there is anything.
    var news: News? { latest.withLock { $0.partPath.isEmpty ? nil : $0 } }

    /// Of the last parts the one whose length is in the middle.
    var middlePart: [UInt8]? {
        let sorted = parts.withLock { $0 }.sorted { $0.count < $1.count }
        return sorted.isEmpty ? nil : sorted[sorted.count / 2]
    }

    /// Milliseconds from sending the last picture of a part to the part's last byte here.
    var pictureDelays: Samples { delays.withLock { $0 } }

    /// Leaves, and throws what went wrong; called once.
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
            let news = Self.read(String(decoding: body, as: UTF8.self), path: path)
            directives = news.nextDirectives
            guard !news.partPath.isEmpty else {
                Thread.sleep(forTimeInterval: 0.1)
                continue
            }
            let isNew = latest.withLock { latest in
                defer { latest = news }
                return latest.partPath != news.partPath
            }
            guard isNew else { continue }
            let (partStatus, part) = try connection.get(news.partPath)
            let now = MonotonicTime.now()
            guard partStatus == 200 else { throw ToolFailure("a part is answered with \(partStatus)") }
            if let delay = stream.delay(ofLastPictureIn: part, arrival: now) { delays.withLock { $0.add(delay) } }
            parts.withLock { parts in
                parts.append(part)
                if parts.count > Self.kept { parts.removeFirst() }
            }
        }
    }

    /// Where a player of its own finds its media playlist; waits for the program to begin.
    static func mediaPath(
        room: String,
        connection: inout HTTPExchange,
        isGivenUp: () -> Bool = { false }
    ) throws -> String {
        while !isGivenUp() {
            let (status, body) = try connection.get("/live/\(room)/index.m3u8")
            let lines = String(decoding: body, as: UTF8.self).split(separator: "\n")
            if status == 200, let line = lines.first(where: { $0.contains("media.m3u8") }) {
                return "/live/\(room)/\(line)"
            }
            Thread.sleep(forTimeInterval: 0.1)
        }
        return ""
    }

    /// Reads what of a playlist a player of low latency needs.
    static func read(_ playlist: String, path: String) -> News {
        let folder = path.prefix { $0 != "?" }.split(separator: "/").dropLast().map { "/" + $0 }.joined() + "/"
        func uri(_ line: Substring) -> Substring? {
            guard let start = line.firstRange(of: "URI=\"") else { return nil }
            return line[start.upperBound...].prefix { $0 != "\"" }
        }
        var news = News(playlist: playlist)
        for line in playlist.split(separator: "\n") {
            if line.hasPrefix("#EXT-X-PART:"), let part = uri(line) {
                news.partPath = folder + part
                if line.contains("INDEPENDENT=YES") { news.firstPath = news.partPath }
            } else if line.hasPrefix("#EXT-X-PART-INF:") {
                news.partMilliseconds = line.split(separator: "=").last.flatMap { Double($0) }.map { Int64($0 * 1000) }
            } else if line.hasPrefix("#EXT-X-MAP:"), let map = uri(line) {
                news.initializationPath = folder + map
            } else if line.hasPrefix("#EXT-X-PRELOAD-HINT:"), let hint = uri(line) {
                // Named sSEQUENCE.pPART.m4s.
                let numbers =
                    hint.split(separator: "/").last?.split(separator: ".").prefix(2).map { $0.dropFirst() } ?? []
                guard numbers.count == 2 else { continue }
                // An address that names its session in the path has no query.
                let sign = path.contains("?") ? "&" : "?"
                news.nextDirectives = "\(sign)_HLS_msn=\(numbers[0])&_HLS_part=\(numbers[1])"
            }
        }
        return news
    }
}
