public import Media
import NIOCore

/// Splits one program into CMAF parts and segments.
///
/// Accepts the packets of the program feed in order and returns finished parts, segments and initialization segments.
/// Times are the feed's decode times and are written unchanged, so A/V sync is preserved to a millisecond. A part is
/// complete only when the next frame begins, so the output is one frame late.
///
/// A segment ends at a keyframe. It ends without one only if it would exceed the target duration or its share of the
/// memory. A clock that steps back and a gap longer than a segment start a discontinuity at the next keyframe. No part
/// exceeds the part target, even with irregular frames, and only a segment's last part is much shorter. A program with
/// a second of audio and no video configuration counts as audio-only.
public struct Segmenter: Sendable {
    let configuration: HLSConfiguration

    /// The format of the newest configuration packets.
    var targetFormat = ProgramFormat()
    /// The open segment; nil while waiting for a starting point.
    var current: OpenSegment?
    /// Whether the current segment must not be continued.
    var mustRestart = false
    var initialization: (name: String, format: ProgramFormat)?
    var initializationCount = 0
    var nextSequence: Int
    let firstSequence: Int
    /// Whether players may have segments from before the first.
    let isContinuation: Bool
    var fragmentCount: UInt32 = 0
    var audioClock = AudioSampleClock(rate: 48_000, samplesPerFrame: 1024)
    /// The ticks between the last two frames.
    var frameInterval: Int64 = 3000
    /// The audio frames that precede their keyframe.
    var pendingAudio: [MediaPacket] = []

    /// The number of dropped packets: damaged, of other codecs, before the first keyframe, or overlapping.
    public internal(set) var droppedPackets = 0

    /// Creates a segmenter for one feed.
    ///
    /// - Parameters:
    ///   - firstSequence: The media sequence number of the first segment, not negative.
    ///   - isContinuation: Whether the first segment is also marked as a discontinuity, for players with segments of a
    ///     previous run.
    public init(
        _ configuration: HLSConfiguration = HLSConfiguration(),
        firstSequence: Int = 0,
        isContinuation: Bool = false
    ) {
        self.configuration = configuration
        self.isContinuation = isContinuation
        self.firstSequence = max(firstSequence, 0)
        nextSequence = self.firstSequence
    }

    /// Appends the next packet of the feed and returns the completed output.
    public mutating func append(_ packet: MediaPacket) -> [SegmenterOutput] {
        switch packet.content {
        case .metadata, .videoEnd:
            return []
        case .videoConfiguration(.h264):
            guard let video = try? AVCConfiguration(packet.payload) else { return drop() }
            targetFormat.video = video
            return []
        case .audioConfiguration(.aac):
            guard let audio = try? AACConfiguration(packet.payload) else { return drop() }
            targetFormat.audio = audio
            return []
        case .video(.h264, let isKey, let isDisposable):
            return appendVideo(packet, isKey: isKey, isDisposable: isDisposable)
        case .audio(.aac):
            return appendAudio(packet)
        case .videoConfiguration, .audioConfiguration, .video, .audio:
            return drop()
        }
    }

    /// Marks a change of encoder or clock: the next keyframe starts a discontinuity, and packets before it are dropped.
    public mutating func discontinuity() {
        mustRestart = true
        pendingAudio.removeAll()
    }

    /// Ends the program and returns the remaining output.
    ///
    /// Packets appended later start a discontinuity.
    public mutating func finish() -> [SegmenterOutput] {
        pendingAudio.removeAll()
        mustRestart = false
        return closeSegment()
    }

    mutating func drop() -> [SegmenterOutput] {
        droppedPackets += 1
        return []
    }

    /// The accepted timestamps: not negative, and without overflow in any timescale.
    static let timestamps: ClosedRange<Int64> = 0...(1 << 50)
}

