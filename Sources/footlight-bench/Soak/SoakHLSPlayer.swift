import FootlightTesting
import Foundation
import FoundationNetworking
import Media
import Synchronization

/// A viewer by HLS: fetches the playlist about once a second, and each segment that is new in it.
final class SoakHLSPlayer: Sendable {
    /// What went wrong.
    private final class Faults: Sendable {
        let list = Mutex<[String]>([])
    }

    /// Segments last two seconds; so long without a new one, and a player would stand still.
    private static let patience = 8.0
    /// Seconds in which the program is there.
    private static let start = 30.0

    private let found: Faults
    private let task: Task<Void, Never>

    init(_ url: String) {
        let found = Faults()
        self.found = found
        task = Task {
            do {
                try await Self.play(url) { fault in found.list.withLock { $0.append(fault) } }
            } catch {
                // A sleep that was cut short by the end is no fault.
                guard !Task.isCancelled else { return }
                found.list.withLock { $0.append("a viewer by HLS gave up: \(error)") }
            }
        }
    }

    /// Requests that were refused, and times without anything new.
    var faults: [String] { found.list.withLock { $0 } }

    func leave() async {
        task.cancel()
        await task.value
    }

    private static func play(_ url: String, _ report: (String) -> Void) async throws {
        guard let index = URL(string: url) else { throw ToolFailure("no URL: \(url)") }
        let media = try await mediaPlaylist(of: index)
        var known = ""
        var newestAt = MonotonicTime.now()
        while !Task.isCancelled {
            let (status, data) = try await fetch(media)
            let newest = lines(data).last { !$0.hasPrefix("#") } ?? known
            if status != 200 {
                report("a playlist was answered with \(status)")
            } else if newest != known, let segment = URL(string: newest, relativeTo: media) {
                known = newest
                newestAt = .now()
                let (status, body) = try await fetch(segment)
                if status != 200 || body.isEmpty { report("a segment was answered with \(status)") }
            } else if MonotonicTime.now().seconds(since: newestAt) > patience {
                report("no new segment for \(patience) s")
                newestAt = .now()
            }
            try await Task.sleep(for: .seconds(1))
        }
    }

    /// The first media playlist that the index names, as soon as there is one.
    private static func mediaPlaylist(of index: URL) async throws -> URL {
        let deadline = MonotonicTime.now().advanced(seconds: start)
        while MonotonicTime.now() < deadline {
            let (status, data) = try await fetch(index)
            if status == 200, let line = lines(data).first(where: { !$0.hasPrefix("#") }),
                let media = URL(string: line, relativeTo: index)
            {
                return media
            }
            try await Task.sleep(for: .milliseconds(300))
        }
        throw ToolFailure("no playlist within \(start) s")
    }

    private static func lines(_ data: Data) -> [String] {
        String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private static func fetch(_ url: URL) async throws -> (status: Int, body: Data) {
        let (data, response) = try await URLSession.shared.data(for: URLRequest(url: url, timeoutInterval: 10))
        return ((response as? HTTPURLResponse)?.statusCode ?? 0, data)
    }
}
