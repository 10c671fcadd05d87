import Foundation
import Media
import NIOCore
import Stage

/// Reads a recording of arrivals sequentially; see `ArrivalHeader` for the format.
struct ArrivalReader: ~Copyable {
    enum Entry {
        case input(id: String, jitterTarget: Int, isScreenShare: Bool)
        /// - arrival: Nanoseconds since the program began.
        case packet(input: Int, arrival: Int64, MediaPacket)
        case change(step: Int64, ArrivalChange)
        case file(name: String, bytes: ByteBuffer)
        /// - steps: The program's step count at the end.
        case end(steps: Int64)
    }

    private static let chunk = 1 << 20
    /// No packet or file is as long; a larger length is damage.
    private static let longestEntry = 128 << 20
    /// Larger times and counts, of either sign, are damage; below it no sum overflows.
    private static let limit: Int64 = 1 << 50

    private let file: FileHandle
    private var buffer = ByteBuffer()
    private var isAtEnd = false
    private var lastArrival: Int64 = 0
    private var lastTimestamps: [Int64] = []
    let head: ArrivalHeader

    /// - Throws: `ArrivalError` when there is no such file, or it is no recording of arrivals.
    init(path: String) throws(ArrivalError) {
        guard let file = FileHandle(forReadingAtPath: path) else { throw ArrivalError("\(path) cannot be read") }
        var buffer = ByteBuffer()
        while buffer.readableBytes < Self.chunk, let part = Self.part(of: file) { buffer.writeBytes(part) }
        guard buffer.readBytes(length: ArrivalHeader.mark.count) == ArrivalHeader.mark else {
            throw ArrivalError("\(path) is no recording of arrivals")
        }
        guard let version = buffer.readInteger(as: UInt8.self), ArrivalHeader.versions.contains(version) else {
            throw ArrivalError("\(path) is of another version")
        }
        guard let head: ArrivalHeader = buffer.readJSON(), (try? head.configuration.validate()) != nil,
            (-Self.limit...Self.limit).contains(head.firstSample)
        else { throw ArrivalError("the head of \(path) is damaged") }
        self.file = file
        self.buffer = buffer
        self.head = head
    }

    /// Returns the next complete entry; nil where the file ends or was truncated.
    ///
    /// - Throws: `ArrivalError` for an entry that no version of this program writes.
    mutating func next() throws(ArrivalError) -> Entry? {
        while true {
            var attempt = buffer
            if let entry = try read(&attempt) {
                buffer = attempt
                return entry
            }
            guard !isAtEnd else { return nil }
            guard buffer.readableBytes < Self.longestEntry else { throw ArrivalError("an entry has no end") }
            guard let part = Self.part(of: file) else {
                isAtEnd = true
                continue
            }
            buffer.discardReadBytes()
            buffer.writeBytes(part)
        }
    }

    private static func part(of file: FileHandle) -> Data? {
        // A disk that fails in the middle is a file that ends there.
        guard let part = try? file.read(upToCount: chunk), !part.isEmpty else { return nil }
        return part
    }

    private mutating func read(_ buffer: inout ByteBuffer) throws(ArrivalError) -> Entry? {
        guard let kind = buffer.readInteger(as: UInt8.self) else { return nil }
        switch ArrivalHeader.Entry(rawValue: kind) {
        case .input:
            guard let id = buffer.readBlock(), let target = buffer.readCount(),
                let isScreenShare = buffer.readInteger(as: UInt8.self)
            else { return nil }
            lastTimestamps.append(0)
            return .input(
                id: String(buffer: id),
                jitterTarget: Int(clamping: min(target, UInt64(Self.limit))),
                isScreenShare: isScreenShare == 1
            )
        case .packet:
            return try readPacket(&buffer)
        case .change:
            guard let step = buffer.readCount(), var json = buffer.readBlock() else { return nil }
            guard let change: ArrivalChange = json.decodeJSON() else { throw ArrivalError("a change cannot be read") }
            return .change(step: Int64(clamping: min(step, UInt64(Self.limit))), change)
        case .end:
            guard buffer.readInteger(as: UInt8.self) != nil, let steps = buffer.readCount() else { return nil }
            return .end(steps: Int64(clamping: min(steps, UInt64(Self.limit))))
        case .file:
            guard let name = buffer.readBlock(), let bytes = buffer.readBlock() else { return nil }
            return .file(name: String(buffer: name), bytes: ByteBuffer(bytes: bytes.readableBytesView))
        case nil:
            throw ArrivalError("an entry is of the unknown kind \(kind)")
        }
    }

    private mutating func readPacket(_ buffer: inout ByteBuffer) throws(ArrivalError) -> Entry? {
        guard let number = buffer.readCount(), let elapsed = buffer.readSigned(),
            let kind = buffer.readInteger(as: UInt8.self), let step = buffer.readSigned(),
            let composition = buffer.readSigned(), let headerLength = buffer.readCount(), let body = buffer.readBlock()
        else { return nil }
        let input = Int(clamping: number)
        guard let content = ArrivalContent(rawValue: kind)?.content, lastTimestamps.indices.contains(input) else {
            throw ArrivalError("a packet cannot be read")
        }
        lastArrival &+= elapsed
        lastTimestamps[input] &+= step
        let times = [lastArrival / 1000, lastTimestamps[input]]
        guard times.allSatisfy({ (-Self.limit...Self.limit).contains($0) }) else {
            throw ArrivalError("a packet's time makes no sense")
        }
        let packet = MediaPacket(
            content: content,
            timestamp: lastTimestamps[input],
            compositionOffset: Int32(clamping: composition),
            // A copy, or every queued packet would hold a megabyte of the file.
            body: ByteBuffer(bytes: body.readableBytesView),
            headerLength: min(Int(clamping: headerLength), body.readableBytes)
        )
        return .packet(input: input, arrival: lastArrival, packet)
    }
}

extension ByteBuffer {
    fileprivate mutating func readJSON<Value: Decodable>() -> Value? {
        guard var block = readBlock() else { return nil }
        return block.decodeJSON()
    }

    fileprivate mutating func decodeJSON<Value: Decodable>() -> Value? {
        guard let bytes = readBytes(length: readableBytes) else { return nil }
        return try? JSONDecoder().decode(Value.self, from: Data(bytes))
    }
}
