import Foundation
import Glibc
import TestSupport

/// One slot of the crowd, in which players join and leave one after the other.
///
/// Polled some forty times a second, on one thread.
final class OraclePlayer {
    private enum Phase {
        /// No player, or one that is interrupted, until a time.
        case waiting(until: Double)
        /// Connected, with the request sent; the response is still to be parsed.
        case opening
        /// A player by connection receives media.
        case flowing
        /// A player by requests is idle until it requests the next playlist.
        case resting(until: Double)
        /// A playlist response is awaited.
        case requesting
        /// The media that the playlist named is being received; the next playlist is requested at a time.
        case fetching(until: Double)
        case over
    }

    /// The maximum number of bytes before any media; a keyframe has more.
    private static let mostBeforeMedia = 1000

    private let target: OracleTarget
    private let kind: OraclePlayback.Kind
    private let port: Int
    /// The source address of its connections.
    private let origin: UInt32
    private var phase: Phase
    private var socket: OracleSocket?
    private var unread: [UInt8] = []
    /// The session id, once admitted.
    private var sid: String?
    private var path = ""
    /// Bytes of the media still to be received; nil until its header is parsed.
    private var rest: Int?
    private var lastSequence: Int?
    private var leaveAt = 0.0
    private var interruption: (at: Double, length: Double)?
    /// The start of the current interruption.
    private var awaySince: Double?
    private var nextAcknowledgement = 0.0
    /// Bytes received on the connection after the response to its request.
    private var flowed = 0
    private var admittedAt = 0.0
    private var requestedAt = 0.0
    private var playback: OraclePlayback
    private(set) var playbacks: [OraclePlayback] = []

    /// - Parameter number: Distinguishes the player from others of its kind.
    init(_ kind: OraclePlayback.Kind, _ number: Int, _ target: OracleTarget) {
        self.kind = kind
        self.target = target
        port = target.ports[kind] ?? 0
        origin = Self.origin(of: kind, number)
        // Every other slot sends one device id for all its players; the rest send none.
        let device = kind.isConnection || Bool.random() ? nil : UUID().uuidString.replacing("-", with: "")
        playback = OraclePlayback(kind: kind, device: device)
        phase = .waiting(until: .random(in: 0...target.script.ramp))
    }

    /// Returns the source address: behind a cache each player has its own loopback address, as reported to the gateway.
    private static func origin(of kind: OraclePlayback.Kind, _ number: Int) -> UInt32 {
        let network: UInt32
        switch kind {
        case .rtmp, .flv, .hls, .llhls: return OracleSocket.loopback
        case .nginx: network = 0x7F0A_0000
        case .log: network = 0x7F14_0000
        }
        return network | UInt32(truncatingIfNeeded: number / 250 % 250) << 8 | UInt32(1 + number % 250)
    }

    /// Performs the actions that are due.
    func advance(_ now: Double, _ buffer: UnsafeMutableRawBufferPointer) {
        if case .over = phase { return }
        if isPlaying, now >= min(leaveAt, target.script.end) { return leave(now) }
        if isPlaying, let interruption, now >= interruption.at { return interrupt(now, for: interruption.length) }
        switch phase {
        case .over: break
        case .waiting(let until):
            guard now >= until else { return }
            // A new player could not stay long enough to be counted reliably.
            if sid == nil, now > target.script.end - OracleScript.shortest { return phase = .over }
            open(now)
        case .opening: read(now, buffer, isDropped: false)
        case .flowing:
            read(now, buffer, isDropped: true)
            acknowledge(now)
        case .resting(let until):
            if now >= until { requestPlaylist(now) }
        case .requesting: read(now, buffer, isDropped: false)
        case .fetching(let next): fetch(now, until: next, buffer)
        }
    }

    /// Whether an admitted player occupies the slot.
    private var isPlaying: Bool { sid != nil }

    // MARK: Joining and leaving

    private func open(_ now: Double) {
        unread = []
        guard let made = OracleSocket(port: port, from: origin) else { return retry(now) }
        let session = sid.map { "?sid=\($0)" } ?? ""
        let opening: [UInt8]
        switch kind {
        case .rtmp:
            opening = RTMPPlayHandshake(port: port, application: "live", stream: target.room + session).opening
        case .flv: opening = request("/live/\(target.room).flv\(session)")
        case .hls, .llhls, .nginx, .log: opening = path.isEmpty ? indexRequest : playlistRequest
        }
        requestedAt = now
        awaySince = nil
        guard made.send(opening) else { return retry(now) }
        socket = consume made
        phase = kind.isConnection || path.isEmpty ? .opening : .requesting
    }

