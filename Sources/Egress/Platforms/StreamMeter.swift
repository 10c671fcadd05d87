import Media
import NIOCore
import Stage

/// Measures a stream from its packets, in stretches of about ten seconds on the stream's own clock.
struct StreamMeter: Sendable {
    /// Milliseconds after which a stretch ends with the next key picture.
    static let stretch: Int64 = 10_000
    /// Milliseconds after which it ends without one.
    static let longest: Int64 = 20_000

    /// What the codecs' configurations say.
    private var known = StreamFigures()
    /// When the stretch began; nil before its first key picture or sound.
    private var begin: Int64?
    private var lastKey: Int64?
    private var longestKeyInterval: Int64 = 0
    private var pictures = 0
    private var pictureBytes = 0
    /// Bytes of pictures in the present second of the stretch, and in the second with the most.
    private var second = (number: Int64(0), bytes: 0, most: 0)
    private var configuration: ByteBuffer?
    private var sounds = 0
    private var soundBytes = 0
    private var latestShown = Int64.min
    private var reorderedRun = 0
    private var longestReorderedRun = 0

    init() {}

    /// Takes in a packet; the figures of the stretch that it ends.
    mutating func take(_ packet: MediaPacket) -> StreamFigures? {
        switch packet.content {
        case .metadata, .videoEnd:
            return nil
        case .videoConfiguration(let codec):
            read(codec, packet)
            return nil
        case .audioConfiguration(let codec):
            read(codec, packet)
            return nil
        case .sound:
            guard let begin else {
                if known.videoCodec == nil { self.begin = packet.timestamp }
                return nil
            }
            let isOver = packet.timestamp - begin >= (known.videoCodec == nil ? Self.stretch : Self.longest)
            let figures = isOver ? finish(at: packet.timestamp) : nil
            sounds += 1
            soundBytes += packet.payload.readableBytes
            return figures
        case .picture(_, let isKey, _):
            return takePicture(packet, isKey: isKey)
        }
    }

    private mutating func takePicture(_ packet: MediaPacket, isKey: Bool) -> StreamFigures? {
        let time = packet.timestamp
        var figures: StreamFigures?
        if isKey {
            if let lastKey { longestKeyInterval = max(longestKeyInterval, time - lastKey) }
            if let begin, time - begin >= Self.stretch { figures = finish(at: time) }
            if begin == nil { begin = time }
            lastKey = time
        }
        guard let begin else { return nil }
        pictures += 1
        let number = (time - begin) / 1000
        if number != second.number { second = (number, 0, second.most) }
        second.bytes += packet.payload.readableBytes
        second.most = max(second.most, second.bytes)
        pictureBytes += packet.payload.readableBytes
        let shown = packet.presentationTimestamp
        reorderedRun = !isKey && shown < latestShown ? reorderedRun + 1 : 0
        longestReorderedRun = max(longestReorderedRun, reorderedRun)
        latestShown = max(latestShown, shown)
        return figures
    }

    /// The figures up to `time`, with which the next stretch begins.
    private mutating func finish(at time: Int64) -> StreamFigures? {
        defer {
            begin = time
            (longestKeyInterval, longestReorderedRun) = (0, 0)
            (pictures, pictureBytes, sounds, soundBytes) = (0, 0, 0, 0)
            second = (0, 0, 0)
        }
        // A clock that jumped says nothing about the stream.
        guard let begin, time - begin <= 2 * Self.longest else {
            lastKey = nil
            return nil
        }
        let seconds = Double(time - begin) / 1000
        var figures = known
        if known.videoCodec != nil {
            figures.frameRate = Double(pictures) / seconds
            figures.videoBitrate = Double(pictureBytes) * 8 / 1000 / seconds
            figures.peakVideoBitrate = Double(second.most) * 8 / 1000
            figures.keyInterval = Double(max(longestKeyInterval, time - (lastKey ?? begin))) / 1000
            figures.reorderedPictures = longestReorderedRun
        }
        if known.audioCodec != nil { figures.audioBitrate = Double(soundBytes) * 8 / 1000 / seconds }
        return figures
    }

    private mutating func read(_ codec: VideoCodec, _ packet: MediaPacket) {
        known.videoCodec = codec
        (known.width, known.height, known.profile, known.level) = (nil, nil, nil, nil)
        // Once is enough: a platform that takes none has lost the stream by then.
        if let configuration, configuration != packet.payload { known.hasChanged = true }
        configuration = packet.payload
        // What cannot be read is left unknown: the target will say what it thinks of it.
        guard codec == .h264, let configuration = try? AVCConfiguration(packet.payload) else { return }
        known.width = configuration.sps.width
        known.height = configuration.sps.height
        known.profile = Int(configuration.profile)
        known.level = Int(configuration.level)
    }

    private mutating func read(_ codec: AudioCodec, _ packet: MediaPacket) {
        known.audioCodec = codec
        (known.sampleRate, known.channels) = (nil, nil)
        guard codec == .aac, let configuration = try? AACConfiguration(packet.payload) else { return }
        known.sampleRate = configuration.sampleRate
        known.channels = configuration.channelCount
    }
}
