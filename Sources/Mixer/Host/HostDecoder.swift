import Codecs
import DequeModule
import Media
import NIOCore
import Synchronization

/// Decodes one host's video and audio; owned by the host's decode thread.
///
/// An error costs the host its frames until the next keyframe, or one frame of audio, and no other host anything.
struct HostDecoder: ~Copyable {
    private var video: VideoDecoder?
    private var videoConfiguration: MediaPacket?
    private var isWaitingForKeyframe = true
    /// What the decoder may skip regardless of the tile size.
    var economy = VideoDecoder.Economy.none {
        didSet { updateEconomy() }
    }
    /// How the host is shown; see `isBehind` for a host that becomes visible again.
    var visibility = HostVisibility.whole {
        didSet {
            guard visibility != oldValue else { return }
            video?.reduction = visibility.reduction
            updateEconomy()
        }
    }
    /// The number of the last reappearance whose undecoded frames are all decoded.
    var reappearances = 0
    /// The economy in force.
    private var applied = VideoDecoder.Economy.none
    /// The size of the last frame.
    private var size: (width: Int, height: Int)?
    /// Frames of the last complete GOP, or of the current one if that is longer; nil before the first.
    private var gopLength: Int?
    /// Frames since the last keyframe.
    private var framesSinceKeyframe: Int?
    /// The part of the decoder's downscale seconds that is already counted.
    private var countedDownscaleSeconds = 0.0
    private var undecoded = UndecodedFrameBuffer()
    private var audio: AudioDecoder?
    private var audioConfiguration: MediaPacket?

    init() {}

    /// Decodes one packet into `media`; timestamps are unified host time in milliseconds.
    mutating func decode(_ packet: MediaPacket, into media: borrowing Mutex<DecodedMedia>) {
        let before = MonotonicSleep.threadSeconds()
        var failed = false
        do {
            switch packet.content {
            case .videoConfiguration: try configureVideo(packet, media)
            case .video: try decodeVideo(packet, media)
            case .audioConfiguration: try configureAudio(packet)
            case .audio(let codec): try decodeAudio(packet, codec, media)
            case .metadata, .videoEnd: break
            }
        } catch {
            failed = true
        }
        account(for: packet, failed, since: before, in: media)
    }

    /// Whether the host is visible again and undecoded frames wait.
    var isBehind: Bool { visibility != .hidden && !undecoded.isEmpty }

    /// Decodes one of the waiting frames; between two of them audio can be decoded.
    mutating func catchUp(into media: borrowing Mutex<DecodedMedia>) {
        guard let packet = undecoded.popFirst() else { return }
        let before = MonotonicSleep.threadSeconds()
        var failed = false
        do {
            try decodeVisible(packet, media)
        } catch {
            failed = true
        }
        account(for: packet, failed, since: before, in: media)
    }

    private mutating func account(
        for packet: MediaPacket,
        _ failed: Bool,
        since before: Double,
        in media: borrowing Mutex<DecodedMedia>
    ) {
        let isVideo = packet.isVideo
        if failed, isVideo {
            isWaitingForKeyframe = true
            undecoded.removeAll()
        }
        let spent = MonotonicSleep.threadSeconds() - before
        let reducing = readReducingSeconds()
        media.withLock { media in
            if failed { media.decodeErrors += 1 }
            media.downscaleSeconds += reducing
            if isVideo { media.decodeSeconds += max(spent - reducing, 0) } else { media.audioSeconds += spent }
        }
    }

    /// Returns the seconds spent on downscaling since the last call.
    private mutating func readReducingSeconds() -> Double {
        let seconds = video?.downscaleSeconds ?? 0
        defer { countedDownscaleSeconds = seconds }
        // A new decoder counts from zero.
        return seconds < countedDownscaleSeconds ? seconds : seconds - countedDownscaleSeconds
    }

    private mutating func configureVideo(
        _ packet: MediaPacket,
        _ media: borrowing Mutex<DecodedMedia>
    ) throws(CodecError) {
        // Encoders repeat their configuration at will; only a different one needs a new decoder.
        if let videoConfiguration, video != nil, videoConfiguration.payload == packet.payload { return }
        video?.flush { frame in media.withLock { $0.append(frame) } }
        video = nil
        videoConfiguration = packet
        isWaitingForKeyframe = true
        undecoded.removeAll()
        video = try VideoDecoder(configuration: packet)
        video?.economy = applied
        video?.reduction = visibility.reduction
    }

