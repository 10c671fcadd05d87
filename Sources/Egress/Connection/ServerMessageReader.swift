/// Reassembles the target's RTMP messages from chunks (Adobe RTMP specification 1.0, 5.3).
///
/// librtmp's reader is not memory-safe: a length that changes in the middle of a message makes it write out of bounds.
/// A push needs only small messages from its target, so this reader is strict and refuses large ones.
struct ServerMessageReader: Sendable {
    struct Message: Sendable, Equatable {
        var type: UInt8
        var body: [UInt8]
    }

    /// A protocol violation or an exceeded limit.
    struct Violation: Error, Equatable {}

    private struct Stream: Sendable {
        var length = 0
        var type: UInt8 = 0
        var isExtended = false
        var body: [UInt8] = []
    }

    static let longestMessage = 64 << 10
    static let mostStreams = 16

    private var input: [UInt8] = []
    private var streams: [Int: Stream] = [:]
    private var chunkSize = 128

    /// Appends received bytes.
    mutating func append(_ bytes: some Collection<UInt8>) {
        input.append(contentsOf: bytes)
    }

    /// Removes and returns `count` raw bytes, such as those of the handshake; nil until all have arrived.
    mutating func removeRaw(_ count: Int) -> [UInt8]? {
        guard input.count >= count else { return nil }
        defer { input.removeFirst(count) }
        return Array(input.prefix(count))
    }

    /// Returns the next complete message; nil when more bytes are needed.
    mutating func next() throws(Violation) -> Message? {
        while true {
            switch try readChunk() {
            case .none: return nil
            case .some(.none): continue
            case .some(.some(let message)):
                guard message.type == 1 else { return message }
                try setChunkSize(message.body)
            }
        }
    }

    /// Reads one chunk; returns nil when it is incomplete, `.some(nil)` when its message continues.
    private mutating func readChunk() throws(Violation) -> Message?? {
        var cursor = 0
        func byte(_ index: Int) -> Int? { index < input.count ? Int(input[index]) : nil }

        guard let first = byte(0) else { return nil }
        cursor = 1
        var id = first & 0x3F
        if id < 2 {
            guard let second = byte(1), let third = id == 1 ? byte(2) : 0 else { return nil }
            cursor = id == 1 ? 3 : 2
            id = 64 + second + third << 8
        }
        let form = first >> 6
        let headerLength = [11, 7, 3, 0][form]
        guard input.count >= cursor + headerLength else { return nil }
        var stream = streams[id] ?? Stream()
        if streams[id] == nil, streams.count >= Self.mostStreams { throw Violation() }
        if form < 3 {
            stream.isExtended = input[cursor..<cursor + 3].allSatisfy { $0 == 0xFF }
        }
        if form < 2 {
            // A new message may not begin in the middle of another.
            guard stream.body.isEmpty else { throw Violation() }
            stream.length = Int(input[cursor + 3]) << 16 | Int(input[cursor + 4]) << 8 | Int(input[cursor + 5])
            stream.type = input[cursor + 6]
            guard stream.length <= Self.longestMessage else { throw Violation() }
        }
        cursor += headerLength + (stream.isExtended ? 4 : 0)
        let size = min(chunkSize, stream.length - stream.body.count)
        guard input.count >= cursor + size else { return nil }
        stream.body.append(contentsOf: input[cursor..<cursor + size])
        input.removeFirst(cursor + size)
        defer { streams[id] = stream }
        guard stream.body.count == stream.length else { return .some(nil) }
        let message = Message(type: stream.type, body: stream.body)
        stream.body = []
        return message
    }

    private mutating func setChunkSize(_ body: [UInt8]) throws(Violation) {
        guard body.count >= 4 else { throw Violation() }
        let size = body.prefix(4).reduce(0) { $0 << 8 | Int($1) } & 0x7FFF_FFFF
        guard size > 0 else { throw Violation() }
        chunkSize = min(size, Self.longestMessage)
    }
}

