import Media
import NIOCore
import Stage

/// Checks and straightens what one host sends, before anything else looks at it.
///
/// H.264 with AAC or MP3 passes. All parameter sets are read here, those within pictures too, so that a decoder never meets
/// a picture it was not made for; pictures with start codes get length prefixes; a picture whose lengths lead nowhere is dropped and counted.
struct HostMedia {
    /// Pictures dropped because their NAL units made no sense.
    private(set) var damagedPictures: UInt64 = 0
    /// What the host carries, as far as it has been seen.
    private(set) var published = PublishedMedia()

    private let limit: (long: Int, short: Int)
    private let pictureSilence: Double
    private var pictureConfigurations = ConfigurationWatch()
    private var soundConfigurations = ConfigurationWatch()
    private var lengthSize: Int?
    private var lastPicture: MonotonicTime?
    private var lastSound: MonotonicTime?

    /// A track of which nothing came for this long is taken as gone until something does, in seconds.
    static let silence = 3.0
    /// The same for the pictures of a screen, of which many encoders send none while nothing on it changes.
    static let stillness = 30.0
    /// Highest H.264 level a decoder here is asked to handle, times ten.
    private static let highestLevel: UInt8 = 52

    init(limit: (long: Int, short: Int), source: PublishSource = .camera) {
        self.limit = limit
        pictureSilence = source == .screen ? Self.stillness : Self.silence
    }

    /// The packet as it may go on, or nil when it is dropped.
    ///
    /// - Throws: 53404 for what cannot be decoded here, 53305 for a picture beyond the limit.
    mutating func admit(_ packet: MediaPacket, now: MonotonicTime) throws(StageError) -> MediaPacket? {
        switch packet.content {
        case .metadata, .videoEnd:
            return packet
        case .videoConfiguration(let codec):
            try require(codec)
            guard !pictureConfigurations.isTooMany(packet.payload, now: now) else { throw .configurationUnsteady }
            return try configuration(packet)
        case .picture(let codec, _, _):
            try require(codec)
            return try picture(packet, now: now)
        case .audioConfiguration(let codec):
            try require(codec)
            guard !soundConfigurations.isTooMany(packet.payload, now: now) else { throw .configurationUnsteady }
            return try soundConfiguration(packet)
        case .sound(let codec):
            try require(codec)
            lastSound = now
            published.hasAudio = true
            published.audioCodec = codec.rawValue
            return packet
        }
    }

    /// Takes tracks off what is published that were silent for too long; to be called now and then.
    mutating func notice(at now: MonotonicTime) {
        if let lastPicture, now.seconds(since: lastPicture) > pictureSilence { published.hasVideo = false }
        if let lastSound, now.seconds(since: lastSound) > Self.silence { published.hasAudio = false }
    }

    private func require(_ codec: VideoCodec) throws(StageError) {
        guard codec == .h264 else { throw .codecUnsupported("\(codec.rawValue) is not supported") }
    }

    private func require(_ codec: AudioCodec) throws(StageError) {
        guard codec == .aac || codec == .mp3 else { throw .codecUnsupported("\(codec.rawValue) is not supported") }
    }

    private mutating func configuration(_ packet: MediaPacket) throws(StageError) -> MediaPacket? {
        let configuration: AVCConfiguration
        do {
            configuration = try AVCConfiguration(packet.payload)
        } catch {
            throw .codecUnsupported("The H.264 configuration cannot be read (\(error))")
        }
        let sps = configuration.sps
        for unit in configuration.sequenceParameterSets {
            guard let set = try? SequenceParameterSet(unit) else {
                throw .codecUnsupported("The H.264 configuration cannot be read (a sequence parameter set is damaged)")
            }
            try check(set)
        }
        lengthSize = configuration.nalLengthSize
        published.width = sps.width
        published.height = sps.height
        published.frameRate = sps.frameRate
        published.videoCodec = VideoCodec.h264.rawValue
        return .h264Configuration(configuration.record, timestamp: packet.timestamp)
    }

    /// Checks what a decoder would be made for: a set may announce small pictures and code large ones.
    private func check(_ set: SequenceParameterSet) throws(StageError) {
        guard set.chromaFormat == 1, set.lumaBitDepth == 8, set.chromaBitDepth == 8 else {
            throw .codecUnsupported("H.264 must be 8-bit 4:2:0, of the Baseline, Main or High profile")
        }
        try check(set.width, set.height, limit: limit)
        // Pictures are coded in whole macroblocks, and in pairs of them where they have two fields.
        let step = set.isInterlaced ? 32 : 16
        func whole(_ side: Int) -> Int { side < .max - step ? (side + step - 1) / step * step : side }
        try check(set.codedWidth, set.codedHeight, limit: (whole(limit.long), whole(limit.short)))
        guard set.level <= Self.highestLevel else {
            throw .codecUnsupported("H.264 level \(Double(set.level) / 10) is too high, 5.2 is the most")
        }
    }

    private func check(_ width: Int, _ height: Int, limit: (long: Int, short: Int)) throws(StageError) {
        guard max(width, height) <= limit.long, min(width, height) <= limit.short else {
            let most = "\(limit.long)x\(limit.short)"
            throw .trackCapacityReached("A picture of \(width)x\(height) is too large, \(most) is the most")
        }
    }

    private mutating func soundConfiguration(_ packet: MediaPacket) throws(StageError) -> MediaPacket {
        guard case .audioConfiguration(.aac) = packet.content else { return packet }
        do {
            _ = try AACConfiguration(packet.payload)
        } catch {
            throw .codecUnsupported("The AAC configuration cannot be read (\(error))")
        }
        return packet
    }

    private mutating func picture(_ packet: MediaPacket, now: MonotonicTime) throws(StageError) -> MediaPacket? {
        guard let lengthSize else {
            // Pictures before the first configuration cannot be decoded by anyone.
            damagedPictures += 1
            return nil
        }
        let payload = packet.payload
        guard NALUnits.areWellFormed(in: payload, lengthSize: lengthSize) else {
            return straightened(packet, payload: payload, lengthSize: lengthSize, now: now)
        }
        for unit in NALUnits(in: payload, lengthSize: lengthSize) where unit.kind == .sequenceParameters {
            guard let set = try? SequenceParameterSet(unit.bytes) else {
                damagedPictures += 1
                return nil
            }
            try check(set)
        }
        notePicture(now)
        return packet
    }

    /// Length prefixes in place of start codes, for encoders that send the wrong form.
    private mutating func straightened(
        _ packet: MediaPacket,
        payload: ByteBuffer,
        lengthSize: Int,
        now: MonotonicTime
    ) -> MediaPacket? {
        guard lengthSize == 4, NALUnits.isAnnexB(payload),
            case .picture(_, let isKey, let isDisposable) = packet.content
        else {
            damagedPictures += 1
            return nil
        }
        let units = NALUnits.lengthPrefixed(fromAnnexB: payload, keepsParameterSets: false)
        guard units.readableBytes > 0 else {
            damagedPictures += 1
            return nil
        }
        notePicture(now)
        return .h264Picture(
            isKey: isKey,
            isDisposable: isDisposable,
            timestamp: packet.timestamp,
            compositionOffset: packet.compositionOffset,
            capacity: units.readableBytes
        ) { $0.writeImmutableBuffer(units) }
    }

    private mutating func notePicture(_ now: MonotonicTime) {
        lastPicture = now
        published.hasVideo = true
    }
}

extension StageError {
    fileprivate static let configurationUnsteady = codecUnsupported("The codec's configuration changes all the time")
}
