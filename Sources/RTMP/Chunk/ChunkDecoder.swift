import NIOCore

/// Reassembles messages from chunks (RTMP 1.0, 5.3).
///
/// Accepts socket reads of any size and returns complete messages. Memory is never allocated for a length that was
/// announced but has not arrived. The buffered state is limited to `RTMPLimits.chunkStreams` headers and `partialBytes`
/// of unfinished messages, none larger than `MessageType.maximumLength`. A message contained in one read is a slice of
/// that read if it is the larger part of it; otherwise it is copied, so that a small slice does not retain a large
/// read.
struct ChunkDecoder {
    static let defaultChunkSize = 128

    private var input = ByteBuffer()
    private var streams: [ChunkStream] = []
    private var chunkSize = ChunkDecoder.defaultChunkSize
    /// The index of the stream whose chunk is being read; `chunkRemaining` holds the missing byte count.
    private var current: Int?
    private var chunkRemaining = 0
    private var partialBytes = 0
    /// Whether audio, video and aggregate messages may have the media size limit.
    var acceptsMedia: Bool
    private let granted: GrantedLimits
    private var limits: RTMPLimits { granted.limits }

    init(_ granted: GrantedLimits, acceptsMedia: Bool = true) {
        self.granted = granted
        self.acceptsMedia = acceptsMedia
    }

    /// The number of received bytes not yet parsed.
    var bufferedBytes: Int { input.readableBytes }

    /// The number of bytes of unfinished messages over all chunk streams.
    var unfinishedBytes: Int { partialBytes }

    /// Appends bytes read from the socket.
    mutating func append(_ bytes: ByteBuffer) {
        guard input.readableBytes > 0 else {
            input = bytes
            return
        }
        // Returned messages may share the old storage, so the remainder is copied to a new buffer.
        var joined = ByteBufferAllocator().buffer(capacity: input.readableBytes + bytes.readableBytes)
        joined.writeImmutableBuffer(input)
        joined.writeImmutableBuffer(bytes)
        input = joined
    }

    /// Returns the next complete message, or nil if more bytes are needed.
    mutating func next() throws(RTMPViolation) -> RTMPMessage? {
        while true {
            if current == nil {
                guard try readHeader() else {
                    if input.readableBytes == 0 { input = ByteBuffer() }
                    return nil
                }
            }
            if let index = current {
                guard input.readableBytes > 0 || chunkRemaining == 0 else {
                    input = ByteBuffer()
                    return nil
                }
                if let message = try readPayload(of: index) { return message }
            }
        }
    }

    /// Applies the peer's Set Chunk Size.
    ///
    /// A size beyond the largest message is clamped to it.
    mutating func setChunkSize(_ size: UInt32) throws(RTMPViolation) {
        let size = Int(size & 0x7FFF_FFFF)
        guard size >= limits.smallestChunkSize else { throw RTMPViolation("a chunk size of \(size) bytes") }
        chunkSize = min(size, max(limits.mediaMessageBytes, limits.commandMessageBytes))
    }

    /// Applies the peer's Abort Message: discards the partial message of a chunk stream.
    mutating func abort(chunkStream id: Int) {
        guard let index = streams.firstIndex(where: { $0.id == id }) else { return }
        dropPartial(of: index)
    }

    /// Releases buffer capacity that is only needed while media is received.
    mutating func compact() {
        if input.readableBytes == 0 { input = ByteBuffer() }
        streams = Array(streams)
    }

    // MARK: Headers

    /// Reads a chunk header; returns false if it is incomplete.
    private mutating func readHeader() throws(RTMPViolation) -> Bool {
        var at = input.readerIndex
        guard let (format, id) = basicHeader(at: &at) else { return false }
        let fields = [11, 7, 3, 0][format]
        guard input.writerIndex - at >= fields else { return false }
        guard let index = try stream(id: id, format: format) else { return false }
        if format == 3 {
            guard try readContinuation(of: index, at: &at) else { return false }
        } else {
            let field = UInt32(integer24(at: at))
            var extended: UInt32?
            if field == 0xFF_FFFF {
                guard let value = input.getInteger(at: at + fields, as: UInt32.self) else { return false }
                extended = value
            }
            dropPartial(of: index)
            if format <= 1 {
                streams[index].length = integer24(at: at + 3)
                streams[index].type = input.getInteger(at: at + 6) ?? 0
            }
            if format == 0 {
                streams[index].streamID = input.getInteger(at: at + 7, endianness: .little) ?? 0
            }
            streams[index].setTime(field: field, extended: extended, isAbsolute: format == 0)
            at += fields + (extended == nil ? 0 : 4)
        }
        let length = streams[index].length
        let type = streams[index].type
        guard length <= MessageType.maximumLength(of: type, acceptsMedia: acceptsMedia, limits: limits) else {
            throw RTMPViolation("a message of \(length) bytes, type \(type)")
        }
        input.moveReaderIndex(to: at)
        current = index
        chunkRemaining = min(chunkSize, length - (streams[index].partial?.readableBytes ?? 0))
        return true
    }

    private func basicHeader(at: inout Int) -> (format: Int, id: Int)? {
        guard let first = input.getInteger(at: at, as: UInt8.self) else { return nil }
        at += 1
        let format = Int(first >> 6)
        switch first & 0x3F {
        case 0:
            guard let low = input.getInteger(at: at, as: UInt8.self) else { return nil }
            at += 1
            return (format, 64 + Int(low))
        case 1:
            guard let bytes = input.getInteger(at: at, endianness: .little, as: UInt16.self) else { return nil }
            at += 2
            return (format, 64 + Int(bytes))
        case let id:
            return (format, Int(id))
        }
    }

