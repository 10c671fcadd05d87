import Foundation

/// One player's place in the crowd: players come to it one after the other, and leave.
///
/// Moved by a sweep some forty times a second, on one thread.
final class OraclePlayer {
    private enum Phase {
        /// Nobody, or somebody who is away, until then.
        case waiting(until: Double)
        /// Connected and asked; what comes first is still to be read.
        case opening
        /// A player by connection: media flows.
        case flowing
        /// A player by requests: the next playlist is asked for then.
        case resting(until: Double)
        /// An answer to a playlist is under way.
        case asking
        /// Media that the playlist named is under way; the next playlist is asked for then.
        case fetching(until: Double)
        case over
    }

    /// Bytes that come before any media; a key picture has more.
    private static let mostBeforeMedia = 1000

    private let place: OraclePlace
    private let kind: OracleLife.Kind
    private let port: Int
    /// Where its connections come from.
    private let origin: UInt32
    private var phase: Phase
    private var socket: OracleSocket?
    private var unread: [UInt8] = []
    /// What names its session, once it was let in.
    private var sid: String?
    private var path = ""
    /// Bytes of the media under way that are still to come; nil while its head is.
    private var rest: Int?
    private var lastSequence: Int?
    private var leaveAt = 0.0
    private var blip: (at: Double, length: Double)?
    /// Since when it is away for a moment.
    private var awaySince: Double?
    private var nextAcknowledgement = 0.0
    /// Bytes of its connection that came behind the answer to its request.
    private var flowed = 0
    private var letInAt = 0.0
    private var asked = 0.0
    private var life: OracleLife
    private(set) var lives: [OracleLife] = []

    /// - Parameter number: Tells it from the others of its kind.
    init(_ kind: OracleLife.Kind, _ number: Int, _ place: OraclePlace) {
        self.kind = kind
        self.place = place
        port = place.ports[kind] ?? 0
        origin = Self.origin(of: kind, number)
        // Every other place is one device's, whoever plays on it; the rest do not say.
        let device = kind.isConnection || Bool.random() ? nil : UUID().uuidString.replacing("-", with: "")
        life = OracleLife(kind: kind, device: device)
        phase = .waiting(until: .random(in: 0...place.script.ramp))
    }

    /// Behind a cache each has an address of its own of this machine, for that is what the gateway is told of it.
    private static func origin(of kind: OracleLife.Kind, _ number: Int) -> UInt32 {
        let network: UInt32
        switch kind {
        case .rtmp, .flv, .hls, .llhls: return OracleSocket.loopback
        case .nginx: network = 0x7F0A_0000
        case .log: network = 0x7F14_0000
        }
        return network | UInt32(truncatingIfNeeded: number / 250 % 250) << 8 | UInt32(1 + number % 250)
    }

    /// Does what is due.
    func move(_ now: Double, _ buffer: UnsafeMutableRawBufferPointer) {
        if case .over = phase { return }
        if isPlaying, now >= min(leaveAt, place.script.end) { return leave(now) }
        if isPlaying, let blip, now >= blip.at { return goAway(now, for: blip.length) }
        switch phase {
        case .over: break
        case .waiting(let until):
            guard now >= until else { return }
            // Whoever would come now could not stay long enough to be counted for sure.
            if sid == nil, now > place.script.end - OracleScript.shortest { return phase = .over }
            open(now)
        case .opening: read(now, buffer, isDropped: false)
        case .flowing:
            read(now, buffer, isDropped: true)
            acknowledge(now)
        case .resting(let until):
            if now >= until { ask(now) }
        case .asking: read(now, buffer, isDropped: false)
        case .fetching(let next): fetch(now, until: next, buffer)
        }
    }

    /// Somebody is in the place who was let in.
    private var isPlaying: Bool { sid != nil }

    // MARK: Coming and going

