import Foundation
import Media
import NIOCore
import Stage

/// Reads a recording of arrivals from the beginning; see `ArrivalHead` for the file.
struct ArrivalReader: ~Copyable {
    enum Entry {
        case input(id: String, jitterTarget: Int, mayStandStill: Bool)
        /// - arrival: Nanoseconds since the program began.
        case packet(input: Int, arrival: Int64, MediaPacket)
        case change(step: Int64, ArrivalChange)
        case file(name: String, bytes: ByteBuffer)
        /// - steps: How many the program had made.
        case end(steps: Int64)
    }

    private static let chunk = 1 << 20
    /// No packet and no file is as long; a length beyond it is no length.
    private static let longestEntry = 128 << 20
    /// Times and counts beyond these, either way, are damage: with them nothing that is added overflows.
    private static let most: Int64 = 1 << 50

    private let file: FileHandle
    private var buffer = ByteBuffer()
    private var isAtEnd = false
    private var lastArrival: Int64 = 0
    private var lastTimestamps: [Int64] = []
    let head: ArrivalHead

    /// - Throws: `ArrivalError` when there is no such file, or it is none of ours.
    init(path: String) throws(ArrivalError) {
        guard let file = FileHandle(forReadingAtPath: path) else { throw ArrivalError("\(path) cannot be read") }
        var buffer = ByteBuffer()
        while buffer.readableBytes < Self.chunk, let part = Self.part(of: file) { buffer.writeBytes(part) }
        guard buffer.readBytes(length: ArrivalHead.mark.count) == ArrivalHead.mark else {
            throw ArrivalError("\(path) is no recording of arrivals")
        }
        guard let version = buffer.readInteger(as: UInt8.self), ArrivalHead.versions.contains(version) else {
            throw ArrivalError("\(path) is of another version")
        }
        guard let head: ArrivalHead = buffer.readJSON(), (try? head.configuration.validate()) != nil,
            (-Self.most...Self.most).contains(head.firstSample)
        else { throw ArrivalError("the head of \(path) is damaged") }
        self.file = file
        self.buffer = buffer
        self.head = head
    }

    /// The next whole entry; nil where the file ends, or was cut off.
    ///
    /// - Throws: `ArrivalError` for an entry that no version of this program wrote.
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
        switch ArrivalHead.Entry(rawValue: kind) {
        case .input:
            guard let id = buffer.readBlock(), let target = buffer.readCount(),
                let mayStandStill = buffer.readInteger(as: UInt8.self)
            else { return nil }
            lastTimestamps.append(0)
            return .input(
                id: String(buffer: id),
                jitterTarget: Int(clamping: min(target, UInt64(Self.most))),
                mayStandStill: mayStandStill == 1
            )
        case .packet:
            return try readPacket(&buffer)
        case .change:
            guard let step = buffer.readCount(), var json = buffer.readBlock() else { return nil }
            guard let change: ArrivalChange = json.decodeJSON() else { throw ArrivalError("a change cannot be read") }
            return .change(step: Int64(clamping: min(step, UInt64(Self.most))), change)
        case .end:
            guard buffer.readInteger(as: UInt8.self) != nil, let steps = buffer.readCount() else { return nil }
            return .end(steps: Int64(clamping: min(steps, UInt64(Self.most))))
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
        guard times.allSatisfy({ (-Self.most...Self.most).contains($0) }) else {
            throw ArrivalError("a packet's time makes no sense")
        }
        let packet = MediaPacket(
            content: content,
            timestamp: lastTimestamps[input],
            compositionOffset: Int32(clamping: composition),
            // Of its own, or every packet that waits would keep a megabyte of the file.
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
