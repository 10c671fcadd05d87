import Codecs
import Media
import NIOCore
import Stage
import Synchronization

/// Encodes the program's video and audio, and interleaves the packets.
///
/// Output timestamps are whole milliseconds of program time, computed from the absolute frame and sample counters; they
/// never decrease. Audio timestamps are presentation times: the encoder's priming and the limiter's look-ahead are
/// already subtracted. The sink is called on the encoder's thread.
///
/// `@unchecked Sendable`: created on one thread and then used by the encoder's thread alone; state that other threads
/// read is behind a lock or atomic.
final class ProgramEncoder: @unchecked Sendable {
    struct Counters: Sendable {
        var encodeSeconds = 0.0
        var audioSeconds = 0.0
        var keyframes: Int64 = 0
        var bytes: Int64 = 0
        var errors: Int64 = 0
        /// Times that another video encoder took over.
        var takeovers: Int64 = 0
    }

    private let frameRate: FrameRate
    private let firstTimestamp: Int64
    private let ring: CanvasRing
    private let sink: @Sendable (MediaPacket) -> Void
    private var video: AdaptiveEncoder
    private var audio: AudioEncoder
    private var interleaver = Interleaver()
    private var hasStarted = false
    private let configuration: ProgramConfiguration
    private let encoderOptions: String
    private let ladder = Mutex<LadderHandoff>(LadderHandoff())
    private var activeLadder: LadderEncoder?
    /// Makes image files of the program's frames on request.
    let snapshots = SnapshotWorker()
    private let wantsKeyframe = Atomic(false)
    private let loadMonitor: LoadMonitor?
    /// How much of their search the encoders should skip, 0 to 2.
    private let speedLevel = Atomic(0)
    /// The number of the last frame's GOP, counted from the program's beginning; nil before the first.
    private var gop: Int64?
    /// Whether the renditions should be paused.
    private let isLadderIdle = Atomic(false)
    private var isLadderPaused = false
    private let counters = Mutex(Counters())

    /// The audio encoder buffers at most an incomplete frame and one for its look-ahead.
    private static let maximumBacklog: Int64 = 2 * 1024
    /// The minimum number of whole milliseconds between two audio packets.
    private static let audioSpacing: Int64 = 21

    init(
        _ configuration: ProgramConfiguration,
        encoderOptions: String?,
        firstSample: Int64,
        ring: CanvasRing,
        loadMonitor: LoadMonitor? = nil,
        sink: @escaping @Sendable (MediaPacket) -> Void
    ) throws(CodecError) {
        self.configuration = configuration
        let encoderOptions = encoderOptions ?? VideoEncoderConfiguration.usualOptions(of: configuration.preset.rawValue)
        self.encoderOptions = encoderOptions
        frameRate = configuration.frameRate
        firstTimestamp = ProgramTime.milliseconds(ofSample: firstSample)
        self.ring = ring
        self.loadMonitor = loadMonitor
        self.sink = sink
        video = try AdaptiveEncoder(VideoEncoderConfiguration(configuration, options: encoderOptions))
        audio = try AudioEncoder(AudioEncoderConfiguration(bitrate: configuration.audioBitrate * 1000))
    }

    /// Makes the next frame a keyframe; any thread.
    func requestKeyframe() {
        wantsKeyframe.store(true, ordering: .relaxed)
    }

    /// Applies a degradation step with the next keyframe; any thread.
    func degrade(to step: Degradation) {
        speedLevel.store(step.encoderSpeedLevel, ordering: .relaxed)
        isLadderIdle.store(step >= .noRenditions, ordering: .relaxed)
    }

    func snapshot() -> Counters {
        counters.withLock { $0 }
    }

    /// Encodes the configured renditions as well; to be called before the first frame, so that all begin alike.
    ///
    /// - Parameters:
    ///   - hasThreads: Each rendition is encoded on a thread of its own.
    ///   - sink: Receives each rendition's packets with its name.
    /// - Throws: `CodecError` when the encoder rejects a rendition.
    func encodeRenditions(
        hasThreads: Bool,
        sink: @escaping @Sendable (_ rendition: String, MediaPacket) -> Void
    ) throws(CodecError) {
        guard let settings = configuration.ladder, !settings.names.isEmpty else { return }
        let newLadder = try LadderEncoder(
            settings,
            of: configuration,
            encoderOptions: encoderOptions,
            firstTimestamp: firstTimestamp,
            audioConfiguration: .aacConfiguration(audio.configuration, timestamp: firstTimestamp),
            hasThreads: hasThreads,
            sink: sink
        )
        ladder.withLock { $0 = LadderHandoff(ladder: newLadder) }
    }

    /// Statistics of each rendition.
    var renditions: [RenditionStatistics] { ladder.withLock { $0.ladder?.statistics ?? [] } }

    /// Stops encoding; returns when the renditions have ended.
    func close() {
        snapshots.close()
        activeLadder?.close()
    }

