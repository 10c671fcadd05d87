import Foundation
import FoundationNetworking
import Synchronization
import TestSupport

/// Players of a room's program that do not decode, so that dozens of them are cheap.
final class Crowd {
    private(set) var rtmp: [ChildProcess] = []
    private(set) var flv: [ChildProcess] = []
    private(set) var hls: [HLSPlayer] = []
    private let gateway: GatewayProcess
    private let room: String
    private let query: String

    /// - Parameter token: The token of all players.
    init(watching room: String, on gateway: GatewayProcess, token: String? = nil) {
        self.gateway = gateway
        self.room = room
        query = token.map { "?token=\($0)" } ?? ""
    }

    /// Starts players of each kind.
    func join(rtmp: Int, flv: Int, hls: Int) throws {
        for _ in 0..<rtmp {
            let call = ["rtmpdump", "-q", "--live", "-r", gateway.rtmpURL(room: room) + query, "-o", "/dev/null"]
            self.rtmp.append(try ChildProcess(call))
        }
        for _ in 0..<flv {
            let call = ["curl", "-sS", "-f", "-N", "-o", "/dev/null", gateway.flvURL(room: room) + query]
            self.flv.append(try ChildProcess(call))
        }
        for _ in 0..<hls { self.hls.append(HLSPlayer(gateway.hlsURL(room: room) + query)) }
    }

    /// Stops players of each kind, the oldest first.
    func leave(rtmp: Int, flv: Int, hls: Int) async {
        for child in self.rtmp.prefix(rtmp) + self.flv.prefix(flv) { child.end() }
        for player in self.hls.prefix(hls) { await player.leave() }
        self.rtmp.removeFirst(rtmp)
        self.flv.removeFirst(flv)
        self.hls.removeFirst(hls)
    }

    /// Whether all players are still playing.
    var isWatching: Bool {
        rtmp.allSatisfy(\.isRunning) && flv.allSatisfy(\.isRunning) && hls.allSatisfy { $0.playlists > 0 }
    }
}

/// An HLS player that requests the playlists and the latest segments in time, without decoding.
final class HLSPlayer: Sendable {
    private let task: Task<Void, Never>
    private let fetches: FetchCount

    /// Starts playing.
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
                // The target duration is two seconds.
                try? await Task.sleep(for: .milliseconds(2050))
            }
        }
    }

    deinit { task.cancel() }

    /// The number of received media playlists with segments.
    var playlists: Int { fetches.count }

    /// Stops without notifying the server.
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
