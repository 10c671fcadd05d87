import Media
import NIOCore

/// Turns H.264 that came with start codes into the length-prefixed form that RTMP prescribes.
enum AnnexB {
    /// A picture with its NAL units length-prefixed; nil when it already is, or is neither.
    static func picture(_ packet: MediaPacket) -> MediaPacket? {
        let payload = packet.payload
        guard NALUnits.isAnnexB(payload) else { return nil }
        let units = NALUnits.lengthPrefixed(fromAnnexB: payload)
        guard units.readableBytes > 0 else { return nil }
        var result = packet
        result.body = header(of: packet, capacity: units.readableBytes)
        result.body.writeImmutableBuffer(units)
        return result
    }

    /// A configuration record made of the parameter sets in a start-code stream; nil when it is no such stream.
    static func configuration(_ packet: MediaPacket) -> MediaPacket? {
        let payload = packet.payload
        guard NALUnits.isAnnexB(payload) else { return nil }
        let units = NALUnits.units(inAnnexB: payload)
        guard let sequence = units.first(where: { $0.kind == .sequenceParameters })?.bytes,
            let picture = units.first(where: { $0.kind == .pictureParameters })?.bytes,
            let profile = sequence.getSlice(at: sequence.readerIndex + 1, length: 3)
        else { return nil }
        var result = packet
        result.body = header(of: packet, capacity: 11 + sequence.readableBytes + picture.readableBytes)
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
        body.reserveCapacity(packet.headerLength + capacity)
        body.writeBytes(packet.body.readableBytesView.prefix(packet.headerLength))
        return body
    }
}
