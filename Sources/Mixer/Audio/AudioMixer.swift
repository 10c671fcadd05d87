import Codecs

/// Mixes the program's audio: each host with its gain, ducking and loudness normalization, then a limiter; and a
/// mix-minus for each host that wants one.
///
/// Backstage the mix-minus feeds contain the hosts' audio, and the program does not.
///
/// All gain changes, of faders, microphones, normalization and ducking, are smoothed over a quantum. Owned by the
/// program's thread.
final class AudioMixer {
    private let output: any ProgramOutput
    private let returnOutput: (any MixMinusOutput)?
    private let director: TalkbackInput
    private var music: MusicBed
    private var scene = AudioScene()
    private var audible: Set<String> = []
    private var talkback: Set<String> = []
    private var hasPreview = false
    private var ducker = Ducker()
    private var limiter = Limiter()
    private let sum = StereoBuffer(capacity: ProgramTime.quantum)
    /// The sum that the hosts hear, where it differs from the program.
    private let talkbackSum = StereoBuffer(capacity: ProgramTime.quantum)
    /// The present quantum of what a director says to hosts.
    private let directorAudio = StereoBuffer(capacity: ProgramTime.quantum)
    private var returns: [String: MixMinusBus] = [:]
    private var isFirstQuantum = true
    /// The level of the output since `readSignal`.
    private var level = AudioLevelMeter()
    private var minimumGain: Float = 1

    /// - Parameter director: What a director says to hosts, which only mix-minus feeds contain.
    init(output: any ProgramOutput, returns: (any MixMinusOutput)?, director: TalkbackInput, music: SlateMusic) {
        self.output = output
        returnOutput = returns
        self.director = director
        self.music = MusicBed(music)
    }

    /// Applies `scene` from the next quantum on.
    func apply(_ scene: Scene) {
        self.scene = scene.audio
        audible = scene.audible
        talkback = scene.talkback
        hasPreview = scene.previewTiles != nil
        music.setTrack(scene.slate?.music)
        returns = returns.filter { scene.audio.returns.contains($0.key) }
        for host in scene.audio.returns where returns[host] == nil { returns[host] = MixMinusBus() }
    }

    /// Starts a replaced music file; called between two quanta.
    func assetsDidChange() { music.assetsDidChange() }

    /// Updates whether the slate's music is decoded; returns the new value, if it has changed.
    func updateReadiness() -> Bool? { music.updateReadiness() }

    /// Sets whether the slate's music is decoded far enough.
    func setMusic(ready isReady: Bool) { music.isReady = isReady }

    /// Applies the scene's mix settings to `host`; one that leaves is muted.
    ///
    /// A fader at its minimum mutes a host like a microphone that is off, so audio from before it is raised is not
    /// played later. All other gains follow program time.
    func configure(_ host: ProgramHost) {
        let id = host.input.id
        host.audio.fader = min(max(scene.gains[id] ?? 0, AudioScene.silentGain), 12)
        let isThere = !host.isLeaving && host.audio.fader > AudioScene.silentGain
        host.audio.program.isAudible = isThere && audible.contains(id)
        host.audio.talkback.isAudible = isThere && (audible.contains(id) || talkback.contains(id))
    }

    /// Mixes the quantum that begins at sample `first`, and sends it to the output.
    ///
    /// - Parameters:
    ///   - leaving: Hosts whose audio fades out.
    ///   - now: The present program time in milliseconds.
    func mix(_ hosts: [String: ProgramHost], leaving: [ProgramHost], from first: Int64, now: Double) {
        let time = ProgramTime.fractionalMilliseconds(ofSample: first)
        for host in hosts.values { host.readAudio(time: time, now: now, isLevelling: scene.isLevelling) }
        for host in leaving { host.readAudio(time: time, now: now, isLevelling: scene.isLevelling) }
        let ducking = duck(hosts)
        sum.clear(ProgramTime.quantum)
        // In a fixed order: floating-point sums depend on it.
        for (id, host) in hosts.sorted(by: { $0.key < $1.key }) {
            host.audio.add(to: sum, ducking: scene.duckUnder.contains(id) ? 0 : ducking)
        }
        for host in leaving { host.audio.add(to: sum, ducking: ducking) }
        // Those who are shown the preview hear it, not the slate's music.
        if !hasPreview { music.add(to: sum) }
        // Before the limiter, whose gain depends on the audio that a mix-minus leaves out.
        makeReturns(hosts, leaving, from: first)
        if hasPreview { music.add(to: sum) }
        limiter.process(sum.left, sum.right, count: ProgramTime.quantum)
        level.add(sum.left, sum.right, count: ProgramTime.quantum)
        minimumGain = min(minimumGain, limiter.minimumGain)
        // The limiter's output is delayed by its look-ahead; the first quantum of it lies before the program.
        if isFirstQuantum {
            isFirstQuantum = false
            return
        }
        output.writeAudio(
            left: sum.left,
            right: sum.right,
            count: ProgramTime.quantum,
            firstSample: first - Int64(Limiter.lookAhead)
        )
    }

