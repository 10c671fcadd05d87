import NIOCore

/// Reads the part of enhanced RTMP that audio and video share: packet modifiers, tracks, and the codec name.
///
/// Only the first track (id 0) is taken; a stream with more than one is for receivers that asked for it.
struct TrackReader {
    /// The packet type behind all modifiers and the track header.
    var packetType: UInt8
    var codec: FourCC
    /// The codec's part of the message.
    var data: ByteBuffer
    /// Bytes of the message in front of `data`; nil when other tracks surround it.
    var headerLength: Int?

    private static let modifier: UInt8 = 7

    /// - Parameters:
    ///   - body: The message from its first byte.
    ///   - packetType: The low half of the first byte.
    ///   - multitrack: The packet type that means more than one track: 6 for video, 5 for audio.
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

    /// Skips one modifier and returns the packet type it wraps.
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

    /// - Parameter layout: 0 one track, 1 several of one codec, 2 several of several codecs.
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
    /// Reads an unsigned 24-bit number.
    mutating func readInteger24() -> Int? {
        guard let (high, low) = readMultipleIntegers(as: (UInt8, UInt16).self) else { return nil }
        return Int(high) << 16 | Int(low)
    }
}