extension Segmenter {
    mutating func appendVideo(_ packet: MediaPacket, isKey: Bool, isDisposable: Bool) -> [SegmenterOutput] {
        let payload = packet.payload
        guard let video = targetFormat.video, Self.timestamps.contains(packet.timestamp),
            NALUnits.areWellFormed(in: payload, lengthSize: video.nalLengthSize)
        else { return drop() }

        var time = packet.timestamp * ProgramFormat.videoTicksPerMillisecond
        if let open = current, !open.isAudioOnly {
            // Frames with the same millisecond are spaced by one tick.
            let isSameMillisecond = (0..<ProgramFormat.videoTicksPerMillisecond).contains(open.newest - time)
            if isSameMillisecond { time = open.newest + 1 }
            let hasHole = time - open.start > open.ticks(milliseconds: configuration.latestEndMilliseconds)
            if time < open.newest || hasHole { mustRestart = true }
        }
        let sample = MovieFragment.VideoSample(
            time: time,
            compositionOffset: Int32(
                clamping: Int64(packet.compositionOffset) * ProgramFormat.videoTicksPerMillisecond
            ),
            isKey: isKey,
            isDisposable: isDisposable,
            payload: payload
        )
        guard let open = current, !mustRestart, open.format.video == video, !isKey || open.format == targetFormat else {
            return isKey ? restart(at: sample, timestamp: packet.timestamp) : drop()
        }
        return add(sample, to: open)
    }

    private mutating func add(_ sample: MovieFragment.VideoSample, to open: OpenSegment) -> [SegmenterOutput] {
        let age = sample.time - open.start
        let latest = open.ticks(milliseconds: configuration.latestEndMilliseconds)
        let earliest = open.ticks(milliseconds: configuration.earliestEndMilliseconds)
        let partTarget = open.ticks(milliseconds: configuration.partTargetMilliseconds)
        let isFull = open.byteCount > configuration.maximumSegmentBytes
        frameInterval = sample.time - open.newest

        var output = fillParts(until: sample.time)
        let partAge = sample.time - (current?.partStart ?? open.partStart)
        let isPartOver = partAge + frameInterval > partTarget || sample.isKey

        // A segment that had to begin without a keyframe ends at the next one, so that segments and GOPs are aligned
        // again.
        let isBoundary = sample.isKey && (age >= earliest || !open.isIndependent)
        if isBoundary || age + frameInterval > latest || isFull {
            output += endSegment(at: sample.time, isIndependent: sample.isKey)
        } else if isPartOver && OpenSegment.isLongEnough(partAge, of: partTarget)
            || open.fragment.videoSamples.count >= Self.maximumFramesPerPart
        {
            output += endPart(at: sample.time)
        }
        current?.append(sample)
        return output
    }

    /// The maximum frames of a part; exceeded only if the feed's clock does not advance.
    private static let maximumFramesPerPart = 512

    /// The milliseconds by which audio may precede the first keyframe, for interleaving and encoder delay.
    private static let leadIn: Int64 = 100

    /// Starts a segment with a keyframe in the current target format.
    private mutating func restart(at sample: MovieFragment.VideoSample, timestamp: Int64) -> [SegmenterOutput] {
        var output = closeSegment(before: mustRestart ? nil : sample.time)
        output += openSegment(at: sample.time, isIndependent: true)
        current?.append(sample)
        let packets = pendingAudio
        pendingAudio.removeAll()
        for packet in packets {
            if packet.timestamp >= timestamp - Self.leadIn {
                output += appendAudio(packet)
            } else {
                droppedPackets += 1
            }
        }
        return output
    }
}

extension Segmenter {
    /// The maximum bytes of an AAC frame; a valid one has at most 768 per channel.
    private static let maximumAudioFrameBytes = 16_384
    /// The maximum number of audio frames held for the first keyframe, over two seconds.
    private static let maximumPendingAudio = 128
    /// The milliseconds of audio without a video configuration after which a program counts as audio-only.
    private static let audioOnlyTimeout: Int64 = 1000

