public import Media
import NIOCore

/// The values of `onMetaData` that are of use.
///
/// They are what the sender claims; the codec configuration is the truth.
public struct StreamMetadata: Sendable, Equatable {
    /// Pixels.
    public var width: Int?
    /// Pixels.
    public var height: Int?
    /// Pictures a second.
    public var frameRate: Double?
    /// Hertz.
    public var sampleRate: Int?
    /// The sender's name for itself.
    public var encoder: String?

    /// Reads a metadata packet; a value of the wrong type or out of any reason counts as absent.
    ///
    /// - Returns: nil for a packet of another kind, or one that cannot be read.
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

    /// The metadata of a program of ours.
    ///
    /// - Parameters:
    ///   - width: Pixels.
    ///   - height: Pixels.
    ///   - frameRate: Pictures a second.
    ///   - videoBitrate: Thousands of bits a second.
    ///   - audioBitrate: Thousands of bits a second.
    ///   - sampleRate: Hertz.
    ///   - channels: 1 or 2.
    ///   - encoder: Our name.
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
