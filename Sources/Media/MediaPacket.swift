public import NIOCore

/// One encoded unit on its way from an encoder to a decoder or a player.
///
/// Encoded media travels through Footlight as the body of an FLV tag, which is also the payload of an RTMP audio, video
/// or data message. Every arrow between our processes is RTMP, so what came in is what goes out: the body is shared by
/// reference and never copied on the way. A reader that wants the bare codec data takes `payload`.
public struct MediaPacket: Sendable {
    /// What a packet carries.
    public enum Content: Sendable, Equatable {
        /// The AMF0 values of `onMetaData`, beginning with that name (a leading `@setDataFrame` is already removed).
        case metadata
        /// The decoder configuration of a video codec; for H.264 an AVCDecoderConfigurationRecord (ISO/IEC 14496-15).
        case videoConfiguration(VideoCodec)
        /// One coded picture; for H.264 NAL units with length prefixes. `isDisposable` when no other picture refers to it.
        case picture(VideoCodec, isKey: Bool, isDisposable: Bool)
        /// The encoder says that its video sequence ends.
        case videoEnd
        /// The decoder configuration of an audio codec; for AAC an AudioSpecificConfig (ISO/IEC 14496-3).
        case audioConfiguration(AudioCodec)
        /// One coded audio frame.
        case sound(AudioCodec)
    }

    /// What the packet carries.
    public var content: Content

    /// Decode time in milliseconds on the clock of the feed that carries the packet.
    ///
    /// From a host it is that host's own clock, unwrapped to 64 bits, so it may begin anywhere and even step back.
    /// In a program feed it never decreases.
    public var timestamp: Int64

    /// Presentation time minus decode time in milliseconds (24 bits, signed); 0 for everything but reordered pictures.
    public var compositionOffset: Int32

    /// The whole FLV tag body, codec header included.
    public var body: ByteBuffer

    /// How many bytes of `body` come before the codec's own data.
    public var headerLength: Int

    /// Makes a packet from its parts; nothing is checked or copied.
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

    /// The codec's own data: a slice that shares storage with `body`.
    public var payload: ByteBuffer {
        let length = min(max(headerLength, 0), body.readableBytes)
        return body.getSlice(at: body.readerIndex + length, length: body.readableBytes - length) ?? ByteBuffer()
    }

    /// Presentation time in milliseconds.
    public var presentationTimestamp: Int64 { timestamp + Int64(compositionOffset) }

    /// Pictures, their configuration, or their end.
    public var isVideo: Bool {
        switch content {
        case .videoConfiguration, .picture, .videoEnd: true
        case .metadata, .audioConfiguration, .sound: false
        }
    }

    /// Sound or its configuration.
    public var isAudio: Bool {
        switch content {
        case .audioConfiguration, .sound: true
        case .metadata, .videoConfiguration, .picture, .videoEnd: false
        }
    }

    /// A picture that a decoder can start with.
    public var isKeyPicture: Bool {
        if case .picture(_, isKey: true, _) = content { true } else { false }
    }

    /// A decoder configuration or metadata: what a late joiner needs before the first media.
    public var isConfiguration: Bool {
        switch content {
        case .metadata, .videoConfiguration, .audioConfiguration: true
        case .picture, .videoEnd, .sound: false
        }
    }
}
