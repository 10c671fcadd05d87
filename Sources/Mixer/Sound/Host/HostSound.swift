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
    /// Its way into the program.
    var program = SoundLane()
    /// Its way into what the other hosts hear; another one than the program's only where they hear it and nobody else.
    var talkback = SoundLane()
    /// Times that its sound could not be taken.
    private(set) var errors: Int64 = 0

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
    var isSilent: Bool { program.isSilent && talkback.isSilent }

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
        let pending = pending
        let wasRead = input.media.withLock { media in
            guard reader != nil else { return false }
            program.look(at: media.sound, pending: pending)
            talkback.look(at: media.sound, pending: pending)
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

    /// Samples that were taken and not given out.
    private var pending: Int {
        switch reader {
        case .some(let reader): reader.pending
        case .none: 0
        }
    }

    /// How loud the present quantum will be in the mix, before ducking, in dBFS.
    var levelInMix: Double {
        guard program.isHeard else { return HostSignal.silence }
        var level = SoundLevel()
        level.add(quantum.left, quantum.right, count: ProgramTime.quantum)
        return level.read().level + fader + leveller.gain
    }

    /// Adds the present quantum to `sum`, the program's.
    ///
    /// - Parameter ducking: Decibels by which the host is to be turned down for another one, 0 or less.
    mutating func add(to sum: borrowing StereoBuffer, ducking: Double) {
        let gain = Decibels.factor(fader + leveller.gain + ducking)
        program.move(to: gain)
        talkback.move(to: gain)
        program.curve.add(quantum, to: sum, count: ProgramTime.quantum)
    }

    /// The other hosts hear something else of it in the present quantum than the audience.
    var isAside: Bool { talkback.curve != program.curve }

    /// Adds to `sum` what the program's mix lacks of the present quantum to be what the hosts hear.
    func addAside(to sum: borrowing StereoBuffer) {
        talkback.curve.minus(program.curve).add(quantum, to: sum, count: ProgramTime.quantum)
    }

    /// Takes the host out of `sum`, a mix of the present quantum as the hosts hear it.
    func remove(from sum: borrowing StereoBuffer) {
        talkback.curve.negated.add(quantum, to: sum, count: ProgramTime.quantum)
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
