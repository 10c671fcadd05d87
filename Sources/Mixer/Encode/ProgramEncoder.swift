import Codecs
import Media
import NIOCore
import Stage
import Synchronization

/// The program's two encoders and the one order of what comes out of them.
///
/// Timestamps out: whole milliseconds of program time, taken from the absolute picture and sample counters; they never
/// decrease. Sound is numbered by what a player hears, so the encoder's priming and the limiter's look-ahead are taken
/// off already. The sink is called on the thread that calls in here.
///
/// `@unchecked Sendable`: made on one thread and then used by the encoder's thread alone; what others may read is behind
/// a lock or atomic.
final class ProgramEncoder: @unchecked Sendable {
    struct Counters: Sendable {
        var encodeSeconds = 0.0
        var soundSeconds = 0.0
        var keyPictures: Int64 = 0
        var bytes: Int64 = 0
        var errors: Int64 = 0
        /// Times that another coder took over.
        var takeovers: Int64 = 0
    }

    private let frameRate: FrameRate
    private let firstTimestamp: Int64
    private let ring: CanvasRing
    private let sink: @Sendable (MediaPacket) -> Void
    private var video: ThriftyCoder
    private var audio: AudioEncoder
    private var interleaver = Interleaver()
    private var hasBegun = false
    private let configuration: ProgramConfiguration
    private let encoderOptions: String
    private let ladder = Mutex<LadderPlace>(LadderPlace())
    private var present: Ladder?
    /// Pictures of the program as files, for whoever asks.
    let snapshots = SnapshotDesk()
    private let wantsKey = Atomic(false)
    private let gauge: LoadGauge?
    /// How much of their search the coders should leave out, 0 to 2.
    private let economy = Atomic(0)
    /// The group of the last picture, counted from the program's beginning; nil before the first.
    private var group: Int64?
    /// The renditions should not be coded, and are not.
    private let isLadderIdle = Atomic(false)
    private var isLadderResting = false
    private let counters = Mutex(Counters())

    /// The sound encoder keeps at most an incomplete frame and one that it looks ahead with.
    private static let mostKept: Int64 = 2 * 1024
    /// Whole milliseconds from a packet of sound to the next, at least.
    private static let soundSpacing: Int64 = 21

    init(
        _ configuration: ProgramConfiguration,
        encoderOptions: String?,
        firstSample: Int64,
        ring: CanvasRing,
        gauge: LoadGauge? = nil,
        sink: @escaping @Sendable (MediaPacket) -> Void
    ) throws(CodecError) {
        self.configuration = configuration
        let encoderOptions = encoderOptions ?? VideoEncoderConfiguration.usualOptions(of: configuration.preset)
        self.encoderOptions = encoderOptions
        frameRate = configuration.frameRate
        firstTimestamp = ProgramTime.milliseconds(ofSample: firstSample)
        self.ring = ring
        self.gauge = gauge
        self.sink = sink
        video = try ThriftyCoder(VideoEncoderConfiguration(configuration, options: encoderOptions))
        audio = try AudioEncoder(AudioEncoderConfiguration(bitrate: configuration.audioBitrate * 1000))
    }

    /// Makes the next picture a key picture; any thread.
    func requestKeyPicture() {
        wantsKey.store(true, ordering: .relaxed)
    }

    /// Brings the coders to what a step leaves out, with the next key picture; any thread.
    func degrade(to step: Degradation) {
        economy.store(step.codingEconomy, ordering: .relaxed)
        isLadderIdle.store(step >= .noRenditions, ordering: .relaxed)
    }

    func snapshot() -> Counters {
        counters.withLock { $0 }
    }

    /// Codes the program's renditions too, from the next picture on; before the first, so that all begin alike.
    ///
    /// - Parameters:
    ///   - hasThreads: Each rendition is coded on a thread of its own.
    ///   - sink: Takes each rendition's packets with its name.
    /// - Throws: `CodecError` when the encoder does not take a rendition.
    func offerRenditions(
        hasThreads: Bool,
        sink: @escaping @Sendable (_ rendition: String, MediaPacket) -> Void
    ) throws(CodecError) {
        guard let settings = configuration.ladder, !settings.names.isEmpty else { return }
        let made = try Ladder(
            settings,
            of: configuration,
            encoderOptions: encoderOptions,
            firstTimestamp: firstTimestamp,
            sound: .aacConfiguration(audio.configuration, timestamp: firstTimestamp),
            hasThreads: hasThreads,
            sink: sink
        )
        ladder.withLock { $0 = LadderPlace(ladder: made) }
    }

    /// How each rendition is doing.
    var renditions: [RungFigures] { ladder.withLock { $0.ladder?.figures ?? [] } }

