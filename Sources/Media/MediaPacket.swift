public import NIOCore

/// One encoded packet on its way from an encoder to a decoder or a player.
///
/// Encoded media travels through Footlight as the body of an FLV tag, which is also the payload of an RTMP audio, video
/// or data message. All connections between the processes are RTMP, so a body is shared by reference and forwarded
/// without a copy. A reader that needs the bare codec data uses `payload`.
public struct MediaPacket: Sendable {
    /// What a packet carries.
    public enum Content: Sendable, Equatable {
        /// The AMF0 values of `onMetaData`, beginning with that name (a leading `@setDataFrame` is already removed).
        case metadata
        /// The decoder configuration of a video codec; for H.264 an AVCDecoderConfigurationRecord (ISO/IEC 14496-15).
        case videoConfiguration(VideoCodec)
        /// One coded frame; for H.264 NAL units with length prefixes. `isDisposable` when no other frame refers to it.
        case video(VideoCodec, isKey: Bool, isDisposable: Bool)
        /// The end of the video sequence, as signalled by the encoder.
        case videoEnd
        /// The decoder configuration of an audio codec; for AAC an AudioSpecificConfig (ISO/IEC 14496-3).
        case audioConfiguration(AudioCodec)
        /// One coded audio frame.
        case audio(AudioCodec)
    }

    /// What the packet carries.
    public var content: Content

    /// Decode time in milliseconds on the clock of the feed that carries the packet.
    ///
    /// From a host it is that host's own clock, unwrapped to 64 bits, so it may begin anywhere and even step back.
    /// In a program feed it never decreases.
    public var timestamp: Int64

    /// Presentation time minus decode time in milliseconds (24 bits, signed); 0 for everything but reordered frames.
    public var compositionOffset: Int32

    /// The whole FLV tag body, codec header included.
    public var body: ByteBuffer

    /// Bytes of `body` before the codec's own data.
    public var headerLength: Int

    /// Makes a packet from its parts, without checks or copies.
    public init(
        content: Content,
        timestamp: Int64,
        compositionOffset: Int32 = 0,
        body: ByteBuffer,
        headerLength: Int
    ) {
        self.content = content
        self.timestamp = timestamp
        self.compositionOffset = compositionOffset
        self.body = body
        self.headerLength = headerLength
    }

    /// The codec's own data, as a slice that shares storage with `body`.
    public var payload: ByteBuffer {
        let length = min(max(headerLength, 0), body.readableBytes)
        return body.getSlice(at: body.readerIndex + length, length: body.readableBytes - length) ?? ByteBuffer()
    }

    /// Presentation time in milliseconds.
    public var presentationTimestamp: Int64 { timestamp + Int64(compositionOffset) }

    /// Whether the packet carries a frame, a video configuration or the end of the video.
    public var isVideo: Bool {
        switch content {
        case .videoConfiguration, .video, .videoEnd: true
        case .metadata, .audioConfiguration, .audio: false
        }
    }

    /// Whether the packet carries audio or its configuration.
    public var isAudio: Bool {
        switch content {
        case .audioConfiguration, .audio: true
        case .metadata, .videoConfiguration, .video, .videoEnd: false
        }
    }

    /// Whether the packet is a keyframe.
    public var isKeyframe: Bool {
        if case .video(_, isKey: true, _) = content { true } else { false }
    }

    /// Whether the packet is a decoder configuration or metadata, which a new viewer needs before the first media.
    public var isConfiguration: Bool {
        switch content {
        case .metadata, .videoConfiguration, .audioConfiguration: true
        case .video, .videoEnd, .audio: false
        }
    }
}

/// The video codecs that RTMP can signal.
public enum VideoCodec: String, Sendable, Equatable, CaseIterable {
    case h264 = "H.264"
    case hevc = "HEVC"
    case av1 = "AV1"
    case vp9 = "VP9"
    case vp8 = "VP8"
    case sorensonH263 = "Sorenson H.263"
    case screenVideo = "Screen Video"
    case vp6 = "VP6"
    case unknown = "an unknown video codec"
}

/// The audio codecs that RTMP can signal.
public enum AudioCodec: String, Sendable, Equatable, CaseIterable {
    case aac = "AAC"
    case mp3 = "MP3"
    case opus = "Opus"
    case flac = "FLAC"
    case ac3 = "AC-3"
    case eac3 = "E-AC-3"
    case pcm = "PCM"
    case adpcm = "ADPCM"
    case nellymoser = "Nellymoser"
    case speex = "Speex"
    case g711 = "G.711"
    case unknown = "an unknown audio codec"
}

// The legacy FLV video header (Adobe FLV specification 10.1, E.4.3): frame type and codec id, packet type, composition
// time in 24 bits. H.264 is always sent in the legacy form, because large platforms misread enhanced tags for it.

extension MediaPacket {
    static let avcHeaderLength = 5

    /// A packet with the AVCDecoderConfigurationRecord of an H.264 stream.
    public static func h264Configuration(_ record: ByteBuffer, timestamp: Int64) -> MediaPacket {
        var body = ByteBuffer()
        body.reserveCapacity(avcHeaderLength + record.readableBytes)
        body.writeInteger(UInt8(0x17))
        body.writeRepeatingByte(0, count: 4)
        body.writeImmutableBuffer(record)
        return MediaPacket(
            content: .videoConfiguration(.h264),
            timestamp: timestamp,
            body: body,
            headerLength: avcHeaderLength
        )
    }