    mutating func appendAudio(_ packet: MediaPacket) -> [SegmenterOutput] {
        guard targetFormat.audio != nil, Self.timestamps.contains(packet.timestamp),
            (1...Self.maximumAudioFrameBytes).contains(packet.payload.readableBytes)
        else { return drop() }
        guard let open = current, !mustRestart, open.format.audio == targetFormat.audio else {
            return holdAudio(packet)
        }
        let latest = open.ticks(milliseconds: configuration.latestEndMilliseconds)
        switch audioClock.place(milliseconds: packet.timestamp) {
        case .at(let time) where open.isAudioOnly:
            guard time - open.start <= latest else { return restartWithoutVideo([packet]) }
            return add(MovieFragment.AudioSample(time: time, payload: packet.payload), toAudioOnly: open)
        case .at(let time):
            // Video has stopped; the segment must not grow with audio alone.
            guard packet.timestamp * ProgramFormat.videoTicksPerMillisecond - open.start <= latest else {
                mustRestart = true
                return closeSegment() + holdAudio(packet)
            }
            current?.append(MovieFragment.AudioSample(time: time, payload: packet.payload))
            return []
        case .backwards where open.isAudioOnly:
            return restartWithoutVideo([packet])
        case .backwards, .overlapping:
            return drop()
        }
    }

    private mutating func add(_ sample: MovieFragment.AudioSample, toAudioOnly open: OpenSegment) -> [SegmenterOutput] {
        let age = sample.time - open.start
        let partTarget = open.ticks(milliseconds: configuration.partTargetMilliseconds)
        let targetAge = Int64(configuration.segmentDuration * Double(open.timescale))
        var output = fillParts(until: sample.time)
        let partAge = sample.time - (current?.partStart ?? open.partStart)
        if age + audioClock.length / 2 >= targetAge || open.byteCount > configuration.maximumSegmentBytes {
            output += endSegment(at: sample.time, isIndependent: true)
        } else if partAge + audioClock.length > partTarget {
            output += endPart(at: sample.time)
        }
        current?.append(sample)
        return output
    }

    /// Holds an audio frame until the next keyframe, or starts an audio-only segment.
    private mutating func holdAudio(_ packet: MediaPacket) -> [SegmenterOutput] {
        if let newest = pendingAudio.last, packet.timestamp < newest.timestamp {
            droppedPackets += pendingAudio.count
            pendingAudio.removeAll()
        }
        pendingAudio.append(packet)
        if pendingAudio.count > Self.maximumPendingAudio {
            pendingAudio.removeFirst()
            droppedPackets += 1
        }
        guard targetFormat.video == nil, let first = pendingAudio.first else { return [] }
        let isKnownAudioOnly = initialization.map { $0.format.video == nil } ?? false
        guard isKnownAudioOnly || packet.timestamp - first.timestamp >= Self.audioOnlyTimeout else { return [] }
        let packets = pendingAudio
        pendingAudio.removeAll()
        return restartWithoutVideo(packets)
    }

    private mutating func restartWithoutVideo(_ packets: [MediaPacket]) -> [SegmenterOutput] {
        guard let first = packets.first, let audio = targetFormat.audio else { return [] }
        let clock = AudioSampleClock(rate: audio.sampleRate, samplesPerFrame: audio.samplesPerFrame)
        var output = closeSegment()
        output += openSegment(at: clock.tick(milliseconds: first.timestamp), isIndependent: true)
        for packet in packets { output += appendAudio(packet) }
        return output
    }
}

extension Segmenter {
    /// Finishes the open part at `time`, where the next one begins.
    mutating func endPart(at time: Int64) -> [SegmenterOutput] {
        let (longest, length) = (partTarget, audioClock.length)
        let parts = current?.finishParts(at: time, longest: longest, count: &fragmentCount, audioFrameDuration: length)
        return (parts ?? []).map(SegmenterOutput.part)
    }

    /// Finishes parts so that a sample at `time` fits into the open one.
    mutating func fillParts(until time: Int64) -> [SegmenterOutput] {
        let (longest, length) = (partTarget, audioClock.length)
        let parts = current?.fill(until: time, longest: longest, count: &fragmentCount, audioFrameDuration: length)
        return (parts ?? []).map(SegmenterOutput.part)
    }

    /// The maximum part duration in ticks of the current segment.
    private var partTarget: Int64 { current?.ticks(milliseconds: configuration.partTargetMilliseconds) ?? 0 }

