import Codecs
import DequeModule
import Dispatch
import Media
import NIOCore
import Stage
import Synchronization

/// Encodes one rendition: its own frame size and video encoder, with the program's audio.
///
/// Frames and audio come on the program's encoder thread and wait in a bounded queue. `@unchecked Sendable`: state that
/// is not behind the lock belongs to the thread that processes the queue.
final class RenditionEncoder: @unchecked Sendable {
    private let video: RenditionVideoEncoder?
    private let audioConfiguration: MediaPacket?
    private let sink: @Sendable (MediaPacket) -> Void
    private let hasThread: Bool
    private let queue: Mutex<RenditionQueue>
    private let counters: Mutex<RenditionStatistics>
    private let wake = DispatchSemaphore(value: 0)
    private let isClosed = Atomic(false)
    /// How much of its search the encoder should skip, 0 to 2.
    private let speedLevel = Atomic(0)
    private var thread: WorkerThread?
    private var interleaver = Interleaver()
    private var hasStarted = false
    /// The last frame queued, and whether a due keyframe was not; used on the program's encoder thread only.
    private var newest: Int64?
    private var needsKeyframe = false

    /// - Parameters:
    ///   - video: Nil for the audio-only rendition.
    ///   - audioConfiguration: The decoder configuration of the program's audio; nil for video alone.
    ///   - hasThread: The rendition is encoded on a thread of its own; otherwise in the calls.
    init(
        _ name: String,
        video: RenditionVideoEncoder?,
        audioConfiguration: MediaPacket?,
        hasThread: Bool,
        sink: @escaping @Sendable (MediaPacket) -> Void
    ) {
        self.video = video
        self.audioConfiguration = audioConfiguration
        self.sink = sink
        self.hasThread = hasThread
        queue = Mutex(RenditionQueue(canvases: RenditionVideoEncoder.canvasCount))
        counters = Mutex(RenditionStatistics(name: name))
        // One alone need not be interleaved.
        if video == nil { interleaver.setVideoWatermark(.max) }
        if audioConfiguration == nil { interleaver.setAudioWatermark(.max) }
        if hasThread { thread = WorkerThread(name: name) { self.run() } }
    }

    var statistics: RenditionStatistics {
        var result = counters.withLock { $0 }
        result.droppedFrames = queue.withLock { $0.dropped }
        return result
    }

    // MARK: On the program's encoder thread

    /// Scales a frame of the program, or of a larger rendition, and queues it for encoding.
    ///
    /// - Returns: The scaled canvas; nil when the frame is not in the rendition.
    func writeFrame(from source: Canvas, index: Int64, isKey: Bool) -> Canvas? {
        guard let video else { return nil }
        needsKeyframe = needsKeyframe || isKey
        guard video.includes(index, after: newest, isKey: isKey) else { return nil }
        let isKey = needsKeyframe
        guard let number = queue.withLock({ $0.acquireCanvas(index: index, isKey: isKey) }) else {
            processQueue()
            return nil
        }
        let canvas = video.canvases[number]
        do throws(CodecError) {
            try canvas.scale(from: source)
        } catch {
            queue.withLock { queue in
                queue.release(number)
                queue.append(.skipped(index: index))
            }
            counters.withLock { $0.errors += 1 }
            processQueue()
            return nil
        }
        queue.withLock { $0.append(.frame(canvas: number, index: index, isKey: isKey)) }
        newest = index
        needsKeyframe = false
        processQueue()
        return canvas
    }

    /// Sets how much of the search is skipped, 0 to 2, from the next keyframe on.
    func setSpeedLevel(to level: Int) {
        speedLevel.store(level, ordering: .relaxed)
    }

    func writeAudio(_ packet: MediaPacket) {
        queue.withLock { $0.append(.audio(packet)) }
        processQueue()
    }

    func setAudioWatermark(_ timestamp: Int64) {
        queue.withLock { $0.append(.audioWatermark(timestamp)) }
        processQueue()
    }

    /// Ends the rendition; returns when its thread has ended.
    func close() {
        isClosed.store(true, ordering: .releasing)
        wake.signal()
        thread?.join()
    }

