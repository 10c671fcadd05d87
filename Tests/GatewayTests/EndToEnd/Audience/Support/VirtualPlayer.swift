import FootlightTesting
import Foundation
import Glibc

/// What of an HLS player is seen from outside: its requests, on one connection that it keeps.
struct VirtualPlayer {
    private struct Answer {
        var status = 0
        var body: ArraySlice<UInt8> = []

        var lines: [Substring] { String(decoding: body, as: UTF8.self).split(separator: "\n") }
    }

    /// By parts or by segments.
    let isLowLatency: Bool
    private let port: Int
    private let room: String
    private var descriptor: Int32 = -1
    private var address = ""
    private var lastSequence = 0

    init(port: Int, room: String, isLowLatency: Bool) {
        self.port = port
        self.room = room
        self.isLowLatency = isLowLatency
    }

    /// Begins to play: the playlist that is this player's own, the media playlist, and the newest segment.
    mutating func join() throws {
        let index = try get("/live/\(room)/index.m3u8")
        guard let line = index.lines.first(where: { !$0.hasPrefix("#") }) else { throw failure("no playlist", index) }
        address = "/live/\(room)/\(line)"
        _ = try get("/live/\(room)/\(try poll())")
    }

    /// Asks for the media playlist once more.
    ///
    /// - Returns: The newest segment in it.
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
        return newest
    }

    /// A request under another name; the cache has an answer for it, or the gateway refuses it.
    mutating func ask(sid: String) throws {
        _ = try get("/live/\(room)/media.m3u8?sid=\(sid)", expecting: [200, 403])
    }

    mutating func leave() {
        guard descriptor >= 0 else { return }
        close(descriptor)
        descriptor = -1
    }

    // MARK: HTTP

    /// A connection that was closed meanwhile is made anew, once.
    private mutating func get(_ path: String, expecting statuses: Set<Int> = [200]) throws -> Answer {
        for isSecond in [false, true] {
            do {
                if descriptor < 0 { descriptor = try connect() }
                try send("GET \(path) HTTP/1.1\r\nHost: footlight\r\nUser-Agent: VLC/3.0.20 LibVLC/3.0.20\r\n\r\n")
                let answer = try receive()
                guard statuses.contains(answer.status) else { throw failure(path, answer) }
                return answer
            } catch {
                leave()
                if isSecond { throw error }
            }
        }
        throw ToolFailure("no answer to \(path)")
    }

    private func connect() throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var deadline = timeval(tv_sec: 5, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &deadline, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(truncatingIfNeeded: port)).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else {
            close(descriptor)
            throw ToolFailure("a player cannot connect", log: String(cString: strerror(errno)))
        }
        return descriptor
    }

    private func send(_ text: String) throws {
        let bytes = Array(text.utf8)
        guard Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
            throw ToolFailure("a player cannot ask")
        }
    }

    /// Reads one answer, whose length its header says.
    private func receive() throws -> Answer {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        var end: (head: Int, body: Int)?
        while end.map({ bytes.count < $0.body }) ?? true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { throw ToolFailure("a player was left without an answer") }
            bytes += buffer[..<count]
            if end == nil, let head = Self.headEnd(bytes) {
                let text = String(decoding: bytes[..<head], as: UTF8.self).lowercased()
                guard let length = text.firstMatch(of: /content-length: (\d+)/).flatMap({ Int($0.output.1) }) else {
                    throw ToolFailure("an answer without a length", log: text)
                }
                end = (head, head + length)
            }
        }
        let head = String(decoding: bytes[..<(end?.head ?? 0)], as: UTF8.self)
        let status = head.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return Answer(status: status, body: bytes[(end?.head ?? 0)...])
    }

    /// Behind the empty line; headers are short, so that looking again from the start costs little.
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
