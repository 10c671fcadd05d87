import Codecs

/// Takes one host's sound out of its track at program time, one quantum after the other.
///
/// Small errors of time are stretched away unheard; larger ones are skipped over in a cross-fade, or waited out in
/// silence. Sound that runs dry fades out over what is left, sound that begins fades in. All of that happens before the
/// stretcher, so what it gets, and gives, never breaks off. Owned by the program's thread.
struct SoundReader: ~Copyable {
    /// Samples handed to the stretcher at a time.
    private static let chunk = 128
    /// Samples that stay in the track while it plays, so that there is always something to fade out with.
    private static let reserve = SoundTrack.fade
    /// Milliseconds of sound beyond a quantum's end that are taken, or kept in hand, while it plays.
    static let need = Double(chunk + reserve) / 48
    /// An error beyond this many milliseconds is not stretched away.
    static let largestError = 80.0
    /// An error up to this many milliseconds is left alone, so that most of the time nothing is stretched at all.
    private static let tolerance = 0.75
    /// Once begun, stretching goes on until so little is left.
    private static let remainder = 0.1
    /// An offset that moves faster than the first is followed at once, until it moves slower than the second.
    private static let followedRate = (begin: 0.0003, end: 0.0002)
    /// Ratio by which an error of one second would be corrected, and the least correction.
    private static let gain = 0.3
    private static let leastCorrection = 0.0005
    private static let steadyLimit = 0.005
    private static let hurriedLimit = 0.02
    private static let hurryBeyond = 40.0

    private var stretcher: AudioStretcher
    /// Stretched sound not yet taken.
    private var ready = SampleRing(capacity: 8192)
    private let scratch = StereoBuffer(capacity: chunk)
    private var isPlaying = false
    private var isStretching = false
    private(set) var gaps: Int64 = 0
    private(set) var skips: Int64 = 0
    /// Program time minus host time of the sample heard next, minus the offset asked for; milliseconds, while playing.
    private(set) var error: Double?

    init() throws(CodecError) {
        stretcher = try AudioStretcher()
    }

    /// Nothing but silence came out lately, and none is on the way.
    var isSilent: Bool { !isPlaying }

    /// Samples that were taken from the track and come with the next quantum.
    var pending: Int { ready.count + Int((stretcher.delay * 48).rounded(.up)) }

    /// Fills `left` and `right` with the next quantum.
    ///
    /// - Parameters:
    ///   - offset: Program time minus host time in milliseconds; nil for a host that has not settled.
    ///   - rate: What the offset gains per millisecond at present.
    ///   - time: Program time of the quantum's first sample in milliseconds.
    mutating func read(
        from track: inout SoundTrack,
        offset: Double?,
        rate: Double,
        time: Double,
        left: UnsafeMutablePointer<Float>,
        right: UnsafeMutablePointer<Float>
    ) throws(CodecError) {
        let quantum = ProgramTime.quantum
        steer(track.headTime, offset: offset, rate: rate, time: time)
        while ready.count < quantum {
            let heardAt = time + Double(ready.count) / 48 + stretcher.delay
            let wanted = offset.map { heardAt - $0 }
            let taken = take(from: &track, hostTime: wanted)
            scratch.left.advanced(by: taken).update(repeating: 0, count: Self.chunk - taken)
            scratch.right.advanced(by: taken).update(repeating: 0, count: Self.chunk - taken)
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

    /// Sets the ratio for one quantum.
    private mutating func steer(_ head: Double?, offset: Double?, rate: Double, time: Double) {
        guard isPlaying, let head, let offset else {
            error = nil
            isStretching = false
            stretcher.setRatio(1)
            return
        }
        let heardAt = time + Double(ready.count) / 48 + stretcher.delay
        let error = head - (heardAt - offset)
        self.error = error
        isStretching =
            abs(error) > (isStretching ? Self.remainder : Self.tolerance)
            || abs(rate) > (isStretching ? Self.followedRate.end : Self.followedRate.begin)
        guard isStretching else { return stretcher.setRatio(1) }
        let limit = abs(error) > Self.hurryBeyond ? Self.hurriedLimit : Self.steadyLimit
        let size = max(abs(error) / 1000 * Self.gain, Self.leastCorrection)
        // Near the goal the least correction would only go to and fro.
        let correction = abs(error) > Self.remainder ? (error < 0 ? -size : size) : error / 1000 * Self.gain
        stretcher.setRatio(1 + min(max(rate + correction, -limit), limit))
    }

    /// Moves up to a chunk from the track to the scratch buffer; the rest of the chunk is to be silence.
    private mutating func take(from track: inout SoundTrack, hostTime: Double?) -> Int {
        guard let hostTime, let head = track.headTime else {
            isPlaying = false
            return 0
        }
        return isPlaying
            ? goOn(&track, early: head - hostTime)
            : begin(&track, early: head - hostTime)
    }

    /// - Parameter early: How much too early the next sample would be heard, in milliseconds.
    private mutating func begin(_ track: inout SoundTrack, early: Double) -> Int {
        var early = early
        if early < 0 {
            let late = Int((-early * 48).rounded())
            track.skipUnheard(late)
            early += Double(late) / 48
            guard track.count > Self.chunk + Self.reserve else { return 0 }
        }
        let wait = Int((max(early, 0) * 48).rounded())
        guard wait < Self.chunk, track.count > Self.chunk + Self.reserve else { return 0 }
        isPlaying = true
        track.fadeInHead()
        guard wait > 0 else { return read(&track) }
        // The chunk begins with silence; what is read comes behind it.
        scratch.clear(wait)
        return wait + track.read(scratch.left + wait, scratch.right + wait, count: Self.chunk - wait)
    }

    private mutating func goOn(_ track: inout SoundTrack, early: Double) -> Int {
        if early < -Self.largestError {
            let late = min(Int(-early * 48), track.count - Self.chunk - Self.reserve)
            if late > SoundTrack.fade {
                track.skipBlending(late)
                skips += 1
            }
        } else if early > Self.largestError {
            // The next sample's turn is later: fade out, and wait for it in silence.
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

    private func read(_ track: inout SoundTrack) -> Int {
        track.read(scratch.left, scratch.right, count: Self.chunk)
    }
}