    /// Returns the program's level since the last call.
    func readSignal() -> ProgramSignal {
        defer { minimumGain = 1 }
        return ProgramSignal(peak: level.read().peak, limiting: Decibels.gain(of: minimumGain))
    }

    /// Returns the gain in decibels, over this quantum, of all hosts that are not ducked under.
    private func duck(_ hosts: [String: ProgramHost]) -> Double {
        let levels = scene.duckUnder.lazy.compactMap { hosts[$0]?.audio.levelInMix }
        ducker.advance(level: levels.max() ?? HostSignal.silence)
        return min(max(scene.duckDepth, -30), 0) * ducker.depth
    }

    private func makeReturns(_ hosts: [String: ProgramHost], _ leaving: [ProgramHost], from first: Int64) {
        // Without feeds too, so that nothing is played late.
        let words = director.read(into: directorAudio)
        guard let returnOutput, !returns.isEmpty else { return }
        let aside =
            hosts.filter { $0.value.audio.differsInTalkback }.sorted { $0.key < $1.key }.map(\.value)
            + leaving.filter { $0.audio.differsInTalkback }
        if !aside.isEmpty {
            talkbackSum.left.update(from: sum.left, count: ProgramTime.quantum)
            talkbackSum.right.update(from: sum.right, count: ProgramTime.quantum)
            for host in aside { host.audio.addTalkbackDifference(to: talkbackSum) }
        }
        for (id, mix) in returns {
            if aside.isEmpty {
                mix.copy(sum, without: hosts[id])
            } else {
                mix.copy(talkbackSum, without: hosts[id])
            }
            let isAddressed = words?.hosts.contains(id) ?? false
            mix.finish(directorAudio, isAddressed: isAddressed, isLast: words?.isLast ?? true)
            // As for the program: the limiter's first quantum is dropped.
            if mix.isFirst {
                mix.isFirst = false
                continue
            }
            returnOutput.writeMix(
                id,
                left: mix.samples.left,
                right: mix.samples.right,
                count: ProgramTime.quantum,
                firstSample: first - Int64(Limiter.lookAhead)
            )
        }
    }
}

/// The mix-minus of one host: the program without that host, below what a director says to it, with its own limiter.
final class MixMinusBus {
    /// The gain in decibels of everything else while a director speaks to the host.
    static let directorDepth = -14.0

    let samples = StereoBuffer(capacity: ProgramTime.quantum)
    /// Whether no quantum has been made yet.
    var isFirst = true
    private var limiter = Limiter()
    private var ducker = Ducker()
    /// The gains at the end of the last quantum: of the program, and of the director.
    private var gains: (program: Float, director: Float) = (1, 0)

    /// Begins the next quantum.
    ///
    /// - Parameters:
    ///   - sum: The sum of all hosts before any limiter; not modified.
    ///   - host: The host to remove; nil for one that is not there.
    func copy(_ sum: borrowing StereoBuffer, without host: ProgramHost?) {
        samples.left.update(from: sum.left, count: ProgramTime.quantum)
        samples.right.update(from: sum.right, count: ProgramTime.quantum)
        host?.audio.remove(from: samples)
    }

    /// Ends the quantum: ducks the program while a director speaks to the host, and limits the result.
    ///
    /// - Parameters:
    ///   - director: What a director says in this quantum.
    ///   - isAddressed: Whether it is for this host.
    ///   - isLast: Whether it fades out in this quantum.
    func finish(_ director: borrowing StereoBuffer, isAddressed: Bool, isLast: Bool) {
        // For as long as the director speaks, pauses between words included.
        ducker.advance(level: isAddressed ? 0 : HostSignal.silence)
        let program = Decibels.factor(Self.directorDepth * ducker.depth)
        // The samples are in the buffer once already.
        GainCurve(from: gains.program - 1, to: program - 1).add(samples, to: samples, count: ProgramTime.quantum)
        let next: Float = isAddressed && !isLast ? 1 : 0
        GainCurve(from: gains.director, to: next).add(director, to: samples, count: ProgramTime.quantum)
        gains = (program, next)
        limiter.process(samples.left, samples.right, count: ProgramTime.quantum)
    }
}
