import FootlightTesting
import Foundation
import FoundationNetworking
import Synchronization

/// The part of an HLS player that is counted: it asks for the playlists, loads the newest segment of each, and comes back
/// for the next one in time.
final class HLSPlayer: Sendable {
    private let task: Task<Void, Never>
    private let fetches: FetchCount

    /// Begins to play.
    ///
    /// - Parameter url: The address of `index.m3u8`.
    init(_ url: String) {
        let fetches = FetchCount()
        self.fetches = fetches
        task = Task {
            guard let index = URL(string: url), let start = try? await HLSPlayer.text(index),
                let line = start.split(separator: "\n").first(where: { !$0.hasPrefix("#") }),
                let media = URL(string: String(line), relativeTo: index)
            else { return }
            while !Task.isCancelled {
                if let playlist = try? await HLSPlayer.text(media), playlist.contains("#EXTINF") {
                    fetches.add()
                    let newest = playlist.split(separator: "\n").last { !$0.hasPrefix("#") }
                    if let url = newest.flatMap({ URL(string: String($0), relativeTo: media) }) {
                        _ = try? await HLSPlayer.data(url)
                    }
                }
                // The target duration is two seconds, and a reload comes no sooner.
                try? await Task.sleep(for: .milliseconds(2050))
            }
        }
    }

    deinit { task.cancel() }

    /// How many media playlists with segments it got.
    var playlists: Int { fetches.count }

    /// Stops asking; nothing tells the server.
    func leave() async {
        task.cancel()
        await task.value
    }

    private static func text(_ url: URL) async throws -> String {
        String(decoding: try await data(url), as: UTF8.self)
    }

    private static func data(_ url: URL) async throws -> Data {
        let (data, response) = try await URLSession.shared.data(for: URLRequest(url: url, timeoutInterval: 5))
        guard (response as? HTTPURLResponse)?.statusCode == 200 else { throw ToolFailure("\(url): refused") }
        return data
    }

    private final class FetchCount: Sendable {
        private let value = Mutex(0)
        var count: Int { value.withLock { $0 } }
        func add() { value.withLock { $0 += 1 } }
    }
}
