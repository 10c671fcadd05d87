/// Puts the target's RTMP messages together out of chunks (Adobe RTMP specification 1.0, 5.3).
///
/// librtmp has a reader, but it believes what it reads: lengths that change in mid-message make it write past its
/// memory. A push needs only small messages from its target, so this one is strict, and gives up on anything large.
struct ServerMessageReader: Sendable {
    struct Message: Sendable, Equatable {
        var type: UInt8
        var body: [UInt8]
    }

    /// What no honest target sends to a publisher.
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

    /// Takes bytes as they came.
    mutating func append(_ bytes: some Collection<UInt8>) {
        input.append(contentsOf: bytes)
    }

    /// Bytes that are no chunks, as the handshake's; nil until all are here.
    mutating func takeRaw(_ count: Int) -> [UInt8]? {
        guard input.count >= count else { return nil }
        defer { input.removeFirst(count) }
        return Array(input.prefix(count))
    }

    /// The next whole message; nil when more bytes are needed.
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

    /// One chunk: nil when it is not all here, `.some(nil)` when its message goes on.
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
            // A new message in the middle of another is not something to guess about.
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