    private mutating func updateEconomy() {
        let requested = economy == .none ? visibility.economy(of: size, gopLength: gopLength) : economy
        guard requested != applied else { return }
        video?.economy = requested
        // Of the reference frames of the next frames, only keyframes are there.
        if applied == .keyframesOnly { isWaitingForKeyframe = true }
        applied = requested
    }

    private mutating func decodeVideo(
        _ packet: MediaPacket,
        _ media: borrowing Mutex<DecodedMedia>
    ) throws(CodecError) {
        if isWaitingForKeyframe {
            guard packet.isKeyframe else { return }
            isWaitingForKeyframe = false
        }
        if visibility == .hidden { return try storeUndecoded(packet, media) }
        guard undecoded.isEmpty else {
            // The frame waits behind those that it depends on.
            isWaitingForKeyframe = !undecoded.append(packet)
            return
        }
        try decodeVisible(packet, media)
    }

    private mutating func decodeVisible(
        _ packet: MediaPacket,
        _ media: borrowing Mutex<DecodedMedia>
    ) throws(CodecError) {
        var size = size
        measureGOP(packet)
        try video?.decode(packet) { frame in
            size = (frame.width, frame.height)
            media.withLock { $0.append(frame) }
        }
        self.size = size
        updateEconomy()
    }

    private mutating func measureGOP(_ packet: MediaPacket) {
        if packet.isKeyframe {
            gopLength = framesSinceKeyframe ?? gopLength
            framesSinceKeyframe = 1
        } else if let count = framesSinceKeyframe {
            framesSinceKeyframe = count + 1
            gopLength = gopLength.map { max($0, count + 1) }
        }
    }

    /// Decodes only keyframes, and stores the other frames until the host becomes visible again.
    private mutating func storeUndecoded(
        _ packet: MediaPacket,
        _ media: borrowing Mutex<DecodedMedia>
    ) throws(CodecError) {
        isWaitingForKeyframe = !undecoded.append(packet)
        guard !isWaitingForKeyframe else { return }
        guard packet.isKeyframe else { return media.withLock { $0.undecodedFrames += 1 } }
        media.withLock { $0.discardBeforeKeyframe() }
        try decodeVisible(packet, media)
        // Flushed at once, without waiting for reordering; the keyframe is decoded again with the frames after it.
        video?.flush { frame in media.withLock { $0.append(frame) } }
    }

    private mutating func configureAudio(_ packet: MediaPacket) throws(CodecError) {
        if let audioConfiguration, audio != nil, audioConfiguration.payload == packet.payload { return }
        audio = nil
        audioConfiguration = packet
        audio = try AudioDecoder(codec: .aac, configuration: packet)
    }

    private mutating func decodeAudio(
        _ packet: MediaPacket,
        _ codec: AudioCodec,
        _ media: borrowing Mutex<DecodedMedia>
    ) throws(CodecError) {
        if codec == .mp3, audio == nil || audioConfiguration != nil {
            audioConfiguration = nil
            audio = try AudioDecoder(codec: .mp3, configuration: nil)
        }
        try audio?.decode(packet) { block in
            block.withChannels { (left, right) in
                guard let leftStart = left.baseAddress, let rightStart = right.baseAddress else { return }
                media.withLock {
                    $0.audio.append(
                        leftStart,
                        rightStart,
                        count: left.count,
                        timestamp: block.timestamp,
                        packet: packet.timestamp
                    )
                }
            }
        }
    }
}

/// The undecoded frames of a host without a tile, since its last keyframe.
///
/// A decoder catches up with them when the host becomes visible again.
struct UndecodedFrameBuffer: Sendable {
    /// Ten seconds at 30 frames a second; a longer GOP could not be caught up with quickly.
    private static let maximumFrames = 300
    private static let largestSize = 16 << 20

    private var packets = Deque<MediaPacket>()
    private var size = 0

    /// Appends a frame; a keyframe replaces all before it.
    ///
    /// - Returns: False when the buffer is full and was emptied; only a keyframe can follow.
    mutating func append(_ packet: MediaPacket) -> Bool {
        if packet.isKeyframe { removeAll() }
        size += packet.body.readableBytes
        guard packets.count < Self.maximumFrames, size <= Self.largestSize else {
            removeAll()
            return false
        }
        packets.append(packet)
        return true
    }

    var isEmpty: Bool { packets.isEmpty }

    mutating func popFirst() -> MediaPacket? {
        guard let packet = packets.popFirst() else { return nil }
        size -= packet.body.readableBytes
        return packet
    }

    mutating func removeAll() {
        packets.removeAll(keepingCapacity: true)
        size = 0
    }
}