    /// Nothing more is coded; returns when the renditions have come to their end.
    func close() {
        snapshots.close()
        present?.close()
    }

    /// Both decoder configurations come first of all.
    private func begin() {
        guard !hasBegun else { return }
        hasBegun = true
        present = ladder.withLock { $0.ladder }
        sink(.h264Configuration(video.configuration, timestamp: firstTimestamp))
        sink(.aacConfiguration(audio.configuration, timestamp: firstTimestamp))
    }

    private func encodePicture(canvas: Int, index: Int64) {
        begin()
        let before = MonotonicSleep.threadSeconds()
        let timestamp = ProgramTime.milliseconds(ofSample: frameRate.sample(ofPicture: index))
        let isAskedFor = wantsKey.exchange(false, ordering: .relaxed)
        // The picture that should begin a group may have been left out; the next one does in its place.
        let newest = index / Int64(configuration.pictureGroupLength)
        let forceKey = isAskedFor || newest != group
        group = newest
        if forceKey { economise() }
        let began = MonotonicTime.now()
        var made: MediaPacket?
        var failed = false
        do {
            try video.encode(ring.canvases[canvas], index: index, timestamp: timestamp, forceKey: forceKey) {
                made = $0
            }
        } catch {
            failed = true
        }
        if let made { interleaver.append(made) }
        interleaver.promisePictures(
            from: ProgramTime.milliseconds(ofSample: frameRate.sample(ofPicture: index + 1))
        )
        let spent = MonotonicSleep.threadSeconds() - before
        gauge?.coded(in: MonotonicTime.now().seconds(since: began), processor: spent)
        counters.withLock { counters in
            counters.encodeSeconds += spent
            counters.keyPictures += made?.isKeyPicture == true ? 1 : 0
            counters.errors += failed ? 1 : 0
        }
        drain()
        // What follows is for others, so the program's packet is on its way already.
        snapshots.show(ring.canvases[canvas])
        let isKey = made?.isKeyPicture ?? false
        // Where renditions are taken up again, all of them begin alike.
        if isLadderIdle.load(ordering: .relaxed) { isLadderResting = true } else if isKey { isLadderResting = false }
        if !isLadderResting { present?.takePicture(ring.canvases[canvas], index: index, isKey: isKey) }
        ring.giveBack(canvas)
    }

    /// Lets the coders search more or less from this picture on, which is a key picture.
    private func economise() {
        let wanted = economy.load(ordering: .relaxed)
        present?.economise(to: wanted)
        do {
            guard try video.economise(to: wanted) else { return }
            counters.withLock { $0.takeovers += 1 }
        } catch {
            counters.withLock { $0.errors += 1 }
        }
    }

    private func encodeSound(
        left: UnsafePointer<Float>,
        right: UnsafePointer<Float>,
        count: Int,
        firstSample: Int64
    ) {
        begin()
        let before = MonotonicSleep.threadSeconds()
        var failed = false
        var interleaver = self.interleaver
        do {
            try audio.encode(left: left, right: right, count: count, firstSample: firstSample) { packet in
                // The very first frame is the encoder's own priming and lies before the program's beginning.
                guard packet.timestamp >= firstTimestamp else { return }
                interleaver.append(packet)
                interleaver.promiseSounds(from: packet.timestamp + Self.soundSpacing)
                present?.takeSound(packet, hasPictures: !isLadderResting)
            }
        } catch {
            failed = true
        }
        self.interleaver = interleaver
        let end = firstSample + Int64(count) - Int64(audio.priming) - Self.mostKept
        self.interleaver.promiseSounds(from: ProgramTime.milliseconds(ofSample: end))
        present?.promiseSounds(from: ProgramTime.milliseconds(ofSample: end))
        let spent = MonotonicSleep.threadSeconds() - before
        counters.withLock { counters in
            counters.soundSeconds += spent
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

/// Without a queue in between: everything is encoded before the call returns.
extension ProgramEncoder: ProgramOutput {
    var pendingPictures: Int { 0 }

    func takePicture(canvas: Int, index: Int64) {
        encodePicture(canvas: canvas, index: index)
    }

    func takeSound(left: UnsafePointer<Float>, right: UnsafePointer<Float>, count: Int, firstSample: Int64) {
        encodeSound(left: left, right: right, count: count, firstSample: firstSample)
    }
}

/// Where the ladder is handed from the thread that makes it to the one that climbs it.
///
/// `@unchecked Sendable`: made on one thread, and used by the encoder's alone once it has begun; its figures are behind
/// locks.
private struct LadderPlace: @unchecked Sendable {
    var ladder: Ladder?
}
