import Foundation
import Glibc
import Synchronization
import TestSupport

/// The requests of an HLS player, on one persistent connection.
struct VirtualPlayer {
    private struct Answer {
        var status = 0
        var body: ArraySlice<UInt8> = []

        var lines: [Substring] { String(decoding: body, as: UTF8.self).split(separator: "\n") }
    }

    /// Whether the player uses parts.
    let isLowLatency: Bool
    private let port: Int
    private let room: String
    /// The source address, which is one of this machine's.
    private let origin: String
    private var descriptor: Int32 = -1
    private var address = ""
    private var lastSequence = 0
    /// The preload hint of the last playlist.
    private var announced: Substring = ""

    init(port: Int, room: String, from origin: String = "127.0.0.1", isLowLatency: Bool) {
        self.port = port
        self.room = room
        self.origin = origin
        self.isLowLatency = isLowLatency
    }

    /// Requests the multivariant playlist, the media playlist, and the latest segment.
    mutating func join() throws {
        try begin()
        _ = try get("/live/\(room)/\(try poll())")
    }

    /// Requests the multivariant playlist only.
    mutating func begin() throws {
        let index = try get("/live/\(room)/index.m3u8")
        guard let line = index.lines.first(where: { !$0.hasPrefix("#") }) else { throw failure("no playlist", index) }
        address = "/live/\(room)/\(line)"
    }

    /// Reloads the media playlist.
    ///
    /// - Returns: The latest segment.
    @discardableResult
    mutating func poll() throws -> Substring {
        let directives = isLowLatency && lastSequence > 0 ? "&_HLS_msn=\(lastSequence)" : ""
        let playlist = try get(address + directives)
        let lines = playlist.lines
        guard
            let first = lines.first(where: { $0.hasPrefix("#EXT-X-MEDIA-SEQUENCE:") }).flatMap({
                Int($0.split(separator: ":")[1])
            })
        else { throw failure("no sequence", playlist) }
        let segments = lines.filter { !$0.hasPrefix("#") }
        guard let newest = segments.last else { throw failure("no segment", playlist) }
        lastSequence = first + segments.count - 1
        let hint = lines.first { $0.hasPrefix("#EXT-X-PRELOAD-HINT:") }?.split(separator: "\"")
        announced = hint?.dropFirst().first ?? ""
        return newest
    }

    /// Requests the next segment by a blocking reload or by the preload hint, and waits for it.
    mutating func waitForMore(byPart: Bool) throws {
        _ = try get(byPart ? "/live/\(room)/\(announced)" : "\(address)&_HLS_msn=\(lastSequence + 1)")
    }

    /// Makes requests that do not count: HEAD, prefetch and preview.
    mutating func pretend() throws {
        _ = try get(address, by: "HEAD")
        _ = try get(address, with: "Sec-Purpose: prefetch;prerender\r\n")
        _ = try get(address, with: "Purpose: preview\r\n")
        _ = try get(address + "&_HLS_msn=\(lastSequence)", by: "HEAD")
        _ = try get(address, by: "OPTIONS", expecting: [204])
    }

    /// Sends a POST request as a page does.
    ///
    /// - Parameter origin: The forwarded address.
    /// - Returns: The status of the answer.
    mutating func post(_ path: String, _ body: String, token: String? = nil, said origin: String = "") throws -> Int {
        let host = "127.0.0.1:\(port)"
        let bearer = token.map { "Authorization: Bearer \($0)\r\n" } ?? ""
        let said = "X-Forwarded-For: \(origin)\r\n"
        let page = "Origin: http://\(host)\r\nSec-Fetch-Site: same-origin\r\nX-Footlight-Page: 1\r\n"
        let length = "Content-Length: \(body.utf8.count)\r\n"
        return try exchange("POST \(path) HTTP/1.1\r\nHost: \(host)\r\n\(bearer)\(said)\(page)\(length)\r\n\(body)")
            .status
    }

    /// Requests the media playlist with another id, which the cache serves or the gateway refuses.
    mutating func ask(sid: String) throws {
        _ = try get("/live/\(room)/media.m3u8?sid=\(sid)", expecting: [200, 403])
    }

    mutating func leave() {
        guard descriptor >= 0 else { return }
        close(descriptor)
        descriptor = -1
    }

    // MARK: HTTP

    /// - Parameter fields: Additional header lines.
    private mutating func get(
        _ path: String,
        by method: String = "GET",
        with fields: String = "",
        expecting statuses: Set<Int> = [200]
    ) throws -> Answer {
        // The forwarded address differs from the source address.
        let text = """
            \(method) \(path) HTTP/1.1\r
            Host: footlight\r
            User-Agent: VLC/3.0.20 LibVLC/3.0.20\r
            X-Forwarded-For: 203.0.113.9\r
            \(fields)\r

            """
        let answer = try exchange(text)
        guard statuses.contains(answer.status) else { throw failure(path, answer) }
        return answer
    }

