import Media
import NIOCore

/// Turns H.264 that came with start codes into the length-prefixed form that RTMP prescribes.
enum AnnexB {
    /// A picture with its NAL units length-prefixed; nil when it already is, or is neither.
    static func picture(_ packet: MediaPacket) -> MediaPacket? {
        guard let units = units(packet.payload), !units.isEmpty else { return nil }
        var result = packet
        result.body = header(of: packet, capacity: packet.body.readableBytes + 4 * units.count)
        for unit in units {
            result.body.writeInteger(UInt32(clamping: unit.readableBytes))
            result.body.writeImmutableBuffer(unit)
        }
        return result
    }

    /// A configuration record made of the parameter sets in a start-code stream; nil when it is no such stream.
    static func configuration(_ packet: MediaPacket) -> MediaPacket? {
        guard let units = units(packet.payload), let sequence = units.first(where: { type(of: $0) == 7 }),
            let picture = units.first(where: { type(of: $0) == 8 }),
            let profile = sequence.getSlice(at: sequence.readerIndex + 1, length: 3)
        else { return nil }
        var result = packet
        result.body = header(of: packet, capacity: 16 + sequence.readableBytes + picture.readableBytes)
        result.body.writeInteger(UInt8(1))
        result.body.writeImmutableBuffer(profile)
        result.body.writeInteger(UInt8(0xFF))
        result.body.writeInteger(UInt8(0xE1))
        result.body.writeInteger(UInt16(clamping: sequence.readableBytes))
        result.body.writeImmutableBuffer(sequence)
        result.body.writeInteger(UInt8(1))
        result.body.writeInteger(UInt16(clamping: picture.readableBytes))
        result.body.writeImmutableBuffer(picture)
        return result
    }

    private static func header(of packet: MediaPacket, capacity: Int) -> ByteBuffer {
        var body = ByteBuffer()
        body.reserveCapacity(capacity)
        body.writeBytes(packet.body.readableBytesView.prefix(packet.headerLength))
        return body
    }

    private static func type(of unit: ByteBuffer) -> UInt8? {
        unit.getInteger(at: unit.readerIndex, as: UInt8.self).map { $0 & 0x1F }
    }

    /// The NAL units between start codes; nil for a payload that does not begin with one, or is sound as lengths.
    private static func units(_ payload: ByteBuffer) -> [ByteBuffer]? {
        guard startCodeLength(payload, at: payload.readerIndex) != nil, !isLengthPrefixed(payload) else { return nil }
        var units: [ByteBuffer] = []
        payload.withUnsafeReadableBytes { bytes in
            var start: Int?
            var index = 0
            while index + 2 < bytes.count {
                guard bytes[index] == 0, bytes[index + 1] == 0, bytes[index + 2] == 1 else {
                    index += 1
                    continue
                }
                if let start { append(start..<index) }
                start = index + 3
                index += 3
            }
            if let start { append(start..<bytes.count) }

            func append(_ range: Range<Int>) {
                var end = range.upperBound
                // Zero bytes behind a unit belong to the next start code, or are padding.
                while end > range.lowerBound, bytes[end - 1] == 0 { end -= 1 }
                guard end > range.lowerBound,
                    let unit = payload.getSlice(
                        at: payload.readerIndex + range.lowerBound,
                        length: end - range.lowerBound
                    )
                else { return }
                units.append(unit)
            }
        }
        return units
    }

    private static func startCodeLength(_ bytes: ByteBuffer, at index: Int) -> Int? {
        if bytes.getInteger(at: index, as: UInt32.self) == 1 { return 4 }
        let high = bytes.getInteger(at: index, as: UInt16.self)
        return high == 0 && bytes.getInteger(at: index + 2, as: UInt8.self) == 1 ? 3 : nil
    }

    /// Whether four-byte lengths lead exactly to the payload's end.
    private static func isLengthPrefixed(_ payload: ByteBuffer) -> Bool {
        var rest = payload
        while rest.readableBytes > 0 {
            guard let length = rest.readInteger(as: UInt32.self), rest.readSlice(length: Int(length)) != nil else {
                return false
            }
        }
        return true
    }
}