    /// A packet with one H.264 frame, NAL units prefixed by 4-byte lengths.
    ///
    /// - Parameters:
    ///   - isDisposable: No other frame refers to this one (nal_ref_idc is 0 in all of its slices).
    ///   - timestamp: Decode time in milliseconds.
    ///   - compositionOffset: Presentation minus decode time in milliseconds.
    ///   - capacity: An estimate of the frame's size in bytes, to allocate once.
    ///   - writePicture: Appends the frame's bytes to the buffer behind the header.
    public static func h264Frame(
        isKey: Bool,
        isDisposable: Bool,
        timestamp: Int64,
        compositionOffset: Int32 = 0,
        capacity: Int,
        writeFrame: (inout ByteBuffer) -> Void
    ) -> MediaPacket {
        var body = ByteBuffer()
        body.reserveCapacity(avcHeaderLength + capacity)
        body.writeInteger(UInt8(isKey ? 0x17 : isDisposable ? 0x37 : 0x27))
        let composition = UInt32(bitPattern: compositionOffset) & 0xFF_FFFF
        body.writeInteger(UInt32(1) << 24 | composition)
        writeFrame(&body)
        return MediaPacket(
            content: .video(.h264, isKey: isKey, isDisposable: isDisposable),
            timestamp: timestamp,
            compositionOffset: compositionOffset,
            body: body,
            headerLength: avcHeaderLength
        )
    }
}

// The FLV audio header for AAC (Adobe FLV specification 10.1, E.4.2): always 0xAF, because the AudioSpecificConfig
// carries the actual rate and channels; then the packet type.

extension MediaPacket {
    static let aacHeaderLength = 2

    /// A packet with the AudioSpecificConfig of an AAC stream.
    public static func aacConfiguration(_ configuration: ByteBuffer, timestamp: Int64) -> MediaPacket {
        aac(.audioConfiguration(.aac), packetType: 0, timestamp: timestamp, capacity: configuration.readableBytes) {
            $0.writeImmutableBuffer(configuration)
        }
    }

    /// A packet with one raw AAC frame (no ADTS header).
    ///
    /// - Parameters:
    ///   - timestamp: Time of the frame's first sample in milliseconds.
    ///   - capacity: An estimate of the frame's size in bytes, to allocate once.
    ///   - writeFrame: Appends the frame's bytes to the buffer behind the header.
    public static func aacFrame(
        timestamp: Int64,
        capacity: Int,
        writeFrame: (inout ByteBuffer) -> Void
    ) -> MediaPacket {
        aac(.audio(.aac), packetType: 1, timestamp: timestamp, capacity: capacity, write: writeFrame)
    }

    private static func aac(
        _ content: Content,
        packetType: UInt8,
        timestamp: Int64,
        capacity: Int,
        write: (inout ByteBuffer) -> Void
    ) -> MediaPacket {
        var body = ByteBuffer()
        body.reserveCapacity(aacHeaderLength + capacity)
        body.writeInteger(UInt8(0xAF))
        body.writeInteger(packetType)
        write(&body)
        return MediaPacket(content: content, timestamp: timestamp, body: body, headerLength: aacHeaderLength)
    }
}

// Variants for encoders that provide plain bytes.

extension MediaPacket {
    /// A packet with the AVCDecoderConfigurationRecord of an H.264 stream, from bytes.
    public static func h264Configuration(data: some Sequence<UInt8>, timestamp: Int64) -> MediaPacket {
        h264Configuration(ByteBuffer(bytes: data), timestamp: timestamp)
    }

    /// A packet with one H.264 frame, from bytes: NAL units prefixed by 4-byte lengths.
    ///
    /// - Parameters:
    ///   - isDisposable: No other frame refers to this one (nal_ref_idc is 0 in all of its slices).
    ///   - timestamp: Decode time in milliseconds.
    ///   - compositionOffset: Presentation minus decode time in milliseconds.
    public static func h264Frame(
        data: some Collection<UInt8>,
        isKey: Bool,
        isDisposable: Bool = false,
        timestamp: Int64,
        compositionOffset: Int32 = 0
    ) -> MediaPacket {
        h264Frame(
            isKey: isKey,
            isDisposable: isDisposable,
            timestamp: timestamp,
            compositionOffset: compositionOffset,
            capacity: data.count
        ) { $0.writeBytes(data) }
    }

    /// A packet with the AudioSpecificConfig of an AAC stream, from bytes.
    public static func aacConfiguration(data: some Sequence<UInt8>, timestamp: Int64) -> MediaPacket {
        aacConfiguration(ByteBuffer(bytes: data), timestamp: timestamp)
    }

    /// A packet with one raw AAC frame (no ADTS header), from bytes.
    ///
    /// - Parameter timestamp: Time of the frame's first sample in milliseconds.
    public static func aacFrame(data: some Collection<UInt8>, timestamp: Int64) -> MediaPacket {
        aacFrame(timestamp: timestamp, capacity: data.count) { $0.writeBytes(data) }
    }
}

/// A receiver of a feed's packets.
public protocol PacketSink: AnyObject, Sendable {
    /// Receives one packet. Called on the feed's event loop, in feed order; must return at once and never block.
    func receive(_ packet: MediaPacket)
    /// The packets that follow come from another publisher; timestamps continue. Called like `receive`.
    func publisherChanged()
}

extension PacketSink {
    /// Ignores the change of publisher.
    public func publisherChanged() {}
}
