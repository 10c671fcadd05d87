import Media
import NIOCore
import Stage

/// Validates and normalizes the media of one host.
///
/// Accepts H.264 with AAC or MP3. All parameter sets are checked, including in-band ones, so that a decoder never
/// encounters an unsupported frame. Annex B frames are converted to length prefixes; frames with invalid lengths are
/// dropped and counted.
struct HostMediaValidator {
    /// The number of frames dropped because of invalid NAL units.
    private(set) var damagedFrames: UInt64 = 0
    /// The media that the host has sent so far.
    private(set) var published = PublishedMedia()

    private let limit: (long: Int, short: Int)
    private let videoTimeout: Double
    private var videoConfigurations = ConfigurationChangeLimiter()
    private var audioConfigurations = ConfigurationChangeLimiter()
    private var lengthSize: Int?
    private var lastVideo: MonotonicTime?
    private var lastAudio: MonotonicTime?

    /// The seconds without packets after which a track counts as gone.
    static let trackTimeout = 3.0
    /// The same for the video of a screen share, since many encoders send no frames while the screen does not change.
    static let screenVideoTimeout = 30.0
    /// The highest supported H.264 level, times ten.
    private static let highestLevel: UInt8 = 52

    init(limit: (long: Int, short: Int), source: PublishSource = .camera) {
        self.limit = limit
        videoTimeout = source == .screen ? Self.screenVideoTimeout : Self.trackTimeout
    }

    /// Returns the packet to forward, or nil if it is dropped.
    ///
    /// - Throws: 53404 for unsupported media, 53305 for frames beyond the size limit.
    mutating func admit(_ packet: MediaPacket, now: MonotonicTime) throws(StageError) -> MediaPacket? {
        switch packet.content {
        case .metadata, .videoEnd:
            return packet
        case .videoConfiguration(let codec):
            try require(codec)
            guard !videoConfigurations.exceedsLimit(packet.payload, now: now) else { throw .configurationUnstable }
            return try configuration(packet)
        case .video(let codec, _, _):
            try require(codec)
            return try validatedFrame(packet, now: now)
        case .audioConfiguration(let codec):
            try require(codec)
            guard !audioConfigurations.exceedsLimit(packet.payload, now: now) else { throw .configurationUnstable }
            return try validatedAudioConfiguration(packet)
        case .audio(let codec):
            try require(codec)
            lastAudio = now
            published.hasAudio = true
            published.audioCodec = codec.rawValue
            return packet
        }
    }

    /// Removes silent tracks from `published`; called periodically.
    mutating func expireSilentTracks(at now: MonotonicTime) {
        if let lastVideo, now.seconds(since: lastVideo) > videoTimeout { published.hasVideo = false }
        if let lastAudio, now.seconds(since: lastAudio) > Self.trackTimeout { published.hasAudio = false }
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

    /// Checks the coded size, since a set may display a small frame and code a large one.
    private func check(_ set: SequenceParameterSet) throws(StageError) {
        guard set.chromaFormat == 1, set.lumaBitDepth == 8, set.chromaBitDepth == 8 else {
            throw .codecUnsupported("H.264 must be 8-bit 4:2:0, of the Baseline, Main or High profile")
        }
        try check(set.width, set.height, limit: limit)
        // Frames are coded in whole macroblocks, and in pairs of them if interlaced.
        let step = set.isInterlaced ? 32 : 16
        func aligned(_ side: Int) -> Int { side < .max - step ? (side + step - 1) / step * step : side }
        try check(set.codedWidth, set.codedHeight, limit: (aligned(limit.long), aligned(limit.short)))
        guard set.level <= Self.highestLevel else {
            throw .codecUnsupported("H.264 level \(Double(set.level) / 10) is too high, the maximum is 5.2")
        }
    }

    private func check(_ width: Int, _ height: Int, limit: (long: Int, short: Int)) throws(StageError) {
        guard max(width, height) <= limit.long, min(width, height) <= limit.short else {
            let maximum = "\(limit.long)x\(limit.short)"
            throw .trackCapacityReached("A frame of \(width)x\(height) is too large, the maximum is \(maximum)")
        }
    }

    private mutating func validatedAudioConfiguration(_ packet: MediaPacket) throws(StageError) -> MediaPacket {
        guard case .audioConfiguration(.aac) = packet.content else { return packet }
        do {
            _ = try AACConfiguration(packet.payload)
        } catch {
            throw .codecUnsupported("The AAC configuration cannot be read (\(error))")
        }
        return packet
    }

    private mutating func validatedFrame(_ packet: MediaPacket, now: MonotonicTime) throws(StageError) -> MediaPacket? {
        guard let lengthSize else {
            // Frames before the first configuration cannot be decoded.
            damagedFrames += 1
            return nil
        }
        let payload = packet.payload
        guard NALUnits.areWellFormed(in: payload, lengthSize: lengthSize) else {
            return convertedFromAnnexB(packet, payload: payload, lengthSize: lengthSize, now: now)
        }
        for unit in NALUnits(in: payload, lengthSize: lengthSize) where unit.kind == .sequenceParameters {
            guard let set = try? SequenceParameterSet(unit.bytes) else {
                damagedFrames += 1
                return nil
            }
            try check(set)
        }
        recordVideo(now)
        return packet
    }

    /// Converts Annex B to length prefixes, for encoders that send the wrong format.
    private mutating func convertedFromAnnexB(
        _ packet: MediaPacket,
        payload: ByteBuffer,
        lengthSize: Int,
        now: MonotonicTime
    ) -> MediaPacket? {
        guard lengthSize == 4, NALUnits.isAnnexB(payload),
            case .video(_, let isKey, let isDisposable) = packet.content
        else {
            damagedFrames += 1
            return nil
        }
        let units = NALUnits.lengthPrefixed(fromAnnexB: payload, keepsParameterSets: false)
        guard units.readableBytes > 0 else {
            damagedFrames += 1
            return nil
        }
        recordVideo(now)
        return .h264Frame(
            isKey: isKey,
            isDisposable: isDisposable,
            timestamp: packet.timestamp,
            compositionOffset: packet.compositionOffset,
            capacity: units.readableBytes
        ) { $0.writeImmutableBuffer(units) }
    }

    private mutating func recordVideo(_ now: MonotonicTime) {
        lastVideo = now
        published.hasVideo = true
    }
}

extension StageError {
    fileprivate static let configurationUnstable = codecUnsupported("The codec configuration changes too often")
}

/// Detects configurations of a track that change more often than any encoder needs.
///
/// Each change makes the mixer open another decoder; repetitions of the same configuration are free.
struct ConfigurationChangeLimiter {
    /// The number of changes accepted per window.
    static let maximumChanges = 20
    private static let window = 10.0

    private var last: ByteBuffer?
    private var windowStart: MonotonicTime?
    private var changes = 0

    /// Records a configuration.
    ///
    /// - Returns: Whether the limit is exceeded.
    mutating func exceedsLimit(_ configuration: ByteBuffer, now: MonotonicTime) -> Bool {
        guard configuration != last else { return false }
        last = configuration
        if let start = windowStart, now.seconds(since: start) < Self.window {
            changes += 1
        } else {
            windowStart = now
            changes = 1
        }
        return changes > Self.maximumChanges
    }
}