    private func retry(_ now: Double) {
        close(now)
        phase = .waiting(until: now + .random(in: 0.2...0.8))
    }

    private func close(_ now: Double) {
        socket = nil
        unread = []
        rest = nil
        if kind.isConnection, let last = playback.spans.indices.last, playback.spans[last].close == .infinity {
            playback.spans[last].close = now
        }
    }

    private func interrupt(_ now: Double, for length: Double) {
        interruption = nil
        // Only after it is proven, so that it is known whether it counts.
        guard isProven(now) else { return }
        close(now)
        awaySince = now
        phase = .waiting(until: now + length)
    }

    private func leave(_ now: Double) {
        // After a kill a player may have to be proven again, and stays for that, unless the run is over.
        guard isProven(now) || now >= target.script.end else {
            leaveAt = now + 1
            return
        }
        close(now)
        // A player that does not resume after an interruption left when the interruption began.
        playback.left = awaySince ?? now
        awaySince = nil
        playbacks.append(playback)
        playback = OraclePlayback(kind: kind, device: playback.device)
        (sid, path, lastSequence, interruption) = (nil, "", nil, nil)
        phase = now < target.script.end ? .waiting(until: now + target.script.pause()) : .over
    }

    /// Whether the gateway has certainly proven the player by now, whatever it lost.
    private func isProven(_ now: Double) -> Bool {
        if kind.isConnection {
            return playback.spans.last.map { $0.close == .infinity && now - $0.open > 8 } ?? false
        }
        return playback.answers.suffix(4).first.map { playback.answers.count >= 4 && now - $0 > 5 } ?? false
    }

    private func admit(_ sid: String, _ now: Double) {
        guard self.sid == nil else { return }
        self.sid = sid
        leaveAt = min(now + target.script.stay(), target.script.lastMoment())
        interruption = target.script.interruption().map { (now + $0.after, $0.length) }
    }

    // MARK: Receiving

    private func read(_ now: Double, _ buffer: UnsafeMutableRawBufferPointer, isDropped: Bool) {
        while true {
            guard let reading = socket?.read(buffer, isDropped: isDropped) else { return }
            switch reading {
            case .nothing:
                return
            case .closed:
                // The gateway was killed or closed the connection: the player reconnects shortly.
                return retry(now)
            case .bytes(let count):
                guard !isDropped else {
                    countMedia(count, now)
                    if count < buffer.count { return }
                    continue
                }
                unread += buffer[..<count]
                parse(now)
                if case .opening = phase { continue }
                if case .requesting = phase { continue }
                return
            }
        }
    }

    private func parse(_ now: Double) {
        switch kind {
        case .rtmp: parseRTMP(now)
        case .flv: parseFLV(now)
        case .hls, .llhls, .nginx, .log: parseResponse(now)
        }
    }

    private func parseRTMP(_ now: Double) {
        if unread.count >= RTMPPlayHandshake.responseLength, requestedAt >= 0 {
            let session = sid.map { "?sid=\($0)" } ?? ""
            let dialogue = RTMPPlayHandshake(port: port, application: "live", stream: target.room + session)
            guard socket?.send(dialogue.request) == true else { return retry(now) }
            requestedAt = -1
        }
        // The status NetStream.Play.Start contains the property `sid`, a string of 32 characters.
        let key = Array("sid".utf8) + [2, 0, 32]
        guard unread.count > RTMPPlayHandshake.responseLength else { return }
        let said = unread[RTMPPlayHandshake.responseLength...]
        guard let found = said.indices.first(where: { said[$0...].starts(with: key) }), found + 38 <= said.endIndex
        else {
            if unread.count > 1 << 16 { retry(now) }
            return
        }
        let sid = String(decoding: said[(found + 6)..<(found + 38)], as: UTF8.self)
        flow(sid, behind: said.endIndex - found - 38, since: now, now)
    }

    private func parseFLV(_ now: Double) {
        guard let end = OracleResponseHead.end(of: unread) else { return }
        let head = String(decoding: unread[..<end], as: UTF8.self)
        guard head.hasPrefix("HTTP/1.1 200"), let sid = head.firstMatch(of: /X-Footlight-Session: (\S+)/)?.output.1
        else {
            playback.refusals += 1
            return retry(now)
        }
        flow(String(sid), behind: unread.endIndex - end, since: requestedAt, now)
    }

    private func flow(_ sid: String, behind count: Int, since begin: Double, _ now: Double) {
        admit(sid, now)
        unread = []
        nextAcknowledgement = now + 10
        (flowed, admittedAt) = (0, begin)
        phase = .flowing
        countMedia(count, now)
    }