    /// Finishes the segment at `time` and opens the next one there.
    mutating func endSegment(at time: Int64, isIndependent: Bool) -> [SegmenterOutput] {
        var output = endPart(at: time)
        guard let open = current else { return output }
        output.append(.segment(open.finished(at: time)))
        current = OpenSegment(
            sequence: nextSequence,
            format: open.format,
            initialization: open.initialization,
            start: time,
            isIndependent: isIndependent,
            isDiscontinuity: false
        )
        nextSequence += 1
        return output
    }

    /// Finishes the segment without a successor: its last frame lasts as long as the previous one, or until `next` if
    /// that continues the same clock.
    mutating func closeSegment(before next: Int64? = nil) -> [SegmenterOutput] {
        guard let open = current else { return [] }
        let interval = open.isAudioOnly ? audioClock.length : frameInterval
        let latest = open.start + open.ticks(milliseconds: configuration.latestEndMilliseconds)
        var end = min(open.newest + max(interval, 1), max(latest, open.newest + 1))
        if let next, !open.isAudioOnly, next > open.newest { end = min(next, latest) }
        var output = endPart(at: end)
        if let open = current { output.append(.segment(open.finished(at: end))) }
        current = nil
        return output
    }

    /// Opens a segment at the start or after a discontinuity, with a new initialization segment if the format changed.
    mutating func openSegment(at time: Int64, isIndependent: Bool) -> [SegmenterOutput] {
        var output: [SegmenterOutput] = []
        mustRestart = false
        if initialization?.format != targetFormat {
            let made = makeInitialization()
            initialization = (made.name, targetFormat)
            output.append(.initialization(made))
        }
        if let audio = targetFormat.audio {
            audioClock = AudioSampleClock(rate: audio.sampleRate, samplesPerFrame: audio.samplesPerFrame)
        }
        current = OpenSegment(
            sequence: nextSequence,
            format: targetFormat,
            initialization: initialization?.name ?? "",
            start: time,
            isIndependent: isIndependent,
            isDiscontinuity: isContinuation || nextSequence > firstSequence
        )
        nextSequence += 1
        return output
    }

    private mutating func makeInitialization() -> Initialization {
        defer { initializationCount += 1 }
        return Initialization(
            name: MediaName.initialization(initializationCount).text,
            data: MovieHeader.write(targetFormat),
            codecs: targetFormat.codecs,
            width: targetFormat.video?.sps.width,
            height: targetFormat.video?.sps.height,
            frameRate: targetFormat.video?.sps.frameRate
        )
    }
}

/// Assigns audio frames to ticks of their sample clock.
///
/// Timestamps are whole milliseconds, while an AAC frame lasts 21.333 ms at 48 kHz, so their direct use would leave
/// small gaps and overlaps. Frames are therefore placed contiguously; if a timestamp differs by more than 20 ms, the
/// clock follows it.
struct AudioSampleClock {
    enum Placement: Equatable {
        /// The frame begins at this tick.
        case at(Int64)
        /// The frame overlaps earlier audio and must be dropped.
        case overlapping
        /// The timestamp is more than a second back: the feed's clock was reset.
        case backwards
    }

    /// Ticks per second.
    let rate: Int64
    /// The ticks of one frame.
    let length: Int64
    /// The tick of the next frame; nil before the first.
    private(set) var next: Int64?

    init(rate: Int, samplesPerFrame: Int) {
        self.rate = Int64(rate)
        length = Int64(samplesPerFrame)
    }

    /// Converts milliseconds to the nearest tick.
    func tick(milliseconds: Int64) -> Int64 {
        let (seconds, rest) = milliseconds.quotientAndRemainder(dividingBy: 1000)
        return seconds * rate + (rest * rate + 500) / 1000
    }

    mutating func place(milliseconds: Int64) -> Placement {
        let stated = tick(milliseconds: milliseconds)
        guard let next else {
            self.next = stated + length
            return .at(stated)
        }
        let error = stated - next
        let tolerance = rate / 50
        if error < -rate { return .backwards }
        if error < -tolerance { return .overlapping }
        let start = error > tolerance ? stated : next
        self.next = start + length
        return .at(start)
    }
}
