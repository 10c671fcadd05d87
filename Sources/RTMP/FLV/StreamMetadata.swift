public import Media
public import NIOCore

/// The values of `onMetaData` that the server uses.
///
/// The sender may declare wrong values; the codec configuration is authoritative.
public struct StreamMetadata: Sendable, Equatable {
    /// The width in pixels.
    public var width: Int?
    /// The height in pixels.
    public var height: Int?
    /// Frames per second.
    public var frameRate: Double?
    /// The audio sample rate in Hz.
    public var sampleRate: Int?
    /// The name of the encoder.
    public var encoder: String?

    /// Reads a metadata packet; values of the wrong type or out of range are ignored.
    ///
    /// - Returns: nil if the packet is not metadata or cannot be parsed.
    public init?(_ packet: MediaPacket) {
        guard packet.content == .metadata else { return nil }
        var decoder = AMF0Decoder(packet.body, limits: RTMPLimits())
        guard let name = try? decoder.next(), name.string == "onMetaData",
            let value = try? decoder.next(), let properties = value.object
        else { return nil }
        width = Self.integer(properties["width"], in: 1...16_384)
        height = Self.integer(properties["height"], in: 1...16_384)
        sampleRate = Self.integer(properties["audiosamplerate"], in: 1...384_000)
        encoder = properties["encoder"]?.string
        let rate = properties["framerate"]?.number ?? properties["framerate"]?.string.flatMap(Double.init)
        if let rate, rate > 0, rate <= 1000 { frameRate = rate }
    }

    private static func integer(_ value: AMF0Value?, in range: ClosedRange<Int>) -> Int? {
        guard let number = value?.number ?? value?.string.flatMap(Double.init), number.isFinite,
            number >= Double(range.lowerBound), number <= Double(range.upperBound)
        else { return nil }
        return Int(number)
    }

    /// Makes the metadata packet of a program.
    ///
    /// - Parameters:
    ///   - width: The width in pixels.
    ///   - height: The height in pixels.
    ///   - frameRate: Frames per second.
    ///   - videoBitrate: kb/s.
    ///   - audioBitrate: kb/s.
    ///   - sampleRate: Hz.
    ///   - channels: 1 or 2.
    ///   - encoder: The encoder name.
    public static func packet(
        width: Int,
        height: Int,
        frameRate: Double,
        videoBitrate: Int,
        audioBitrate: Int,
        sampleRate: Int,
        channels: Int,
        encoder: String
    ) -> MediaPacket {
        let properties: AMF0Object = [
            "width": .number(Double(width)),
            "height": .number(Double(height)),
            "framerate": .number(frameRate),
            "videocodecid": 7,
            "videodatarate": .number(Double(videoBitrate)),
            "audiocodecid": 10,
            "audiodatarate": .number(Double(audioBitrate)),
            "audiosamplerate": .number(Double(sampleRate)),
            "audiosamplesize": 16,
            "audiochannels": .number(Double(channels)),
            "stereo": .boolean(channels == 2),
            "encoder": .string(encoder),
        ]
        var body = ByteBuffer()
        body.writeAMF0("onMetaData")
        body.writeAMF0(.array(properties))
        return MediaPacket(content: .metadata, timestamp: 0, body: body, headerLength: 0)
    }
}

extension MediaPacket {
    /// Parses the body of an RTMP data message or FLV script tag.
    ///
    /// A leading `@setDataFrame` is removed. The result is nil for anything but `onMetaData`.
    ///
    /// - Parameters:
    ///   - body: The AMF0 values.
    ///   - timestamp: Time in milliseconds.
    public init?(dataBody body: ByteBuffer, timestamp: Int64) {
        var body = body
        var name = Self.readName(body)
        if let (text, end) = name, text == "@setDataFrame" {
            body.moveReaderIndex(to: end)
            name = Self.readName(body)
        }
        guard let (text, _) = name, text == "onMetaData" else { return nil }
        self.init(content: .metadata, timestamp: timestamp, body: body, headerLength: 0)
    }

    /// Returns the short AMF0 string at the front and the index after it.
    private static func readName(_ body: ByteBuffer) -> (text: String, end: Int)? {
        guard body.getInteger(at: body.readerIndex) == AMF0Marker.string.rawValue,
            let length = body.getInteger(at: body.readerIndex + 1, as: UInt16.self), length <= 64,
            let text = body.getString(at: body.readerIndex + 3, length: Int(length))
        else { return nil }
        return (text, body.readerIndex + 3 + Int(length))
    }
}