    /// Counts received bytes; media starts with the first byte beyond the maximum before it, because after a restart
    /// the program may come later than its viewers.
    private func countMedia(_ count: Int, _ now: Double) {
        let isFirst = flowed <= Self.mostBeforeMedia
        flowed += count
        if isFirst, flowed > Self.mostBeforeMedia {
            playback.spans.append(OraclePlayback.Span(admitted: admittedAt, open: now))
        }
    }

    /// Sends an Acknowledgement every ten seconds, so that the server sees the player as present.
    private func acknowledge(_ now: Double) {
        guard kind == .rtmp, now >= nextAcknowledgement else { return }
        nextAcknowledgement = now + 10
        _ = socket?.send([2, 0, 0, 0, 0, 0, 4, 3, 0, 0, 0, 0, 0, 0, 0, 0])
    }

    // MARK: Playlists

    private func request(_ path: some StringProtocol) -> [UInt8] {
        Array("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: \(kind.agent)\r\n\r\n".utf8)
    }

    private var indexRequest: [UInt8] {
        request("/live/\(target.room)/index.m3u8" + (playback.device.map { "?did=\($0)" } ?? ""))
    }

    /// The base path of the URIs in the player's playlist.
    private var folder: Substring {
        let whole = path.prefix { $0 != "?" }
        return whole[...(whole.lastIndex(of: "/") ?? whole.startIndex)]
    }

    /// The next playlist request; LL-HLS players use a blocking reload for one more segment.
    private var playlistRequest: [UInt8] {
        guard kind == .llhls, let lastSequence else { return request(path) }
        return request("\(path)\(path.contains("?") ? "&" : "?")_HLS_msn=\(lastSequence + 1)")
    }

    private func requestPlaylist(_ now: Double) {
        guard socket != nil else { return open(now) }
        requestedAt = now
        phase = .requesting
        if path.isEmpty { phase = .opening }
        if socket?.send(path.isEmpty ? indexRequest : playlistRequest) != true { retry(now) }
    }

    private func parseResponse(_ now: Double) {
        guard let answer = OracleResponse(unread) else { return }
        unread = []
        guard answer.status == 200 else {
            playback.refusals += 1
            // The sequence number is beyond the end of a restarted program, or before its start: continue from the
            // newest.
            lastSequence = nil
            return phase = .resting(until: now + 0.5)
        }
        if path.isEmpty {
            guard let line = answer.lines.first(where: { !$0.hasPrefix("#") }) else { return retry(now) }
            path = "/live/\(target.room)/\(line)"
            admit(String(line), now)
            return phase = .resting(until: now)
        }
        playback.answers.append(now)
        lastSequence = answer.lastSequence
        let isBlocking = kind == .llhls && lastSequence != nil
        let next = isBlocking ? now : requestedAt + OracleScript.poll * .random(in: 0.9...1.1)
        guard let media = answer.newestMedia(byPart: kind == .llhls) else {
            return phase = .resting(until: max(next, now))
        }
        rest = nil
        phase = .fetching(until: next)
        if socket?.send(request(folder + media)) != true { retry(now) }
    }

    // MARK: Media

    /// Receives media to its end and discards it.
    private func fetch(_ now: Double, until next: Double, _ buffer: UnsafeMutableRawBufferPointer) {
        while rest != 0 {
            let most = min(rest ?? buffer.count, buffer.count)
            let piece = UnsafeMutableRawBufferPointer(rebasing: buffer[..<most])
            guard let reading = socket?.read(piece, isDropped: rest != nil) else { return }
            switch reading {
            case .nothing: return
            case .closed: return retry(now)
            case .bytes(let count):
                if let rest {
                    self.rest = rest - count
                    continue
                }
                unread += piece[..<count]
                guard let head = OracleResponseHead(unread) else { continue }
                rest = max(0, head.length + head.bodyLength - unread.count)
                unread = []
                if head.status == 200 { playback.files += 1 } else { playback.refusals += 1 }
            }
        }
        rest = nil
        phase = .resting(until: max(next, now))
    }
}

/// A client's non-blocking connection to a port of this machine.
struct OracleSocket: ~Copyable {
    enum Reading {
        case bytes(Int)
        case nothing
        case closed
    }

    /// 127.0.0.1, the kernel's default source address.
    static let loopback: UInt32 = 0x7F00_0001

    private let descriptor: Int32

    /// Connects; nil when nothing listens.
    ///
    /// - Parameter origin: The source address, one of 127.0.0.0/8.
    init?(port: Int, from origin: UInt32 = loopback) {
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(AF_INET, kind, 0)
        guard descriptor >= 0 else { return nil }
        let isBound = origin == Self.loopback || Self.with(0, origin) { Glibc.bind(descriptor, $0, $1) } == 0
        let result = isBound ? Self.with(port, Self.loopback) { Glibc.connect(descriptor, $0, $1) } : -1
        guard isBound, result == 0 || errno == EINPROGRESS else {
            close(descriptor)
            return nil
        }
        self.descriptor = descriptor
    }

