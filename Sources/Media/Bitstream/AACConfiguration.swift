public import NIOCore

/// The AudioSpecificConfig of an AAC stream (ISO/IEC 14496-3 1.6.2.1).
public struct AACConfiguration: Sendable, Equatable {
    /// Audio object type: 2 AAC-LC, 5 HE-AAC, 29 HE-AAC v2, as signalled.
    public let objectType: Int
    /// Samples per second of the coded core, on which frames are counted; an HE-AAC decoder may give twice as many.
    public let sampleRate: Int
    /// Channels of the coded core, 1 to 8 by table, or as many as a channel element list names.
    public let channelCount: Int
    /// Samples per channel in each frame at `sampleRate`: 1024, or 960.
    public let samplesPerFrame: Int
    /// The configuration as received, in the form an `esds` box holds.
    public let bytes: ByteBuffer

    /// Parses an AudioSpecificConfig.
    ///
    /// - Parameter bytes: The readable bytes, without the FLV header in front.
    public init(_ bytes: ByteBuffer) throws(BitstreamError) {
        var reader = BitReader(bytes, skipsEmulationPrevention: false)
        let signalled = try Self.readObjectType(&reader)
        sampleRate = try Self.readSampleRate(&reader)
        let channels = Int(try reader.bits(4))
        var core = signalled
        if signalled == 5 || signalled == 29 {
            _ = try Self.readSampleRate(&reader)
            core = try Self.readObjectType(&reader)
        }
        guard Self.generalAudioTypes.contains(core) else { throw .unsupported(what: "audio object type \(core)") }
        objectType = signalled
        samplesPerFrame = try reader.flag() ? 960 : 1024
        if try reader.flag() { try reader.skip(14) }
        try reader.skip(1)
        switch channels {
        case 0: channelCount = try Self.readElementList(&reader)
        case 1...6: channelCount = channels
        case 7, 12, 14: channelCount = 8
        case 11: channelCount = 7
        default: throw .invalid(field: "channelConfiguration")
        }
        self.bytes = bytes
    }

    /// The codec as playlists and browsers name it (RFC 6381), such as `mp4a.40.2`.
    public var codecString: String { "mp4a.40.\(objectType)" }

    /// Two configurations are equal when their bytes are.
    public static func == (left: AACConfiguration, right: AACConfiguration) -> Bool {
        left.bytes == right.bytes
    }

    /// Main, LC, SSR and LTP: the object types whose frames have 1024 or 960 samples and whose header is parsed here.
    private static let generalAudioTypes = 1...4

    private static let sampleRates = [
        96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
    ]

    private static func readObjectType(_ reader: inout BitReader) throws(BitstreamError) -> Int {
        let type = Int(try reader.bits(5))
        return type == 31 ? 32 + Int(try reader.bits(6)) : type
    }

    private static func readSampleRate(_ reader: inout BitReader) throws(BitstreamError) -> Int {
        let index = Int(try reader.bits(4))
        if index == 15 {
            let rate = Int(try reader.bits(24))
            guard (4000...192_000).contains(rate) else { throw .invalid(field: "samplingFrequency") }
            return rate
        }
        guard index < sampleRates.count else { throw .invalid(field: "samplingFrequencyIndex") }
        return sampleRates[index]
    }

    /// Parses a program_config_element (14496-3 4.4.1.1) and counts the channels of the elements it lists.
    private static func readElementList(_ reader: inout BitReader) throws(BitstreamError) -> Int {
        try reader.skip(10)
        let speakers = Int(try reader.bits(4)) + Int(try reader.bits(4)) + Int(try reader.bits(4))
        let lowFrequency = Int(try reader.bits(2))
        try reader.skip(7)
        for width in [4, 4, 3] where try reader.flag() { try reader.skip(width) }
        var channels = lowFrequency
        for _ in 0..<speakers {
            channels += try reader.flag() ? 2 : 1
            try reader.skip(4)
        }
        guard channels > 0 else { throw .invalid(field: "program_config_element") }
        return channels
    }
}
