import Foundation
import FoundationNetworking
import Media
import NIOCore
import NIOPosix
import RTMP
import Synchronization
import TestSupport

/// Viewers by RTMP, HTTP-FLV and HLS, who stay from the beginning to the end.
final class SoakAudience {
    private let rtmp: [SoakPlayer]
    /// Monitors of the first RTMP viewer's audio and video.
    let audioMonitor = SoakAudioMonitor()
    let videoMonitor = SoakVideoMonitor()
    private let flv: [SoakPlayer]
    private let hls: [SoakHLSPlayer]
    private let gateway: GatewayProcess
    private let room: String

    init(_ count: Int, room: String, _ gateway: GatewayProcess, group: MultiThreadedEventLoopGroup) {
        self.gateway = gateway
        self.room = room
        let (url, audioMonitor, videoMonitor) = (gateway.rtmpURL(room: room), audioMonitor, videoMonitor)
        rtmp = (0..<count).map { number in
            SoakPlayer(
                url,
                audioMonitor: number == 0 ? audioMonitor : nil,
                videoMonitor: number == 0 ? videoMonitor : nil,
                group: group
            )
        }
        flv = (0..<count).map { _ in SoakPlayer(flv: room, port: gateway.endpoints.httpPort, group: group) }
        hls = (0..<count).map { _ in SoakHLSPlayer(gateway.hlsURL(room: room)) }
    }

    /// Returns the longest interval without a frame at a viewer by RTMP or HTTP-FLV since the last call, in seconds.
    func drainLongestWait() -> Double { (rtmp + flv).map { $0.drainLongestWait() }.max() ?? 0 }

    /// Returns the gateway's current viewer count.
    func counted() async throws -> Int {
        try await gateway.api("GET", "/v1/rooms/\(room)/viewership").json["concurrent_viewers"].int ?? -1
    }

    /// The actual number of viewers.
    var count: Int { rtmp.count + flv.count + hls.count }

    /// The disconnected viewers, timestamp faults, and refused requests.
    var faults: [String] {
        rtmp.compactMap(\.end).map { "a viewer by RTMP was disconnected: \($0)" }
            + flv.compactMap(\.end).map { "a viewer by HTTP-FLV was disconnected: \($0)" }
            + (rtmp + flv).filter { $0.backwardSteps > 0 }.map { "timestamps decreased \($0.backwardSteps) times" }
            + (rtmp + flv).filter { $0.audioGaps > 0 }.map { "the audio had \($0.audioGaps) gaps" }
            + hls.flatMap(\.faults)
    }

    func leave() async {
        for player in rtmp + flv { player.stop() }
        for player in hls { await player.leave() }
    }
}

/// A viewer by RTMP or HTTP-FLV that checks timestamps, and optionally decodes audio and video.
final class SoakPlayer: Sendable {
    private struct State {
        /// The arrival of the last frame; before the first, the start of the viewer.
        var last = MonotonicTime.now()
        var timestamp = Int64.min
        var longestWait = 0.0
        var backwardSteps = 0
        var lastAudio: Int64?
        var audioGaps = 0
        var end: String?
        var isStopped = false
    }

    private let state = Mutex(State())
    private let player = Mutex<(any StreamPlayer)?>(nil)

    /// Plays by RTMP.
    init(
        _ url: String,
        audioMonitor: SoakAudioMonitor? = nil,
        videoMonitor: SoakVideoMonitor? = nil,
        group: any EventLoopGroup
    ) {
        let player = RTMPPlayer(
            url: url,
            group: group,
            onPacket: { [weak self] packet, arrival in
                audioMonitor?.receive(packet)
                videoMonitor?.receive(packet)
                self?.receive(packet, arrival)
            },
            onEnd: { [weak self] reason in
                self?.state.withLock { if !$0.isStopped { $0.end = reason } }
            }
        )
        self.player.withLock { $0 = player }
        player.start()
    }

    /// Plays by HTTP-FLV.
    init(flv stream: String, port: Int, group: MultiThreadedEventLoopGroup) {
        let player = FLVPlayer(
            port: port,
            dialogue: .flv(port: port, stream: stream),
            group: group,
            onPacket: { [weak self] packet, arrival in self?.receive(packet, arrival) },
            onEnd: { [weak self] in self?.state.withLock { if !$0.isStopped { $0.end = "the connection ended" } } }
        )
        self.player.withLock { $0 = player }
        player.start()
    }

    /// The reason for which the gateway ended the connection; nil while it plays.
    var end: String? { state.withLock { $0.end } }

    var backwardSteps: Int { state.withLock { $0.backwardSteps } }

    /// The number of gaps between audio frames.
    var audioGaps: Int { state.withLock { $0.audioGaps } }

    /// Returns the longest interval without a frame since the last call, in seconds, including the current one.
    func drainLongestWait() -> Double {
        state.withLock { state in
            defer { state.longestWait = 0 }
            return max(state.longestWait, MonotonicTime.now().seconds(since: state.last))
        }
    }

    func stop() {
        state.withLock { $0.isStopped = true }
        player.withLock { $0 }?.stop()
    }

    private func receive(_ packet: MediaPacket, _ arrival: MonotonicTime) {
        state.withLock { state in
            if packet.timestamp < state.timestamp { state.backwardSteps += 1 }
            state.timestamp = max(state.timestamp, packet.timestamp)
            if packet.isAudio, !packet.isConfiguration {
                // A frame lasts 21.3 ms.
                if let last = state.lastAudio, packet.timestamp - last > 23 { state.audioGaps += 1 }
                state.lastAudio = packet.timestamp
            }
            guard packet.isVideo, !packet.isConfiguration else { return }
            state.longestWait = max(state.longestWait, arrival.seconds(since: state.last))
            state.last = arrival
        }
    }
}

/// A viewer by HLS that fetches the playlist once a second, and each new segment.
final class SoakHLSPlayer: Sendable {
    /// The faults so far.
    private final class Faults: Sendable {
        let list = Mutex<[String]>([])
    }

    /// Seconds without a new segment after which a player would stall; segments last two seconds.
    private static let segmentTimeout = 8.0
    /// Seconds within which the program must start.
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
                // Cancellation at the end is no fault.
                guard !Task.isCancelled else { return }
                found.list.withLock { $0.append("a viewer by HLS gave up: \(error)") }
            }
        }
    }

    /// Refused requests, and intervals without a new segment.
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
            } else if MonotonicTime.now().seconds(since: newestAt) > segmentTimeout {
                report("no new segment for \(segmentTimeout) s")
                newestAt = .now()
            }
            try await Task.sleep(for: .seconds(1))
        }
    }

    /// Waits for the first media playlist of the multivariant playlist.
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
