public import Media
public import NIOCore

// FLV video tag bodies: the legacy form (Adobe FLV specification 10.1, E.4.3) and the enhanced form (enhanced RTMP 2,
// "Enhanced Video").

extension MediaPacket {
    /// Parses the body of an RTMP video message or FLV video tag.
    ///
    /// H.264 in Annex B format, which some encoders send in violation of the specification, is converted to
    /// length-prefixed format. All codecs are recognized; the receiver decides which ones it supports.
    ///
    /// - Parameters:
    ///   - body: The complete tag body; the result is nil for an empty body, seek commands and tracks other than the
    ///     first.
    ///   - timestamp: Decode time in milliseconds.
    public init?(videoBody body: ByteBuffer, timestamp: Int64) {
        guard let first = body.getInteger(at: body.readerIndex, as: UInt8.self) else { return nil }
        let packet =
            first & 0x80 == 0
            ? Self.legacyVideo(body, first: first, timestamp: timestamp)
            : Self.enhancedVideo(body, first: first, timestamp: timestamp)
        guard let packet else { return nil }
        self = packet
    }

    private static let informationFrame: UInt8 = 5

    private static func isKey(_ frameType: UInt8) -> Bool { frameType == 1 || frameType == 4 }

    // MARK: Legacy

    private static func legacyVideo(_ body: ByteBuffer, first: UInt8, timestamp: Int64) -> MediaPacket? {
        let frameType = first >> 4
        guard frameType != informationFrame else { return nil }
        let codec = legacyVideoCodec(first & 0x0F)
        guard codec == .h264 || codec == .hevc || codec == .av1 else {
            let content = Content.video(codec, isKey: isKey(frameType), isDisposable: frameType == 3)
            return MediaPacket(content: content, timestamp: timestamp, body: body, headerLength: 1)
        }
        guard let packetType = body.getInteger(at: body.readerIndex + 1, as: UInt8.self) else { return nil }
        guard packetType != 2 else {
            return MediaPacket(content: .videoEnd, timestamp: timestamp, body: body, headerLength: body.readableBytes)
        }
        guard body.readableBytes > 5, packetType < 2 else { return nil }
        let offset = signed24(body.getInteger(at: body.readerIndex + 1) ?? 0)
        var packet = MediaPacket(content: .videoEnd, timestamp: timestamp, body: body, headerLength: 5)
        if packetType == 0 {
            packet.content = .videoConfiguration(codec)
            guard codec == .h264 else { return packet }
            return AnnexB.configuration(packet) ?? packet.withTrueCodec
        }
        packet.content = .video(codec, isKey: isKey(frameType), isDisposable: frameType == 3)
        packet.compositionOffset = offset
        return codec == .h264 ? AnnexB.accessUnit(packet) ?? packet : packet
    }

    private static func legacyVideoCodec(_ id: UInt8) -> VideoCodec {
        switch id {
        case 2: .sorensonH263
        case 3, 6: .screenVideo
        case 4, 5: .vp6
        case 7: .h264
        case 8: .vp8
        case 12: .hevc
        case 13: .av1
        default: .unknown
        }
    }

    /// Sign-extends the low 24 bits.
    private static func signed24(_ value: UInt32) -> Int32 {
        Int32(bitPattern: value << 8) >> 8
    }

    /// The packet with its codec corrected to HEVC if an HEVC configuration was sent with H.264's codec ID, as OBS did
    /// before 29.1.
    ///
    /// The second byte of an H.264 record is a profile of at least 44; in an HEVC record it holds profile space, tier
    /// and profile, 1 to 4 for all profiles in use.
    private var withTrueCodec: MediaPacket {
        guard payload.readableBytes >= 23, let byte = payload.getInteger(at: payload.readerIndex + 1, as: UInt8.self),
            (1...4).contains(byte & 0x1F), byte < 44
        else { return self }
        var packet = self
        packet.content = .videoConfiguration(.hevc)
        return packet
    }

    // MARK: Enhanced