/// The target's status of the stream, parsed from an RTMP command message (Adobe RTMP specification 1.0, 7.2).
///
/// All lengths are bounded and checked, because the peer is not trusted.
struct ServerStatus: Sendable, Equatable {
    /// `onStatus`, `_error` or another command.
    var command: String
    /// The status code, such as `NetStream.Publish.BadName`; empty when there is none.
    var code: String
    var description: String
    var isError: Bool
    /// The transaction id of the command this answers; nil without one.
    var transaction: Int?
    /// The number a `_result` carries, such as the id of a created stream.
    var number: Int?

    /// Parses a command message; nil for any other message.
    init?(_ message: UnsafeRawBufferPointer) {
        var reader = AMF0Reader(message)
        guard case .string(let command)? = reader.value() else { return nil }
        self.command = command
        code = ""
        description = ""
        isError = command == "_error"
        if case .number(let number)? = reader.value() { transaction = Int(exactly: number) }
        while let value = reader.value() {
            if case .number(let found) = value { number = Int(exactly: found) }
            guard case .object(let properties) = value else { continue }
            for (name, text) in properties {
                switch name {
                case "code": code = text
                case "description": description = text
                case "level": isError = isError || text == "error"
                default: break
                }
            }
        }
    }

    /// Whether the target refuses the stream.
    ///
    /// An `_error` alone is not a refusal: many servers answer `releaseStream` with one.
    var isRefusal: Bool {
        let refused = ["BadName", "Denied", "Rejected", "InvalidApp", "Failed", "StreamNotFound"]
        return isError && refused.contains { code.hasSuffix("." + $0) }
    }

    /// Whether the target accepted the stream.
    var isPublishStart: Bool { code == "NetStream.Publish.Start" }

    /// The code and description in one line, printable and short.
    var summary: String {
        let text = [code, description].filter { !$0.isEmpty }.joined(separator: ": ")
        let printable = text.unicodeScalars.map { $0.properties.isWhitespace || $0.value < 0x20 ? " " : String($0) }
        return String((text.isEmpty ? command : printable.joined()).prefix(200))
    }
}

/// A minimal AMF0 reader for status messages: strings, and the string properties of objects.
private struct AMF0Reader {
    enum Value {
        case string(String)
        case number(Double)
        case object([(String, String)])
        case other
    }

    private var bytes: Slice<UnsafeRawBufferPointer>

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes[...]
    }

    mutating func value() -> Value? {
        guard let marker = bytes.popFirst() else { return nil }
        switch marker {
        case 0x00: return number()
        case 0x01: return skip(1) ? .other : nil
        case 0x02: return string().map { .string($0) }
        case 0x05, 0x06: return .other
        case 0x03: return properties().map { .object($0) }
        case 0x08: return skip(4) ? properties().map { .object($0) } : nil
        default: return nil
        }
    }

    private mutating func properties() -> [(String, String)]? {
        var found: [(String, String)] = []
        for _ in 0..<64 {
            guard let name = string() else { return nil }
            if name.isEmpty, bytes.first == 0x09 {
                _ = bytes.popFirst()
                return found
            }
            // Nested objects are not needed; parsing stops at the first one.
            switch bytes.first {
            case 0x03, 0x08, nil: return found
            default: break
            }
            guard let value = value() else { return found }
            if case .string(let text) = value { found.append((name, text)) }
        }
        return found
    }

    private mutating func string() -> String? {
        guard bytes.count >= 2 else { return nil }
        let length = Int(bytes[bytes.startIndex]) << 8 | Int(bytes[bytes.startIndex + 1])
        guard bytes.count >= 2 + length else { return nil }
        let text = bytes.dropFirst(2).prefix(length)
        bytes = bytes.dropFirst(2 + length)
        return String(decoding: text, as: UTF8.self)
    }

    private mutating func number() -> Value? {
        guard bytes.count >= 8 else { return nil }
        let bits = bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        bytes = bytes.dropFirst(8)
        return .number(Double(bitPattern: bits))
    }

    private mutating func skip(_ count: Int) -> Bool {
        guard bytes.count >= count else { return false }
        bytes = bytes.dropFirst(count)
        return true
    }
}
