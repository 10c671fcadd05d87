/// Scans the data sent to a new viewer for the end of its first keyframe, without storing it.
protocol StreamScanner {
    /// Scans the next bytes; nil while there is no result.
    mutating func scan(_ bytes: UnsafeRawBufferPointer) -> ScanResult?
    /// The bytes that the viewer sends every two seconds while it watches; nil for none.
    var keepAlive: [UInt8]? { get }
}

extension StreamScanner {
    var keepAlive: [UInt8]? { nil }
}

/// The result of a scan.
enum ScanResult {
    /// The viewer must send these bytes to receive more.
    case send([UInt8])
    /// The first keyframe is complete; by HLS, the segment that begins with it.
    case keyframe
    case refused
}

/// The first two bytes of an FLV video tag, which identify a keyframe of H.264 (FLV 10.1, E.4.3).
struct VideoTagHeader {
    private var first: UInt8 = 0
    private var second: UInt8 = 0

    /// Records the byte at an offset of the message.
    mutating func record(_ byte: UInt8, at offset: Int) {
        if offset == 0 { first = byte }
        if offset == 1 { second = byte }
    }

    /// Whether the tag is an AVC keyframe, and no configuration.
    var isKeyframe: Bool { first == 0x17 && second == 1 }
}

/// Scans RTMP chunks (RTMP 1.0, 5.3), after the server's part of the handshake.
struct RTMPScanner: StreamScanner {
    private struct Message {
        var length = 0
        var type: UInt8 = 0
        var isExtended = false
        /// Bytes received so far.
        var received = 0
        var tagHeader = VideoTagHeader()
        /// The beginning of a command.
        var text: [UInt8] = []
    }

    private static let headerLengths = [11, 7, 3, 0]
    private static let status = Array("NetStream.Play.".utf8)
    private static let textLength = 512

    private var handshake = RTMPPlayHandshake.responseLength
    private var chunkSize = 128
    private var messages: [UInt8: Message] = [:]
    private var header: [UInt8] = []
    /// The chunk stream of the current chunk, and its missing bytes.
    private var current: (stream: UInt8, remaining: Int)?

    mutating func scan(_ bytes: UnsafeRawBufferPointer) -> ScanResult? {
        var position = min(handshake, bytes.count)
        handshake -= position
        while position < bytes.count {
            if let (stream, remaining) = current {
                let count = min(remaining, bytes.count - position)
                let chunk = UnsafeRawBufferPointer(rebasing: bytes[position..<position + count])
                position += count
                current = remaining > count ? (stream, remaining - count) : nil
                if let result = scan(chunk, of: stream) { return result }
            } else {
                header.append(bytes[position])
                position += 1
                readHeader()
            }
        }
        return nil
    }

    private mutating func scan(_ chunk: UnsafeRawBufferPointer, of stream: UInt8) -> ScanResult? {
        var message = messages[stream] ?? Message()
        if message.received < 2 {
            for (index, byte) in chunk.prefix(2).enumerated() {
                message.tagHeader.record(byte, at: message.received + index)
            }
        }
        if message.type != 8, message.type != 9 { message.text += chunk.prefix(Self.textLength - message.text.count) }
        message.received += chunk.count
        guard message.received >= message.length else {
            messages[stream] = message
            return nil
        }
        defer {
            message.received = 0
            message.text = []
            messages[stream] = message
        }
        switch message.type {
        case 1:
            chunkSize = max(message.text.prefix(4).reduce(0) { $0 << 8 | Int($1) }, 1)
            return nil
        case 9: return message.tagHeader.isKeyframe ? .keyframe : nil
        case 20: return isRefusal(message.text) ? .refused : nil
        default: return nil
        }
    }

    private func isRefusal(_ command: [UInt8]) -> Bool {
        guard let range = command.firstRange(of: Self.status) else { return false }
        let code = command[range.upperBound...]
        return code.starts(with: Array("Failed".utf8)) || code.starts(with: Array("StreamNotFound".utf8))
    }

    /// Starts a chunk when its header is complete; both servers use chunk stream IDs of one byte.
    private mutating func readHeader() {
        let format = Int(header[0] >> 6)
        let stream = header[0] & 0x3F
        let length = Self.headerLengths[format]
        guard header.count > length else { return }
        var message = messages[stream] ?? Message()
        if length >= 3 { message.isExtended = header[1...3].allSatisfy { $0 == 0xFF } }
        guard header.count > length + (message.isExtended ? 4 : 0) else { return }
        if length >= 7 {
            message.length = header[4...6].reduce(0) { $0 << 8 | Int($1) }
            message.type = header[7]
        }
        messages[stream] = message
        header.removeAll(keepingCapacity: true)
        let remaining = min(chunkSize, message.length - message.received)
        if remaining > 0 { current = (stream, remaining) }
    }
}

