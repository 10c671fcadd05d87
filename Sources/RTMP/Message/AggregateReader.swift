import NIOCore

/// Takes an aggregate message (type 22) apart: FLV tags in a row, each with a back pointer.
struct AggregateReader {
    private var rest: ByteBuffer
    private let base: UInt32
    private let streamID: UInt32
    private var firstTime: UInt32?

    init(_ message: RTMPMessage) {
        rest = message.payload
        base = message.timestamp
        streamID = message.streamID
    }

    /// The next message inside; nil at the end, or where the rest is no tag.
    ///
    /// The first tag has the aggregate's own time, whatever it says itself; the others keep their distance to it.
    mutating func next() -> RTMPMessage? {
        guard let type = rest.readInteger(as: UInt8.self), let length = rest.readInteger24(),
            let low = rest.readInteger24(), let high = rest.readInteger(as: UInt8.self), rest.readInteger24() != nil,
            let payload = rest.readSlice(length: length)
        else { return nil }
        // The last back pointer is sometimes missing.
        rest.moveReaderIndex(forwardBy: min(4, rest.readableBytes))
        let time = UInt32(high) << 24 | UInt32(low)
        let first = firstTime ?? time
        firstTime = first
        return RTMPMessage(type: type, streamID: streamID, timestamp: base &+ (time &- first), payload: payload)
    }
}
