public import Media
public import NIOCore

// FLV audio tag bodies: the legacy form (Adobe FLV specification 10.1, E.4.2) and the enhanced form (enhanced RTMP 2,
// "Enhanced Audio").

extension MediaPacket {
    /// Parses the body of an RTMP audio message or FLV audio tag.
    ///
    /// - Parameters:
    ///   - body: The complete tag body; the result is nil if it is empty or has no audio data.
    ///   - timestamp: Time of the first sample in milliseconds.
    public init?(audioBody body: ByteBuffer, timestamp: Int64) {
        guard let first = body.getInteger(at: body.readerIndex, as: UInt8.self) else { return nil }
        let packet =
            first >> 4 == 9
            ? Self.enhancedAudio(body, first: first, timestamp: timestamp)
            : Self.legacyAudio(body, format: first >> 4, timestamp: timestamp)
        guard let packet else { return nil }
        self = packet
    }

    private static func legacyAudio(_ body: ByteBuffer, format: UInt8, timestamp: Int64) -> MediaPacket? {
        let codec = legacyAudioCodec(format)
        guard codec == .aac else {
            guard body.readableBytes > 1 else { return nil }
            return MediaPacket(content: .audio(codec), timestamp: timestamp, body: body, headerLength: 1)
        }
        guard body.readableBytes > 2, let type = body.getInteger(at: body.readerIndex + 1, as: UInt8.self) else {
            return nil
        }
        guard type < 2 else { return nil }
        let content = type == 0 ? Content.audioConfiguration(.aac) : .audio(.aac)
        return MediaPacket(content: content, timestamp: timestamp, body: body, headerLength: 2)
    }

    private static func legacyAudioCodec(_ format: UInt8) -> AudioCodec {
        switch format {
        case 0, 3: .pcm
        case 1: .adpcm
        case 2, 14: .mp3
        case 4, 5, 6: .nellymoser
        case 7, 8: .g711
        case 10: .aac
        case 11: .speex
        case 13: .opus
        default: .unknown
        }
    }

    private static func enhancedAudio(_ body: ByteBuffer, first: UInt8, timestamp: Int64) -> MediaPacket? {
        guard let track = TrackReader(body: body, packetType: first & 0x0F, multitrack: 5) else { return nil }
        let codec = track.codec.audioCodec
        var packet = MediaPacket(content: .audio(codec), timestamp: timestamp, body: body, headerLength: 0)
        packet.headerLength = packet.attach(track, first: 0x90 | track.packetType)
        guard packet.payload.readableBytes > 0 else { return nil }
        switch track.packetType {
        case 0: packet.content = .audioConfiguration(codec)
        case 1: break
        default: return nil
        }
        return packet
    }
}

extension MediaPacket {
    /// The RTMP message type, which is also the FLV tag type (8 audio, 9 video, 18 script data).
    var messageType: UInt8 {
        if isVideo { return MessageType.video }
        return isAudio ? MessageType.audio : MessageType.data
    }
}
