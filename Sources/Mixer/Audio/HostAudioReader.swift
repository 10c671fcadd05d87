import Codecs

/// Reads one host's audio from its buffer at program time, by quantum.
///
/// Small timing errors are corrected inaudibly by time stretching; larger ones by skipping with a cross-fade, or by
/// waiting in silence. Audio that runs dry fades out, audio that starts fades in. All of that happens before the
/// stretcher, so its input and output are continuous. Owned by the program's thread.
struct HostAudioReader: ~Copyable {
    /// Samples passed to the stretcher at a time.
    private static let chunk = 128
    /// Samples that stay in the buffer during playback, so that a fade-out is always possible.
    private static let reserve = HostAudioBuffer.fade
    /// Milliseconds of audio beyond a quantum's end that are read, or kept in reserve, during playback.
    static let need = Double(chunk + reserve) / 48
    /// Milliseconds of error beyond which playback skips or waits instead of stretching.
    static let largestError = 80.0
    /// Milliseconds of error that are tolerated, so that most of the time nothing is stretched.
    private static let tolerance = 0.75
    /// Milliseconds of error at which stretching ends.
    private static let remainder = 0.1
    /// Rates of the offset beyond which stretching begins at once, and below which it ends.
    private static let followedRate = (begin: 0.0003, end: 0.0002)
    /// The correction ratio for an error of one second, and the minimum correction.
    private static let gain = 0.3
    private static let minimumCorrection = 0.0005
    private static let steadyLimit = 0.005
    private static let fastLimit = 0.02
    private static let fastRateThreshold = 40.0

    private var stretcher: AudioStretcher
    /// Stretched audio that is not read yet.
    private var ready = SampleRing(capacity: 8192)
    private let scratch = StereoBuffer(capacity: chunk)
    private var isPlaying = false
    private var isStretching = false
    private(set) var gaps: Int64 = 0
    private(set) var skips: Int64 = 0
    /// The actual minus the requested offset of the next sample in milliseconds; nil while not playing.
    private(set) var error: Double?

    init() throws(CodecError) {
        stretcher = try AudioStretcher()
    }

    /// Whether the output is silent.
    var isSilent: Bool { !isPlaying }

    /// Samples that were read from the buffer and come with the next quantum.
    var pending: Int { ready.count + Int((stretcher.delay * 48).rounded(.up)) }

    /// Fills `left` and `right` with the next quantum.
    ///
    /// - Parameters:
    ///   - offset: Program time minus host time in milliseconds; nil for a host that has not settled.
    ///   - rate: The present change of the offset per millisecond.
    ///   - time: Program time of the quantum's first sample in milliseconds.
    mutating func read(
        from track: inout HostAudioBuffer,
        offset: Double?,
        rate: Double,
        time: Double,
        left: UnsafeMutablePointer<Float>,
        right: UnsafeMutablePointer<Float>
    ) throws(CodecError) {
        let quantum = ProgramTime.quantum
        steer(track.headTime, offset: offset, rate: rate, time: time)
        while ready.count < quantum {
            let playbackTime = time + Double(ready.count) / 48 + stretcher.delay
            let target = offset.map { playbackTime - $0 }
            let count = readChunk(from: &track, hostTime: target)
            scratch.left.advanced(by: count).update(repeating: 0, count: Self.chunk - count)
            scratch.right.advanced(by: count).update(repeating: 0, count: Self.chunk - count)
            try Self.stretch(scratch, by: &stretcher, into: &ready)
        }
        _ = ready.read(left, right, count: quantum)
    }

    private static func stretch(
        _ scratch: borrowing StereoBuffer,
        by stretcher: inout AudioStretcher,
        into ready: inout SampleRing
    ) throws(CodecError) {
        try stretcher.process(left: scratch.left, right: scratch.right, count: chunk) { (left, right) in
            guard let leftStart = left.baseAddress, let rightStart = right.baseAddress else { return }
            ready.append(leftStart, rightStart, count: left.count)
        }
    }

    /// Sets the stretch ratio for one quantum.
    private mutating func steer(_ head: Double?, offset: Double?, rate: Double, time: Double) {
        guard isPlaying, let head, let offset else {
            error = nil
            isStretching = false
            stretcher.setRatio(1)
            return
        }
        let playbackTime = time + Double(ready.count) / 48 + stretcher.delay
        let error = head - (playbackTime - offset)
        self.error = error
        isStretching =
            abs(error) > (isStretching ? Self.remainder : Self.tolerance)
            || abs(rate) > (isStretching ? Self.followedRate.end : Self.followedRate.begin)
        guard isStretching else { return stretcher.setRatio(1) }
        let limit = abs(error) > Self.fastRateThreshold ? Self.fastLimit : Self.steadyLimit
        let size = max(abs(error) / 1000 * Self.gain, Self.minimumCorrection)
        // Near zero the minimum correction would only oscillate.
        let correction = abs(error) > Self.remainder ? (error < 0 ? -size : size) : error / 1000 * Self.gain
        stretcher.setRatio(1 + min(max(rate + correction, -limit), limit))
    }

    /// Reads up to a chunk into the scratch buffer; the rest of the chunk is to be silence.
    private mutating func readChunk(from track: inout HostAudioBuffer, hostTime: Double?) -> Int {
        guard let hostTime, let head = track.headTime else {
            isPlaying = false
            return 0
        }
        return isPlaying
            ? continuePlaying(&track, early: head - hostTime)
            : startPlaying(&track, early: head - hostTime)
    }

    /// - Parameter early: Milliseconds by which the next sample would be played too early.
    private mutating func startPlaying(_ track: inout HostAudioBuffer, early: Double) -> Int {
        var early = early
        if early < 0 {
            let late = Int((-early * 48).rounded())
            track.skipSilently(late)
            early += Double(late) / 48
            guard track.count > Self.chunk + Self.reserve else { return 0 }
        }
        let wait = Int((max(early, 0) * 48).rounded())
        guard wait < Self.chunk, track.count > Self.chunk + Self.reserve else { return 0 }
        isPlaying = true
        track.fadeInHead()
        guard wait > 0 else { return read(&track) }
        // The chunk begins with silence; audio follows.
        scratch.clear(wait)
        return wait + track.read(scratch.left + wait, scratch.right + wait, count: Self.chunk - wait)
    }

    private mutating func continuePlaying(_ track: inout HostAudioBuffer, early: Double) -> Int {
        if early < -Self.largestError {
            let late = min(Int(-early * 48), track.count - Self.chunk - Self.reserve)
            if late > HostAudioBuffer.fade {
                track.skipBlending(late)
                skips += 1
            }
        } else if early > Self.largestError {
            // The next sample is due later: fade out, and wait for it in silence.
            skips += 1
            isPlaying = false
            let count = read(&track)
            for index in 0..<count {
                let gain = 1 - (Float(index) + 0.5) / Float(count)
                scratch.left[index] *= gain
                scratch.right[index] *= gain
            }
            return count
        }
        if track.count < Self.chunk + Self.reserve {
            if !track.isEndSilent {
                track.fadeOutEnd()
                gaps += 1
            }
            if track.count <= Self.chunk { isPlaying = false }
        }
        return read(&track)
    }

    private func read(_ track: inout HostAudioBuffer) -> Int {
        track.read(scratch.left, scratch.right, count: Self.chunk)
    }
}