    private static func enhancedVideo(_ body: ByteBuffer, first: UInt8, timestamp: Int64) -> MediaPacket? {
        let frameType = first >> 4 & 0x07
        guard frameType != informationFrame else { return nil }
        guard let track = TrackReader(body: body, packetType: first & 0x0F, multitrack: 6) else { return nil }
        let codec = track.codec.videoCodec
        var packet = MediaPacket(content: .videoEnd, timestamp: timestamp, body: body, headerLength: 0)
        packet.headerLength = packet.attach(track, first: 0x80 | frameType << 4 | track.packetType)
        let frame = Content.video(codec, isKey: isKey(frameType), isDisposable: frameType == 3)
        switch track.packetType {
        case 0, 5:
            packet.content = .videoConfiguration(codec)
        case 1:
            packet.content = frame
            if codec == .h264 || codec == .hevc {
                guard let offset = packet.payload.getInteger(at: packet.payload.readerIndex, as: UInt32.self) else {
                    return nil
                }
                packet.compositionOffset = signed24(offset >> 8)
                packet.headerLength += 3
            }
        case 2:
            return packet
        case 3:
            packet.content = frame
        default:
            return nil
        }
        guard packet.payload.readableBytes > 0 else { return nil }
        return packet
    }
}

extension MediaPacket {
    /// Makes a track the whole body; if other tracks surround it, the header is rewritten.
    ///
    /// - Parameter first: The first byte of a body with this track alone.
    /// - Returns: The number of bytes in front of the codec data.
    mutating func attach(_ track: TrackReader, first: UInt8) -> Int {
        if let headerLength = track.headerLength { return headerLength }
        var alone = ByteBuffer()
        alone.reserveCapacity(5 + track.data.readableBytes)
        alone.writeInteger(first)
        alone.writeInteger(track.codec.code)
        alone.writeImmutableBuffer(track.data)
        body = alone
        return 5
    }
}

/// Converts H.264 in Annex B format to the length-prefixed format that RTMP requires.
enum AnnexB {
    /// Returns the packet with length-prefixed NAL units, or nil if it is not in Annex B format.
    static func accessUnit(_ packet: MediaPacket) -> MediaPacket? {
        let payload = packet.payload
        guard NALUnits.isAnnexB(payload) else { return nil }
        let units = NALUnits.lengthPrefixed(fromAnnexB: payload)
        guard units.readableBytes > 0 else { return nil }
        var result = packet
        result.body = header(of: packet, capacity: units.readableBytes)
        result.body.writeImmutableBuffer(units)
        return result
    }

    /// Returns a decoder configuration record built from the parameter sets of an Annex B stream, or nil if the packet
    /// is not in Annex B format.
    static func configuration(_ packet: MediaPacket) -> MediaPacket? {
        let payload = packet.payload
        guard NALUnits.isAnnexB(payload) else { return nil }
        let units = NALUnits.units(inAnnexB: payload)
        guard let sps = units.first(where: { $0.kind == .sequenceParameters })?.bytes,
            let pps = units.first(where: { $0.kind == .pictureParameters })?.bytes,
            let profile = sps.getSlice(at: sps.readerIndex + 1, length: 3)
        else { return nil }
        var result = packet
        result.body = header(of: packet, capacity: 11 + sps.readableBytes + pps.readableBytes)
        result.body.writeInteger(UInt8(1))
        result.body.writeImmutableBuffer(profile)
        result.body.writeInteger(UInt8(0xFF))
        result.body.writeInteger(UInt8(0xE1))
        result.body.writeInteger(UInt16(clamping: sps.readableBytes))
        result.body.writeImmutableBuffer(sps)
        result.body.writeInteger(UInt8(1))
        result.body.writeInteger(UInt16(clamping: pps.readableBytes))
        result.body.writeImmutableBuffer(pps)
        return result
    }

    private static func header(of packet: MediaPacket, capacity: Int) -> ByteBuffer {
        var body = ByteBuffer()
        body.reserveCapacity(packet.headerLength + capacity)
        body.writeBytes(packet.body.readableBytesView.prefix(packet.headerLength))
        return body
    }
}