    private func open(_ now: Double) {
        unread = []
        guard let made = OracleSocket(port: port, from: origin) else { return retry(now) }
        let session = sid.map { "?sid=\($0)" } ?? ""
        let opening: [UInt8]
        switch kind {
        case .rtmp:
            opening = PlayDialogue(port: port, application: "live", stream: place.room + session).hello
        case .flv: opening = request("/live/\(place.room).flv\(session)")
        case .hls, .llhls, .nginx, .log: opening = path.isEmpty ? indexRequest : playlistRequest
        }
        asked = now
        awaySince = nil
        guard made.send(opening) else { return retry(now) }
        socket = consume made
        phase = kind.isConnection || path.isEmpty ? .opening : .asking
    }

    private func retry(_ now: Double) {
        close(now)
        phase = .waiting(until: now + .random(in: 0.2...0.8))
    }

    private func close(_ now: Double) {
        socket = nil
        unread = []
        rest = nil
        if kind.isConnection, let last = life.spans.indices.last, life.spans[last].close == .infinity {
            life.spans[last].close = now
        }
    }

    private func goAway(_ now: Double, for length: Double) {
        blip = nil
        // Not before it is proven, so that it can be known whether it counts.
        guard isProven(now) else { return }
        close(now)
        awaySince = now
        phase = .waiting(until: now + length)
    }

    private func leave(_ now: Double) {
        // After a kill a player may have to be proven anew, and stays for it, unless all is over.
        guard isProven(now) || now >= place.script.end else {
            leaveAt = now + 1
            return
        }
        close(now)
        // Who does not come back from a moment away left when that began.
        life.left = awaySince ?? now
        awaySince = nil
        lives.append(life)
        life = OracleLife(kind: kind, device: life.device)
        (sid, path, lastSequence, blip) = (nil, "", nil, nil)
        phase = now < place.script.end ? .waiting(until: now + place.script.pause()) : .over
    }

    /// Whether the gateway has surely seen enough of it by now, whatever it forgot.
    private func isProven(_ now: Double) -> Bool {
        if kind.isConnection {
            return life.spans.last.map { $0.close == .infinity && now - $0.open > 8 } ?? false
        }
        return life.answers.suffix(4).first.map { life.answers.count >= 4 && now - $0 > 5 } ?? false
    }

    private func letIn(_ sid: String, _ now: Double) {
        guard self.sid == nil else { return }
        self.sid = sid
        leaveAt = min(now + place.script.stay(), place.script.lastMoment())
        blip = place.script.blip().map { (now + $0.after, $0.length) }
    }

    // MARK: What comes

    private func read(_ now: Double, _ buffer: UnsafeMutableRawBufferPointer, isDropped: Bool) {
        while true {
            guard let reading = socket?.read(buffer, isDropped: isDropped) else { return }
            switch reading {
            case .nothing:
                return
            case .closed:
                // The gateway is gone, or lets this player go: it comes back in a moment, as players do.
                return retry(now)
            case .bytes(let count):
                guard !isDropped else {
                    noteMedia(count, now)
                    if count < buffer.count { return }
                    continue
                }
                unread += buffer[..<count]
                take(now)
                if case .opening = phase { continue }
                if case .asking = phase { continue }
                return
            }
        }
    }

    private func take(_ now: Double) {
        switch kind {
        case .rtmp: takeRTMP(now)
        case .flv: takeFLV(now)
        case .hls, .llhls, .nginx, .log: takeAnswer(now)
        }
    }

    private func takeRTMP(_ now: Double) {
        if unread.count >= PlayDialogue.answerLength, asked >= 0 {
            let session = sid.map { "?sid=\($0)" } ?? ""
            let dialogue = PlayDialogue(port: port, application: "live", stream: place.room + session)
            guard socket?.send(dialogue.request) == true else { return retry(now) }
            asked = -1
        }
        // In the status that says that it plays: the name `sid`, and a text of 32 characters.
        let key = Array("sid".utf8) + [2, 0, 32]
        guard unread.count > PlayDialogue.answerLength else { return }
        let said = unread[PlayDialogue.answerLength...]
        guard let found = said.indices.first(where: { said[$0...].starts(with: key) }), found + 38 <= said.endIndex
        else {
            if unread.count > 1 << 16 { retry(now) }
            return
        }
        let sid = String(decoding: said[(found + 6)..<(found + 38)], as: UTF8.self)
        flow(sid, behind: said.endIndex - found - 38, since: now, now)
    }