    /// Returns the index of a chunk stream; a new stream may begin with format 0, or with 1 as librtmp's pings do.
    private mutating func stream(id: Int, format: Int) throws(RTMPViolation) -> Int? {
        if let index = streams.firstIndex(where: { $0.id == id }) { return index }
        guard format <= 1 else { throw RTMPViolation("chunk stream \(id) begins without a header") }
        guard streams.count < limits.chunkStreams else { throw RTMPViolation("too many chunk streams") }
        streams.append(ChunkStream(id: id))
        return streams.count - 1
    }

    /// Reads a type-3 header.
    ///
    /// The specification repeats the extended timestamp here, but older encoders omit it, so it is consumed only if it
    /// equals the previous one.
    private mutating func readContinuation(of index: Int, at: inout Int) throws(RTMPViolation) -> Bool {
        if let extended = streams[index].extended {
            let available = min(4, input.writerIndex - at)
            var isSame = true
            for offset in 0..<available {
                let expected = UInt8(truncatingIfNeeded: extended >> (24 - 8 * offset))
                isSame = isSame && input.getInteger(at: at + offset) == expected
            }
            if isSame {
                guard available == 4 else { return false }
                at += 4
            }
        }
        if streams[index].partial == nil { streams[index].repeatDelta() }
        return true
    }

    private func integer24(at index: Int) -> Int {
        let high = input.getInteger(at: index, as: UInt8.self) ?? 0
        let low = input.getInteger(at: index + 1, as: UInt16.self) ?? 0
        return Int(high) << 16 | Int(low)
    }

    // MARK: Payloads

    private mutating func readPayload(of index: Int) throws(RTMPViolation) -> RTMPMessage? {
        let length = streams[index].length
        let count = min(chunkRemaining, input.readableBytes)
        if streams[index].partial == nil, count == length {
            current = nil
            return finish(index, payload: readWhole(length))
        }
        if streams[index].partial == nil {
            guard streams.count(where: { $0.partial != nil }) < limits.partialMessages else {
                throw RTMPViolation("too many unfinished messages")
            }
            streams[index].partial = ByteBuffer()
        }
        guard partialBytes + count <= limits.partialBytes else { throw RTMPViolation("unfinished messages too large") }
        partialBytes += count
        if let slice = input.readSlice(length: count) {
            streams[index].partial?.writeImmutableBuffer(slice)
        }
        chunkRemaining -= count
        if chunkRemaining == 0 { current = nil }
        guard let partial = streams[index].partial, partial.readableBytes == length else { return nil }
        dropPartial(of: index)
        return finish(index, payload: partial)
    }

    private mutating func readWhole(_ length: Int) -> ByteBuffer {
        let slice = input.readSlice(length: length) ?? ByteBuffer()
        guard length > 0, length * 2 < input.storageCapacity else { return slice }
        return ByteBuffer(bytes: slice.readableBytesView)
    }

    private func finish(_ index: Int, payload: ByteBuffer) -> RTMPMessage {
        RTMPMessage(
            type: streams[index].type,
            streamID: streams[index].streamID,
            timestamp: streams[index].timestamp,
            payload: payload
        )
    }

    private mutating func dropPartial(of index: Int) {
        partialBytes -= streams[index].partial?.readableBytes ?? 0
        streams[index].partial = nil
    }
}

/// The decoder state of one chunk stream: its last header and its unfinished message.
struct ChunkStream {
    let id: Int
    var timestamp: UInt32 = 0
    /// The delta of the last header; 0 after an absolute timestamp.
    var delta: UInt32 = 0
    var length = 0
    var type: UInt8 = 0
    var streamID: UInt32 = 0
    /// The extended timestamp field of the last header, or nil.
    var extended: UInt32?
    /// The received part of a message; nil between messages.
    var partial: ByteBuffer?

    init(id: Int) {
        self.id = id
    }

    /// Applies the timestamp field of a chunk header that begins a message.
    ///
    /// - Parameters:
    ///   - field: The 24-bit field.
    ///   - extended: The extended timestamp, if `field` is 0xFFFFFF.
    ///   - isAbsolute: Whether the header has format 0.
    mutating func setTime(field: UInt32, extended: UInt32?, isAbsolute: Bool) {
        self.extended = extended
        if isAbsolute {
            timestamp = extended ?? field
            delta = 0
        } else if let extended {
            delta = Self.delta(extended: extended, after: timestamp)
            timestamp &+= delta
        } else {
            // A 24-bit delta of more than four and a half hours is a small negative delta.
            delta = field >= 0xFF_C000 ? field | 0xFF00_0000 : field
            timestamp &+= delta
        }
    }

    /// Returns the delta for an extended field of a relative header, which holds a delta by the specification and an
    /// absolute time in some encoders; the interpretation with the smaller step is used.
    private static func delta(extended: UInt32, after timestamp: UInt32) -> UInt32 {
        let asAbsolute = extended &- timestamp
        return Int32(bitPattern: asAbsolute).magnitude < Int32(bitPattern: extended).magnitude ? asAbsolute : extended
    }

    /// Adds the last delta again, for a type-3 header that begins a message.
    mutating func repeatDelta() {
        timestamp &+= delta
    }
}