    private func processQueue() {
        if hasThread { wake.signal() } else { while let job = queue.withLock({ $0.next() }) { process(job) } }
    }

    // MARK: On the rendition's thread

    private func run() {
        while true {
            if let job = queue.withLock({ $0.next() }) {
                process(job)
            } else if isClosed.load(ordering: .acquiring) {
                return
            } else {
                wake.wait()
            }
        }
    }

    private func process(_ job: RenditionQueue.Job) {
        start()
        switch job {
        case .frame(let canvas, let index, let isKey): encode(canvas, index: index, isKey: isKey)
        case .skipped(let index): advanceWatermark(after: index)
        case .audio(let packet): interleaver.append(packet)
        case .audioWatermark(let timestamp): interleaver.setAudioWatermark(timestamp)
        }
        var bytes: Int64 = 0
        while let packet = interleaver.next() {
            bytes += Int64(packet.body.readableBytes)
            sink(packet)
        }
        if bytes > 0 { counters.withLock { $0.bytes += bytes } }
    }

    /// Sends the decoder configurations before anything else.
    private func start() {
        guard !hasStarted else { return }
        hasStarted = true
        if let video { sink(video.configuration) }
        if let audioConfiguration { sink(audioConfiguration) }
    }

    private func encode(_ canvas: Int, index: Int64, isKey: Bool) {
        guard let video else { return }
        let before = MonotonicSleep.threadSeconds()
        if isKey { setSpeedLevel(video) }
        let made = video.encode(canvas, index: index, isKey: isKey)
        queue.withLock { $0.release(canvas) }
        if let made { interleaver.append(made) }
        advanceWatermark(after: index)
        let spent = MonotonicSleep.threadSeconds() - before
        counters.withLock { counters in
            counters.encodeSeconds += spent
            counters.frames += made == nil ? 0 : 1
            counters.errors += made == nil ? 1 : 0
        }
    }

    private func setSpeedLevel(_ video: RenditionVideoEncoder) {
        do {
            guard try video.setSpeedLevel(to: speedLevel.load(ordering: .relaxed)) else { return }
            counters.withLock { $0.takeovers += 1 }
        } catch {
            counters.withLock { $0.errors += 1 }
        }
    }

    private func advanceWatermark(after index: Int64) {
        guard let video else { return }
        interleaver.setVideoWatermark(video.timestamp(of: video.next(after: index)))
    }
}

/// Counters of a rendition since its start.
public struct RenditionStatistics: Sendable, Equatable {
    /// The rendition's name.
    public var name: String
    /// Frames encoded.
    public var frames: Int64 = 0
    /// Frames skipped because the rendition's encoder was behind.
    public var droppedFrames: Int64 = 0
    /// Processor seconds for encoding video.
    public var encodeSeconds = 0.0
    /// Bytes of packets handed to the sink.
    public var bytes: Int64 = 0
    /// Errors of the encoder.
    public var errors: Int64 = 0
    /// Times that an encoder with another search effort took over.
    public var takeovers: Int64 = 0

    /// Makes statistics with all counters at zero.
    public init(name: String) {
        self.name = name
    }
}

/// The job queue of a rendition's encoder, with its free canvases.
///
/// At most two frames wait. A frame that finds no free canvas is skipped, but a keyframe never is: it replaces the
/// newest one that waits, so that keyframes stay aligned between all renditions.
struct RenditionQueue: Sendable {
    enum Job: Sendable, Equatable {
        case frame(canvas: Int, index: Int64, isKey: Bool)
        /// The frame is not in the rendition.
        case skipped(index: Int64)
        case audio(MediaPacket)
        case audioWatermark(Int64)

        static func == (left: Job, right: Job) -> Bool {
            switch (left, right) {
            case (.frame(let a, let b, let c), .frame(let x, let y, let z)): a == x && b == y && c == z
            case (.skipped(let a), .skipped(let b)): a == b
            case (.audio(let a), .audio(let b)): a.timestamp == b.timestamp
            case (.audioWatermark(let a), .audioWatermark(let b)): a == b
            default: false
            }
        }
    }