    private static func with(
        _ port: Int,
        _ host: UInt32,
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(truncatingIfNeeded: port)).bigEndian
        address.sin_addr.s_addr = in_addr_t(host).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    deinit { close(descriptor) }

    /// Sends all bytes at once; false when the connection failed.
    ///
    /// The data is short and fits into the send buffer of a new loopback connection.
    borrowing func send(_ bytes: [UInt8]) -> Bool {
        Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }

    /// Reads the available bytes, up to the size of `buffer`.
    borrowing func read(_ buffer: UnsafeMutableRawBufferPointer, isDropped: Bool = false) -> Reading {
        // For TCP, MSG_TRUNC discards what was read instead of copying it (tcp(7)).
        let flags = Int32(MSG_DONTWAIT) | (isDropped ? Int32(MSG_TRUNC) : 0)
        let count = recv(descriptor, buffer.baseAddress, buffer.count, flags)
        if count > 0 { return .bytes(count) }
        return count < 0 && (errno == EAGAIN || errno == EINTR) ? .nothing : .closed
    }
}

/// The head of an HTTP response with a Content-Length.
struct OracleResponseHead {
    let status: Int
    /// Bytes up to the body.
    let length: Int
    let bodyLength: Int

    private static let limit = 4096
    private static let field = Array("\r\ncontent-length:".utf8)

    /// Parses a head; nil while it is incomplete.
    init?(_ bytes: some RandomAccessCollection<UInt8>) {
        let head = Array(bytes.prefix(Self.limit))
        guard let end = Self.end(of: head) else { return nil }
        length = end
        // `HTTP/1.1 200 OK`
        status = Self.number(in: head, from: 9) ?? 0
        bodyLength = Self.position(of: Self.field, in: head[..<end]).flatMap { Self.number(in: head, from: $0) } ?? 0
    }

    /// Returns the position after the empty line.
    static func end(of bytes: [UInt8]) -> Int? {
        let limit = min(bytes.count, limit)
        guard limit >= 4 else { return nil }
        return (0...(limit - 4)).first {
            bytes[$0] == 13 && bytes[$0 + 1] == 10 && bytes[$0 + 2] == 13 && bytes[$0 + 3] == 10
        }.map { $0 + 4 }
    }

    /// Returns the position after the first `word`, compared without case.
    private static func position(of word: [UInt8], in bytes: ArraySlice<UInt8>) -> Int? {
        guard bytes.count >= word.count else { return nil }
        return (bytes.startIndex...(bytes.endIndex - word.count)).first { start in
            word.indices.allSatisfy { offset in
                let byte = bytes[start + offset]
                return ((0x41...0x5A).contains(byte) ? byte | 0x20 : byte) == word[offset]
            }
        }.map { $0 + word.count }
    }

    private static func number(in bytes: [UInt8], from start: Int) -> Int? {
        let digits = bytes.dropFirst(start).drop { $0 == 32 }.prefix { (48...57).contains($0) }.prefix(10)
        return digits.isEmpty ? nil : digits.reduce(0) { $0 * 10 + Int($1 - 48) }
    }
}

/// A complete HTTP response.
struct OracleResponse {
    let status: Int
    let lines: [Substring]

    /// Parses a response; nil while it is incomplete.
    init?(_ bytes: [UInt8]) {
        guard let head = OracleResponseHead(bytes), bytes.count >= head.length + head.bodyLength else { return nil }
        status = head.status
        let body = bytes[head.length..<head.length + head.bodyLength]
        lines = String(decoding: body, as: UTF8.self).split(separator: "\n")
    }

    /// Returns the newest media of a playlist: the last segment, or a part that is in no segment yet.
    func newestMedia(byPart: Bool) -> Substring? {
        let newest = lines.last { !$0.hasPrefix("#") || byPart && $0.hasPrefix("#EXT-X-PART:") }
        guard let newest, newest.hasPrefix("#") else { return newest }
        return newest.firstRange(of: "URI=\"").map { newest[$0.upperBound...].prefix { $0 != "\"" } }
    }

    /// The sequence number of the last complete segment of a playlist.
    var lastSequence: Int? {
        let first = lines.first { $0.hasPrefix("#EXT-X-MEDIA-SEQUENCE:") }
            .flatMap { Int($0.dropFirst("#EXT-X-MEDIA-SEQUENCE:".count)) }
        return first.map { $0 + lines.count { !$0.hasPrefix("#") } - 1 }
    }
}