    private func takeFLV(_ now: Double) {
        guard let end = OracleHead.end(of: unread) else { return }
        let head = String(decoding: unread[..<end], as: UTF8.self)
        guard head.hasPrefix("HTTP/1.1 200"), let sid = head.firstMatch(of: /X-Footlight-Session: (\S+)/)?.output.1
        else {
            life.refusals += 1
            return retry(now)
        }
        flow(String(sid), behind: unread.endIndex - end, since: asked, now)
    }

    private func flow(_ sid: String, behind count: Int, since begin: Double, _ now: Double) {
        letIn(sid, now)
        unread = []
        nextAcknowledgement = now + 10
        (flowed, letInAt) = (0, begin)
        phase = .flowing
        noteMedia(count, now)
    }

    /// Media begins with the first bytes that are too many for what is said before it: after a restart the program may
    /// come later than its viewers.
    private func noteMedia(_ count: Int, _ now: Double) {
        let isFirst = flowed <= Self.mostBeforeMedia
        flowed += count
        if isFirst, flowed > Self.mostBeforeMedia { life.spans.append(OracleLife.Span(letIn: letInAt, open: now)) }
    }

    /// A server asks now and then whether somebody is there, and takes any byte for an answer.
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
        request("/live/\(place.room)/index.m3u8" + (life.device.map { "?did=\($0)" } ?? ""))
    }

    /// What the addresses in its playlist begin with.
    private var folder: Substring {
        let whole = path.prefix { $0 != "?" }
        return whole[...(whole.lastIndex(of: "/") ?? whole.startIndex)]
    }

    /// By parts: the playlist that has one segment more, which is answered when there is one.
    private var playlistRequest: [UInt8] {
        guard kind == .llhls, let lastSequence else { return request(path) }
        return request("\(path)\(path.contains("?") ? "&" : "?")_HLS_msn=\(lastSequence + 1)")
    }

    private func ask(_ now: Double) {
        guard socket != nil else { return open(now) }
        asked = now
        phase = .asking
        if path.isEmpty { phase = .opening }
        if socket?.send(path.isEmpty ? indexRequest : playlistRequest) != true { retry(now) }
    }

    private func takeAnswer(_ now: Double) {
        guard let answer = OracleAnswer(unread) else { return }
        unread = []
        guard answer.status == 200 else {
            life.refusals += 1
            // Beyond the end of a new life of the program, or before its beginning: from the newest on, then.
            lastSequence = nil
            return phase = .resting(until: now + 0.5)
        }
        if path.isEmpty {
            guard let line = answer.lines.first(where: { !$0.hasPrefix("#") }) else { return retry(now) }
            path = "/live/\(place.room)/\(line)"
            letIn(String(line), now)
            return phase = .resting(until: now)
        }
        life.answers.append(now)
        lastSequence = answer.lastSequence
        let isBlocking = kind == .llhls && lastSequence != nil
        let next = isBlocking ? now : asked + OracleScript.poll * .random(in: 0.9...1.1)
        guard let media = answer.newestMedia(byPart: kind == .llhls) else {
            return phase = .resting(until: max(next, now))
        }
        rest = nil
        phase = .fetching(until: next)
        if socket?.send(request(folder + media)) != true { retry(now) }
    }

    // MARK: Media

    /// Reads media to its end, and drops it.
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
                guard let head = OracleHead(unread) else { continue }
                rest = max(0, head.length + head.bodyLength - unread.count)
                unread = []
                if head.status == 200 { life.files += 1 } else { life.refusals += 1 }
            }
        }
        rest = nil
        phase = .resting(until: max(next, now))
    }
}
