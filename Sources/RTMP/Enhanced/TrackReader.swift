import Media
import NIOCore

/// Parses the header parts that enhanced RTMP audio and video share: packet modifiers, tracks and the FourCC.
///
/// Only track 0 is used.
struct TrackReader {
    /// The packet type after all modifiers and the track header.
    var packetType: UInt8
    var codec: FourCC
    /// The codec-specific part of the message.
    var data: ByteBuffer
    /// The number of bytes in front of `data`; nil if other tracks surround it.
    var headerLength: Int?

    private static let modifier: UInt8 = 7

    /// - Parameters:
    ///   - body: The complete message.
    ///   - packetType: The low nibble of the first byte.
    ///   - multitrack: The packet type of multitrack messages: 6 for video, 5 for audio.
    init?(body: ByteBuffer, packetType: UInt8, multitrack: UInt8) {
        var rest = body
        var type = packetType
        rest.moveReaderIndex(forwardBy: min(1, rest.readableBytes))
        while type == Self.modifier {
            guard let next = Self.skipModifier(&rest) else { return nil }
            type = next
        }
        guard type == multitrack else {
            guard let code = rest.readInteger(as: UInt32.self) else { return nil }
            let headerLength = rest.readerIndex - body.readerIndex
            self.init(packetType: type, codec: FourCC(code: code), data: rest, headerLength: headerLength)
            return
        }
        guard let kinds = rest.readInteger(as: UInt8.self) else { return nil }
        let inner = kinds & 0x0F
        let layout = kinds >> 4
        guard inner != multitrack, inner != Self.modifier, layout <= 2 else { return nil }
        guard let track = Self.firstTrack(&rest, layout: layout) else { return nil }
        self.init(packetType: inner, codec: track.codec, data: track.data, headerLength: nil)
    }

    private init(packetType: UInt8, codec: FourCC, data: ByteBuffer, headerLength: Int?) {
        self.packetType = packetType
        self.codec = codec
        self.data = data
        self.headerLength = headerLength
    }

    /// Skips one modifier and returns the packet type that follows it.
    private static func skipModifier(_ rest: inout ByteBuffer) -> UInt8? {
        guard let short = rest.readInteger(as: UInt8.self) else { return nil }
        var size = Int(short) + 1
        if size == 256 {
            guard let long = rest.readInteger(as: UInt16.self) else { return nil }
            size = Int(long) + 1
        }
        guard rest.readSlice(length: size) != nil, let types = rest.readInteger(as: UInt8.self) else { return nil }
        return types & 0x0F
    }

    /// - Parameter layout: 0 for one track, 1 for several tracks of one codec, 2 for several codecs.
    private static func firstTrack(_ rest: inout ByteBuffer, layout: UInt8) -> (codec: FourCC, data: ByteBuffer)? {
        var codec: FourCC?
        if layout < 2 {
            guard let code = rest.readInteger(as: UInt32.self) else { return nil }
            codec = FourCC(code: code)
        }
        while rest.readableBytes > 0 {
            if layout == 2 {
                guard let code = rest.readInteger(as: UInt32.self) else { return nil }
                codec = FourCC(code: code)
            }
            guard let id = rest.readInteger(as: UInt8.self), let codec else { return nil }
            if layout == 0 { return id == 0 ? (codec, rest) : nil }
            guard let length = rest.readInteger24(), let data = rest.readSlice(length: length) else { return nil }
            if id == 0 { return (codec, data) }
        }
        return nil
    }
}

extension ByteBuffer {
    /// Reads an unsigned 24-bit integer.
    mutating func readInteger24() -> Int? {
        guard let (high, low) = readMultipleIntegers(as: (UInt8, UInt16).self) else { return nil }
        return Int(high) << 16 | Int(low)
    }
}

/// A FourCC codec identifier of enhanced RTMP.
struct FourCC: Equatable {
    var code: UInt32

    init(code: UInt32) {
        self.code = code
    }

    init(_ name: StaticString) {
        code = name.withUTF8Buffer { $0.prefix(4).reduce(0) { $0 << 8 | UInt32($1) } }
    }

    /// The video codec for the identifier (enhanced RTMP 2).
    var videoCodec: VideoCodec {
        switch self {
        case FourCC("avc1"): .h264
        case FourCC("hvc1"): .hevc
        case FourCC("av01"): .av1
        case FourCC("vp09"): .vp9
        case FourCC("vp08"): .vp8
        default: .unknown
        }
    }

    /// The audio codec for the identifier (enhanced RTMP 2).
    var audioCodec: AudioCodec {
        switch self {
        case FourCC("mp4a"): .aac
        case FourCC(".mp3"): .mp3
        case FourCC("Opus"): .opus
        case FourCC("fLaC"): .flac
        case FourCC("ac-3"): .ac3
        case FourCC("ec-3"): .eac3
        default: .unknown
        }
    }
}
