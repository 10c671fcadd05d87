import Codecs
import Synchronization

/// One host's audio channel: reads at program time, measures, normalizes, and adds to the mixes.
///
/// Levels are measured before any gain. Owned by the program's thread.
struct HostAudio: ~Copyable {
    /// Nil when no time stretcher could be created; the host is then shown and not heard.
    private var reader: HostAudioReader?
    private let quantum = StereoBuffer(capacity: ProgramTime.quantum)
    private var meter = SignalMeter()
    private var loudness = LoudnessMeter(
        memory: LoudnessNormalizer.memory,
        gate: LoudnessNormalizer.gate,
        onlySpeech: true
    )
    private var normalizer = LoudnessNormalizer()
    /// The send into the program.
    var program = AudioSend()
    /// The send into the mix that the hosts hear; it differs from `program` only where the audience does not hear the
    /// host.
    var talkback = AudioSend()
    /// Times that the audio could not be read.
    private(set) var errors: Int64 = 0

    /// The scene's gain in decibels.
    var fader = 0.0

    init() {
        do {
            reader = try HostAudioReader()
        } catch {
            reader = nil
            errors = 1
        }
    }

    /// Whether the host is muted in all mixes, and its fade-outs have ended.
    var isSilent: Bool { program.isSilent && talkback.isSilent }

    /// Times the audio ran dry.
    var gaps: Int64 {
        switch reader {
        case .some(let reader): reader.gaps
        case .none: 0
        }
    }

    /// Times playback was moved in time.
    var skips: Int64 {
        switch reader {
        case .some(let reader): reader.skips
        case .none: 0
        }
    }

    /// The present gain of loudness normalization, in decibels.
    var levelling: Double { normalizer.gain }

    /// Reads the quantum that begins at program time `time` (ms).
    mutating func read(from input: HostInput, offset: Double?, rate: Double, time: Double, isLevelling: Bool) {
        let (left, right) = (quantum.left, quantum.right)
        let pending = pending
        let wasRead = input.media.withLock { media in
            guard reader != nil else { return false }
            program.update(from: media.audio, pending: pending)
            talkback.update(from: media.audio, pending: pending)
            do {
                try reader?.read(
                    from: &media.audio,
                    offset: offset,
                    rate: rate,
                    time: time,
                    left: left,
                    right: right
                )
                return true
            } catch {
                return false
            }
        }
        if !wasRead {
            errors += 1
            quantum.clear(ProgramTime.quantum)
        }
        meter.add(left, right, count: ProgramTime.quantum)
        loudness.add(left, right, count: ProgramTime.quantum)
        normalizer.advance(
            by: Double(ProgramTime.quantum) / Double(ProgramTime.sampleRate),
            isOn: isLevelling,
            loudness: loudness.gated,
            isSpeaking: loudness.isCounting
        )
    }

    /// Samples that were read from the buffer and not returned yet.
    private var pending: Int {
        switch reader {
        case .some(let reader): reader.pending
        case .none: 0
        }
    }

    /// The level of the present quantum in the mix, before ducking, in dBFS.
    var levelInMix: Double {
        guard program.isPassing else { return HostSignal.silence }
        var level = AudioLevelMeter()
        level.add(quantum.left, quantum.right, count: ProgramTime.quantum)
        return level.read().level + fader + normalizer.gain
    }

    /// Adds the present quantum to `sum`, the program's.
    ///
    /// - Parameter ducking: The ducking gain in decibels, 0 or less.
    mutating func add(to sum: borrowing StereoBuffer, ducking: Double) {
        let gain = Decibels.factor(fader + normalizer.gain + ducking)
        program.move(to: gain)
        talkback.move(to: gain)
        program.curve.add(quantum, to: sum, count: ProgramTime.quantum)
    }

    /// Whether the other hosts hear the present quantum with another gain than the audience.
    var differsInTalkback: Bool { talkback.curve != program.curve }

    /// Adds to `sum` the difference between what the hosts hear of the present quantum and what the program contains.
    func addTalkbackDifference(to sum: borrowing StereoBuffer) {
        talkback.curve.minus(program.curve).add(quantum, to: sum, count: ProgramTime.quantum)
    }

    /// Removes the host from `sum`, a mix of the present quantum as the hosts hear it.
    func remove(from sum: borrowing StereoBuffer) {
        talkback.curve.negated.add(quantum, to: sum, count: ProgramTime.quantum)
    }

    /// Returns the level since the last call, and which media is decoded; see `SignalMeter.read`.
    mutating func signal(of input: HostInput, frames: Int64, audioEnd: Double?, now: Double) -> HostSignal {
        var signal = meter.read(
            id: input.id,
            frames: frames,
            audioEnd: audioEnd,
            now: now,
            isScreenShare: input.isScreenShare
        )
        signal.levelling = normalizer.gain
        return signal
    }
}

/// The send of a host's audio into one mix: its permission, and its gain.
struct AudioSend {
    /// Whether the host is in the mix according to the scene.
    var isAudible = false
    /// The audio that may be heard at present.
    var permission = MuteGate.Permission.after(nil)
    /// Whether the muted audio has been read, and the present quantum contains none of it.
    private var isOpen = false
    /// The gain at the end of the last quantum.
    private var gain: Float = 0
    /// The gain of the present quantum.
    private(set) var curve = GainCurve.silent

    /// Whether the host is in the mix.
    var isPassing: Bool { isAudible && isOpen }

    /// Whether the host is muted and its fade-out has ended.
    var isSilent: Bool { !isAudible && gain == 0 }

    /// Updates whether the next quantum of `track` may be heard; once one may, those after it may.
    ///
    /// - Parameter pending: Samples that the reader has read from the track and not returned.
    mutating func update(from track: borrowing HostAudioBuffer, pending: Int) {
        guard case .after(let last) = permission else {
            isOpen = false
            return
        }
        guard !isOpen, let last else {
            isOpen = true
            return
        }
        isOpen = track.hasPlayed(last, pending: pending)
    }

    /// Moves the gain of the present quantum to `target`, or to 0 while the host is muted.
    mutating func move(to target: Float) {
        let next = isPassing ? target : 0
        curve = GainCurve(from: gain, to: next)
        gain = next
    }
}