    /// Sends a request; reconnects once if the connection was closed.
    private mutating func exchange(_ text: String) throws -> Answer {
        for isSecond in [false, true] {
            do {
                if descriptor < 0 { descriptor = try connect() }
                try send(text)
                return try receive(withBody: !text.hasPrefix("HEAD"))
            } catch {
                leave()
                if isSecond { throw error }
            }
        }
        throw ToolFailure("no answer", log: String(text.prefix(100)))
    }

    private func connect() throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var deadline = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &deadline, socklen_t(MemoryLayout<timeval>.size))
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = Self.with(origin, port: 0) { Glibc.bind(descriptor, $0, size) == 0 }
        let isConnected = isBound && Self.with("127.0.0.1", port: port) { Glibc.connect(descriptor, $0, size) == 0 }
        guard isConnected else {
            close(descriptor)
            throw ToolFailure("a player cannot connect", log: String(cString: strerror(errno)))
        }
        return descriptor
    }

    private static func with(_ host: String, port: Int, _ body: (UnsafePointer<sockaddr>) -> Bool) -> Bool {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(truncatingIfNeeded: port)).bigEndian
        inet_pton(AF_INET, host, &address.sin_addr)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1, body)
        }
    }

    private func send(_ text: String) throws {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { throw ToolFailure("a player cannot ask") }
            bytes = bytes.dropFirst(count)
        }
    }

    /// Reads one response with a Content-Length.
    private func receive(withBody hasBody: Bool) throws -> Answer {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        var end: (head: Int, body: Int)?
        while end.map({ bytes.count < $0.body }) ?? true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { throw ToolFailure("a player was left without an answer") }
            bytes += buffer[..<count]
            if end == nil, let head = Self.headEnd(bytes) {
                let text = String(decoding: bytes[..<head], as: UTF8.self).lowercased()
                let length = text.firstMatch(of: /content-length: (\d+)/).flatMap { Int($0.output.1) }
                guard let length = text.contains(" 204 ") ? 0 : length else {
                    throw ToolFailure("an answer without a length", log: text)
                }
                end = (head, head + (hasBody ? length : 0))
            }
        }
        let head = String(decoding: bytes[..<(end?.head ?? 0)], as: UTF8.self)
        let status = head.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return Answer(status: status, body: bytes[(end?.head ?? 0)...])
    }

    /// Returns the end of the header; short headers are rescanned from the start.
    private static func headEnd(_ bytes: [UInt8]) -> Int? {
        let limit = min(bytes.count, 4096)
        guard limit >= 4 else { return nil }
        return (0...(limit - 4)).first { bytes[$0] == 13 && bytes[$0..<$0 + 4].elementsEqual([13, 10, 13, 10]) }
            .map { $0 + 4 }
    }

    private func failure(_ what: String, _ answer: Answer) -> ToolFailure {
        ToolFailure("\(what): \(answer.status)", log: String(decoding: answer.body.prefix(400), as: UTF8.self))
    }
}

/// Virtual players that are driven by a few threads.
final class VirtualPlayerPool: Sendable {
    private final class Worker: Sendable {
        let players: Mutex<[VirtualPlayer]>

        init(_ players: [VirtualPlayer]) {
            self.players = Mutex(players)
        }
    }

    private let workers: [Worker]

    /// - Parameter workerCount: The number of concurrent players.
    init(_ players: [VirtualPlayer], workers workerCount: Int = 8) {
        workers = (0..<workerCount).map { worker in
            Worker(players.indices.filter { $0 % workerCount == worker }.map { players[$0] })
        }
    }

    /// Runs `body` for each player; sequentially within a worker.
    func each(_ body: @escaping @Sendable (inout VirtualPlayer) throws -> Void) async throws {
        try await each(atMost: .max, body)
    }

    /// Runs `body` for one player of each worker, concurrently.
    func together(_ body: @escaping @Sendable (inout VirtualPlayer) throws -> Void) async throws {
        try await each(atMost: 1, body)
    }

    private func each(
        atMost count: Int,
        _ body: @escaping @Sendable (inout VirtualPlayer) throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in workers {
                group.addTask {
                    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                        // A thread of its own, because the requests block.
                        Thread.detachNewThread {
                            continuation.resume(
                                with: Result {
                                    try worker.players.withLock { players in
                                        for index in players.indices.prefix(count) { try body(&players[index]) }
                                    }
                                }
                            )
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