    /// Sends both decoder configurations before anything else.
    private func start() {
        guard !hasStarted else { return }
        hasStarted = true
        activeLadder = ladder.withLock { $0.ladder }
        sink(.h264Configuration(video.configuration, timestamp: firstTimestamp))
        sink(.aacConfiguration(audio.configuration, timestamp: firstTimestamp))
    }

    private func encodeVideo(canvas: Int, index: Int64) {
        start()
        let before = MonotonicSleep.threadSeconds()
        let timestamp = ProgramTime.milliseconds(ofSample: frameRate.sample(ofFrame: index))
        let isRequested = wantsKeyframe.exchange(false, ordering: .relaxed)
        // The frame that should begin a GOP may have been dropped; the next one begins it instead.
        let currentGOP = index / Int64(configuration.gopLength)
        let forceKey = isRequested || currentGOP != gop
        gop = currentGOP
        if forceKey { applySpeedLevel() }
        let began = MonotonicTime.now()
        var encoded: MediaPacket?
        var failed = false
        do {
            try video.encode(ring.canvases[canvas], index: index, timestamp: timestamp, forceKey: forceKey) {
                encoded = $0
            }
        } catch {
            failed = true
        }
        if let encoded { interleaver.append(encoded) }
        interleaver.setVideoWatermark(
            ProgramTime.milliseconds(ofSample: frameRate.sample(ofFrame: index + 1))
        )
        let spent = MonotonicSleep.threadSeconds() - before
        loadMonitor?.coded(in: MonotonicTime.now().seconds(since: began), processor: spent)
        counters.withLock { counters in
            counters.encodeSeconds += spent
            counters.keyframes += encoded?.isKeyframe == true ? 1 : 0
            counters.errors += failed ? 1 : 0
        }
        drain()
        // The program's packet is sent already; snapshots and renditions follow.
        snapshots.show(ring.canvases[canvas])
        let isKey = encoded?.isKeyframe ?? false
        // Renditions resume together, at a keyframe.
        if isLadderIdle.load(ordering: .relaxed) { isLadderPaused = true } else if isKey { isLadderPaused = false }
        if !isLadderPaused { activeLadder?.writeFrame(ring.canvases[canvas], index: index, isKey: isKey) }
        ring.release(canvas)
    }

    /// Applies the requested speed level from this frame on, which is a keyframe.
    private func applySpeedLevel() {
        let level = speedLevel.load(ordering: .relaxed)
        activeLadder?.setSpeedLevel(to: level)
        do {
            guard try video.setSpeedLevel(to: level) else { return }
            counters.withLock { $0.takeovers += 1 }
        } catch {
            counters.withLock { $0.errors += 1 }
        }
    }

    private func encodeAudio(
        left: UnsafePointer<Float>,
        right: UnsafePointer<Float>,
        count: Int,
        firstSample: Int64
    ) {
        start()
        let before = MonotonicSleep.threadSeconds()
        var failed = false
        var interleaver = self.interleaver
        do {
            try audio.encode(left: left, right: right, count: count, firstSample: firstSample) { packet in
                // The very first AAC frame is the encoder's priming and lies before the program's beginning.
                guard packet.timestamp >= firstTimestamp else { return }
                interleaver.append(packet)
                interleaver.setAudioWatermark(packet.timestamp + Self.audioSpacing)
                activeLadder?.writeAudio(packet, hasVideo: !isLadderPaused)
            }
        } catch {
            failed = true
        }
        self.interleaver = interleaver
        let end = firstSample + Int64(count) - Int64(audio.priming) - Self.maximumBacklog
        self.interleaver.setAudioWatermark(ProgramTime.milliseconds(ofSample: end))
        activeLadder?.setAudioWatermark(ProgramTime.milliseconds(ofSample: end))
        let spent = MonotonicSleep.threadSeconds() - before
        counters.withLock { counters in
            counters.audioSeconds += spent
            counters.errors += failed ? 1 : 0
        }
        drain()
    }

    private func drain() {
        var bytes: Int64 = 0
        while let packet = interleaver.next() {
            bytes += Int64(packet.body.readableBytes)
            sink(packet)
        }
        if bytes > 0 { counters.withLock { $0.bytes += bytes } }
    }
}

/// Accepts frames and audio without a queue: everything is encoded before the call returns.
extension ProgramEncoder: ProgramOutput {
    var pendingFrames: Int { 0 }

    func writeFrame(canvas: Int, index: Int64) {
        encodeVideo(canvas: canvas, index: index)
    }

    func writeAudio(left: UnsafePointer<Float>, right: UnsafePointer<Float>, count: Int, firstSample: Int64) {
        encodeAudio(left: left, right: right, count: count, firstSample: firstSample)
    }
}

/// Transfers the ladder from the thread that creates it to the encoder's.
///
/// `@unchecked Sendable`: created on one thread, and used by the encoder's alone once it has started; its statistics
/// are behind locks.
private struct LadderHandoff: @unchecked Sendable {
    var ladder: LadderEncoder?
}
