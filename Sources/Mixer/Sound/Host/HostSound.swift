import Codecs
import Synchronization

/// One host's sound on its way into the mix: taken at program time, measured, levelled, and faded.
///
/// Levels are measured before any gain. Owned by the program's thread.
struct HostSound: ~Copyable {
    /// Nil when no stretcher could be had; then the host is seen and not heard.
    private var reader: SoundReader?
    private let quantum = StereoBuffer(capacity: ProgramTime.quantum)
    private var meter = SignalMeter()
    private var loudness = LoudnessMeter(memory: Leveller.memory, gate: Leveller.gate, onlySpeech: true)
    private var leveller = Leveller()
    /// The gain at the end of the last quantum.
    private var gain: Float = 0
    /// How the host's sound went into the mix of the present quantum.
    private(set) var curve = GainCurve.silent
    /// Times that its sound could not be taken.
    private(set) var errors: Int64 = 0

    /// It is to be in the mix.
    var isAudible = false
    /// What of it may be heard now.
    var permission = UnheardSound.Permission.after(nil)
    /// What may not be heard has passed, and the present quantum holds nothing of it.
    private var hasPassed = false
    /// It is in the mix.
    private var isHeard: Bool { isAudible && hasPassed }
    /// The gain that was asked for, in decibels.
    var fader = 0.0

    init() {
        do {
            reader = try SoundReader()
        } catch {
            reader = nil
            errors = 1
        }
    }

    /// Nothing is heard of it, and nothing is going to be.
    var isSilent: Bool { !isAudible && gain == 0 }

    /// Times the sound broke off.
    var gaps: Int64 {
        switch reader {
        case .some(let reader): reader.gaps
        case .none: 0
        }
    }

    /// Times the sound was moved in time.
    var skips: Int64 {
        switch reader {
        case .some(let reader): reader.skips
        case .none: 0
        }
    }

    /// The gain that levelling has come to, in decibels.
    var levelling: Double { leveller.gain }
    /// The loudness of what the host last said, before any gain, in LUFS; nil before it said anything.
    var loudnessOfSpeech: Double? { loudness.gated }

    /// Takes the quantum that begins at program time `time` (ms) out of what the host sent.
    mutating func read(from input: HostInput, offset: Double?, rate: Double, time: Double, isLevelling: Bool) {
        let (left, right) = (quantum.left, quantum.right)
        let wasRead = input.media.withLock { media in
            guard reader != nil else { return false }
            hasPassed = isFree(media.sound)
            do {
                try reader?.read(
                    from: &media.sound,
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
        leveller.advance(
            by: Double(ProgramTime.quantum) / Double(ProgramTime.sampleRate),
            isOn: isLevelling,
            loudness: loudness.gated,
            isSpeaking: loudness.isCounting
        )
    }

    /// Whether the next quantum of `track` may be heard; once one may, those that follow it may.
    private func isFree(_ track: borrowing SoundTrack) -> Bool {
        guard case .after(let last) = permission else { return false }
        guard !hasPassed, let last else { return true }
        let pending =
            switch reader {
            case .some(let reader): reader.pending
            case .none: 0
            }
        return track.isPast(last, pending: pending)
    }

    /// How loud the present quantum will be in the mix, before ducking, in dBFS.
    var levelInMix: Double {
        guard isHeard else { return HostSignal.silence }
        var level = SoundLevel()
        level.add(quantum.left, quantum.right, count: ProgramTime.quantum)
        return level.read().level + fader + leveller.gain
    }

    /// Adds the present quantum to `sum`.
    ///
    /// - Parameter ducking: Decibels by which the host is to be turned down for another one, 0 or less.
    mutating func add(to sum: borrowing StereoBuffer, ducking: Double) {
        let wanted = isHeard ? Decibels.factor(fader + leveller.gain + ducking) : 0
        curve = GainCurve(from: gain, to: wanted)
        gain = wanted
        curve.add(quantum, to: sum, count: ProgramTime.quantum)
    }

    /// Takes the host out of `sum`, a mix of the present quantum that it was added to.
    func remove(from sum: borrowing StereoBuffer) {
        curve.negated.add(quantum, to: sum, count: ProgramTime.quantum)
    }

    /// How loud it was since the last call, and what of it is decoded; see `SignalMeter.read`.
    mutating func signal(of input: HostInput, pictures: Int64, soundEnd: Double?, now: Double) -> HostSignal {
        var signal = meter.read(
            id: input.id,
            pictures: pictures,
            soundEnd: soundEnd,
            now: now,
            mayStandStill: input.mayStandStill
        )
        signal.levelling = leveller.gain
        return signal
    }
}