/// Scans an HTTP response whose body is FLV (FLV 10.1, annex E).
struct FLVScanner: StreamScanner {
    private static let end = Array("\r\n\r\n".utf8)
    private static let fileHeaderLength = 13

    private var answer: [UInt8]? = []
    private var header: [UInt8] = []
    /// Bytes to skip.
    private var skipped = FLVScanner.fileHeaderLength
    private var tag: (type: UInt8, length: Int, received: Int, tagHeader: VideoTagHeader)?

    mutating func scan(_ bytes: UnsafeRawBufferPointer) -> ScanResult? {
        var bytes = bytes[...]
        if var answer {
            answer += bytes
            guard let range = answer.firstRange(of: Self.end) else {
                self.answer = answer
                return nil
            }
            guard answer.starts(with: Array("HTTP/1.1 200".utf8)) else { return .refused }
            bytes = bytes.suffix(answer.count - range.upperBound)
            self.answer = nil
        }
        while !bytes.isEmpty {
            if skipped > 0 {
                let count = min(skipped, bytes.count)
                skipped -= count
                bytes = bytes.dropFirst(count)
            } else if var current = tag {
                let count = min(current.length - current.received, bytes.count)
                if current.received < 2 {
                    for (index, byte) in bytes.prefix(min(2, count)).enumerated() {
                        current.tagHeader.record(byte, at: current.received + index)
                    }
                }
                current.received += count
                bytes = bytes.dropFirst(count)
                tag = current.received < current.length ? current : nil
                guard tag == nil else { continue }
                skipped = 4
                if current.type == 9, current.tagHeader.isKeyframe { return .keyframe }
            } else {
                header.append(bytes[bytes.startIndex])
                bytes = bytes.dropFirst()
                guard header.count == 11 else { continue }
                let length = header[1...3].reduce(0) { $0 << 8 | Int($1) }
                tag = length > 0 ? (header[0], length, 0, VideoTagHeader()) : nil
                if length == 0 { skipped = 4 }
                header.removeAll(keepingCapacity: true)
            }
        }
        return nil
    }
}

/// Joins by HLS as a player does: its own multivariant playlist with a new session, the media playlist, the
/// initialization section, and the newest complete segment.
struct HLSScanner: StreamScanner {
    private enum Step {
        case multivariant
        case media
        case initialization(segment: String)
        case segment
    }

    private let folder: String
    private var step = Step.multivariant
    /// The response so far; bodies of media are not stored.
    private var answer: [UInt8] = []
    /// Bytes of such a body still to be received.
    private var remaining: Int?
    private(set) var keepAlive: [UInt8]?

    init(room: String) {
        folder = "/live/\(room)/"
    }

    mutating func scan(_ bytes: UnsafeRawBufferPointer) -> ScanResult? {
        if let left = remaining {
            remaining = left - bytes.count
        } else {
            answer += bytes
            guard let head = ResponseHead(answer) else { return nil }
            guard head.status == 200 else { return .refused }
            switch step {
            case .multivariant, .media:
                guard answer.count >= head.length + head.bodyLength else { return nil }
                return read(String(decoding: answer[head.length...], as: UTF8.self))
            case .initialization, .segment:
                remaining = head.length + head.bodyLength - answer.count
            }
        }
        guard let left = remaining, left <= 0 else { return nil }
        remaining = nil
        answer.removeAll(keepingCapacity: true)
        guard case .initialization(let segment) = step else { return .keyframe }
        step = .segment
        return .send(HTTPExchange.request(segment))
    }

    /// Parses a playlist, and returns the next request.
    private mutating func read(_ playlist: String) -> ScanResult {
        answer.removeAll(keepingCapacity: true)
        let lines = playlist.split(whereSeparator: \.isNewline)
        if case .multivariant = step {
            guard let media = lines.first(where: { !$0.hasPrefix("#") }) else { return .refused }
            let question = HTTPExchange.request(folder + media)
            keepAlive = question
            step = .media
            return .send(question)
        }
        let snapshot = PlaylistMonitor.read(playlist, path: folder + "media.m3u8")
        guard let segment = lines.last(where: { !$0.hasPrefix("#") }), !snapshot.initializationPath.isEmpty else {
            return .refused
        }
        step = .initialization(segment: folder + segment)
        return .send(HTTPExchange.request(snapshot.initializationPath))
    }
}