    /// More than twenty seconds of audio; beyond that the rendition's thread does not run at all.
    private static let maximumJobs = 2048

    private var jobs: Deque<Job> = []
    private var free: [Int]
    private(set) var dropped: Int64 = 0

    init(canvases: Int) {
        free = Array(0..<canvases)
    }

    /// Returns a canvas to paint frame `index` on; nil when it is skipped.
    mutating func acquireCanvas(index: Int64, isKey: Bool) -> Int? {
        if let canvas = free.popLast() { return canvas }
        dropped += 1
        let newest = jobs.lastIndex { if case .frame = $0 { true } else { false } }
        guard isKey, let newest, case .frame(let canvas, let left, _) = jobs[newest] else {
            append(.skipped(index: index))
            return nil
        }
        jobs[newest] = .skipped(index: left)
        return canvas
    }

    mutating func append(_ job: Job) {
        guard jobs.count < Self.maximumJobs else { return }
        jobs.append(job)
    }

    mutating func next() -> Job? {
        jobs.popFirst()
    }

    mutating func release(_ canvas: Int) {
        free.append(canvas)
    }
}

/// The canvases and the video encoder of a rendition.
///
/// `@unchecked Sendable`: a canvas is painted by the program's encoder thread and read by the rendition's own, one
/// after the other, as its queue orders it; the encoder is used by the rendition's thread alone.
final class RenditionVideoEncoder: @unchecked Sendable {
    /// One is being encoded, one waits, one is being painted.
    static let canvasCount = 3

    let canvases: [Canvas]
    /// The rendition has one of this many program frames.
    let step: Int64
    let configuration: MediaPacket
    private var encoder: AdaptiveEncoder
    private let frameRate: FrameRate

    init(
        _ rendition: Rendition,
        of program: ProgramConfiguration,
        encoderOptions: String,
        firstTimestamp: Int64
    ) throws(CodecError) {
        let step = rendition.step(in: program) ?? 1
        var canvases: [Canvas] = []
        for _ in 0..<Self.canvasCount {
            canvases.append(try Canvas(width: rendition.width, height: rendition.height))
        }
        let encoder = try AdaptiveEncoder(
            VideoEncoderConfiguration(
                width: rendition.width,
                height: rendition.height,
                frameRateNumerator: program.frameRate.numerator,
                frameRateDenominator: program.frameRate.denominator * step,
                bitrate: rendition.videoBitrate * 1000,
                preset: program.preset.rawValue,
                keyInterval: max(program.gopLength / step, 1),
                options: encoderOptions
            )
        )
        self.canvases = canvases
        self.step = Int64(step)
        configuration = .h264Configuration(encoder.configuration, timestamp: firstTimestamp)
        self.encoder = encoder
        frameRate = program.frameRate
    }

    /// Returns whether the rendition has program frame `index`.
    ///
    /// A keyframe that replaces one dropped from the program is in all renditions.
    func includes(_ index: Int64, after newest: Int64?, isKey: Bool) -> Bool {
        if index % step == 0 { return true }
        return isKey && newest.map { $0 / step < index / step } ?? false
    }

    /// Returns the earliest frame that may follow `index`.
    func next(after index: Int64) -> Int64 { (index / step + 1) * step }

    /// Returns the timestamp of program frame `index` in milliseconds.
    func timestamp(of index: Int64) -> Int64 {
        ProgramTime.milliseconds(ofSample: frameRate.sample(ofFrame: index))
    }

    /// Sets how much of the search is skipped, 0 to 2; to be called before a keyframe.
    ///
    /// - Returns: Whether another encoder took over.
    func setSpeedLevel(to speedLevel: Int) throws(CodecError) -> Bool { try encoder.setSpeedLevel(to: speedLevel) }

    /// Encodes the frame on a canvas; nil when that fails.
    func encode(_ canvas: Int, index: Int64, isKey: Bool) -> MediaPacket? {
        var made: MediaPacket?
        do {
            try encoder.encode(
                canvases[canvas],
                index: index / step,
                timestamp: timestamp(of: index),
                forceKey: isKey
            ) { made = $0 }
        } catch {
            return nil
        }
        return made
    }
}
