import Media
import NIOCore
import Stage
import Synchronization

/// Measures a stream from its packets, in intervals of about ten seconds of stream time.
struct StreamMeter: Sendable {
    /// Milliseconds after which an interval ends with the next keyframe.
    static let stretch: Int64 = 10_000
    /// Milliseconds after which an interval ends without one.
    static let longest: Int64 = 20_000

    /// The figures from the codec configurations.
    private var known = StreamProperties()
    /// The start of the interval; nil before its first keyframe or audio.
    private var begin: Int64?
    private var lastKey: Int64?
    private var longestKeyInterval: Int64 = 0
    private var frames = 0
    private var videoBytes = 0
    /// Video bytes in the current second of the interval, and the maximum of all seconds.
    private var second = (number: Int64(0), bytes: 0, most: 0)
    private var configuration: ByteBuffer?
    private var audioFrames = 0
    private var audioBytes = 0
    private var latestShown = Int64.min
    private var reorderedRun = 0
    private var longestReorderedRun = 0

    init() {}

    /// Adds a packet; returns the figures of the interval that it ends.
    mutating func add(_ packet: MediaPacket) -> StreamProperties? {
        switch packet.content {
        case .metadata, .videoEnd:
            return nil
        case .videoConfiguration(let codec):
            read(codec, packet)
            return nil
        case .audioConfiguration(let codec):
            read(codec, packet)
            return nil
        case .audio:
            guard let begin else {
                if known.videoCodec == nil { self.begin = packet.timestamp }
                return nil
            }
            let isOver = packet.timestamp - begin >= (known.videoCodec == nil ? Self.stretch : Self.longest)
            let figures = isOver ? finish(at: packet.timestamp) : nil
            audioFrames += 1
            audioBytes += packet.payload.readableBytes
            return figures
        case .video(_, let isKey, _):
            return addFrame(packet, isKey: isKey)
        }
    }

    private mutating func addFrame(_ packet: MediaPacket, isKey: Bool) -> StreamProperties? {
        let time = packet.timestamp
        var figures: StreamProperties?
        if isKey {
            if let lastKey { longestKeyInterval = max(longestKeyInterval, time - lastKey) }
            if let begin, time - begin >= Self.stretch { figures = finish(at: time) }
            if begin == nil { begin = time }
            lastKey = time
        }
        guard let begin else { return nil }
        frames += 1
        let number = (time - begin) / 1000
        if number != second.number { second = (number, 0, second.most) }
        second.bytes += packet.payload.readableBytes
        second.most = max(second.most, second.bytes)
        videoBytes += packet.payload.readableBytes
        let shown = packet.presentationTimestamp
        reorderedRun = !isKey && shown < latestShown ? reorderedRun + 1 : 0
        longestReorderedRun = max(longestReorderedRun, reorderedRun)
        latestShown = max(latestShown, shown)
        return figures
    }

    /// Returns the figures up to `time` and starts the next interval.
    private mutating func finish(at time: Int64) -> StreamProperties? {
        defer {
            begin = time
            (longestKeyInterval, longestReorderedRun) = (0, 0)
            (frames, videoBytes, audioFrames, audioBytes) = (0, 0, 0, 0)
            second = (0, 0, 0)
        }
        // A discontinuous clock gives no valid figures.
        guard let begin, time - begin <= 2 * Self.longest else {
            lastKey = nil
            return nil
        }
        let seconds = Double(time - begin) / 1000
        var figures = known
        if known.videoCodec != nil {
            figures.frameRate = Double(frames) / seconds
            figures.videoBitrate = Double(videoBytes) * 8 / 1000 / seconds
            figures.peakVideoBitrate = Double(second.most) * 8 / 1000
            figures.keyInterval = Double(max(longestKeyInterval, time - (lastKey ?? begin))) / 1000
            figures.reorderedFrames = longestReorderedRun
        }
        if known.audioCodec != nil { figures.audioBitrate = Double(audioBytes) * 8 / 1000 / seconds }
        return figures
    }

    private mutating func read(_ codec: VideoCodec, _ packet: MediaPacket) {
        known.videoCodec = codec
        (known.width, known.height, known.profile, known.level) = (nil, nil, nil, nil)
        // One change is enough: a platform that does not support it has lost the stream by then.
        if let configuration, configuration != packet.payload { known.hasChanged = true }
        configuration = packet.payload
        // A configuration that cannot be parsed leaves its figures unknown.
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

/// Measures a feed on behalf of all outputs that push it.
final class FeedMeter: Sendable, PacketSink {
    private struct State: Sendable {
        var meter = StreamMeter()
        var figures: StreamProperties?
    }

    private let state = Mutex(State())

    func receive(_ packet: MediaPacket) {
        state.withLock { state in
            if let figures = state.meter.add(packet) { state.figures = figures }
        }
    }

    /// Returns the latest figures once; nil until there are new ones.
    func removeFigures() -> StreamProperties? {
        state.withLock { state in
            defer { state.figures = nil }
            return state.figures
        }
    }
}
