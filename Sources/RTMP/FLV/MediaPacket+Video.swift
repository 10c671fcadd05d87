public import Media
public import NIOCore

// FLV video tag bodies: the legacy form (Adobe FLV specification 10.1, E.4.3) and the enhanced form (enhanced RTMP 2,
// "Enhanced Video").

extension MediaPacket {
    /// Reads the body of an RTMP video message or FLV video tag.
    ///
    /// H.264 in Annex B form, which some encoders send against the specification, becomes length-prefixed. Every codec
    /// is recognised, supported or not; telling the sender is the receiver's part.
    ///
    /// - Parameters:
    ///   - body: The whole tag body; an empty one, seek commands, and tracks beside the first yield nil.
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
            let content = Content.picture(codec, isKey: isKey(frameType), isDisposable: frameType == 3)
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
        packet.content = .picture(codec, isKey: isKey(frameType), isDisposable: frameType == 3)
        packet.compositionOffset = offset
        return codec == .h264 ? AnnexB.picture(packet) ?? packet : packet
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

    /// The low 24 bits of a number, signed.
    private static func signed24(_ value: UInt32) -> Int32 {
        Int32(bitPattern: value << 8) >> 8
    }

    /// An HEVC configuration that came under H.264's number, as OBS before 29.1 sent it, under its own name.
    ///
    /// The second byte of an H.264 record is a profile of at least 44; of an HEVC record it is profile space, tier and
    /// profile, 1 to 4 for all profiles in use.
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
        let picture = Content.picture(codec, isKey: isKey(frameType), isDisposable: frameType == 3)
        switch track.packetType {
        case 0, 5:
            packet.content = .videoConfiguration(codec)
        case 1:
            packet.content = picture
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
            packet.content = picture
        default:
            return nil
        }
        guard packet.payload.readableBytes > 0 else { return nil }
        return packet
    }
}

extension MediaPacket {
    /// Makes a track the whole body; where other tracks surround it, the header is written anew.
    ///
    /// - Parameter first: The first byte of a body that holds this track alone.
    /// - Returns: Bytes of the body before the codec's data.
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
