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
    /// The first tag has the aggregate's own time, whatever it says itself; the others keep their distance to it. A message
    /// is copied where it is the smaller part of the aggregate, so that a small one never keeps a large one alive.
    ///
    /// - Throws: A violation for a message that is neither audio, video nor data: commands and control messages have no
    ///   place in an aggregate.
    mutating func next() throws(RTMPViolation) -> RTMPMessage? {
        guard let type = rest.readInteger(as: UInt8.self), let length = rest.readInteger24(),
            let low = rest.readInteger24(), let high = rest.readInteger(as: UInt8.self), rest.readInteger24() != nil,
            let payload = rest.readSlice(length: length)
        else { return nil }
        guard MessageType.isAllowedInAggregate(type) else {
            throw RTMPViolation("a message of type \(type) in an aggregate")
        }
        // The last back pointer is sometimes missing.
        rest.moveReaderIndex(forwardBy: min(4, rest.readableBytes))
        let time = UInt32(high) << 24 | UInt32(low)
        let first = firstTime ?? time
        firstTime = first
        return RTMPMessage(
            type: type,
            streamID: streamID,
            timestamp: base &+ (time &- first),
            payload: length * 2 < payload.storageCapacity ? ByteBuffer(bytes: payload.readableBytesView) : payload
        )
    }
}
