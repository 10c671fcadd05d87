import Codecs

/// The sound of the program: everybody's, each with a gain of its own, ducked, added and limited; and for each host who
/// wants it the same without that host.
///
/// Backstage those feeds hold the hosts' sound, and the program does not.
///
/// Gains move along smooth curves over a quantum, whatever moves them: a fader, a microphone that is switched, the
/// levelling, another host's speech. Owned by the program's thread.
final class ProgramSound {
    private let output: any ProgramOutput
    private let returnOutput: (any ReturnOutput)?
    private var music: MusicBed
    private var scene = SoundScene()
    private var audible: Set<String> = []
    private var talkback: Set<String> = []
    private var ducker = Ducker()
    private var limiter = Limiter()
    private let sum = StereoBuffer(capacity: ProgramTime.quantum)
    /// What the hosts hear, where that is not what the audience does.
    private let talk = StereoBuffer(capacity: ProgramTime.quantum)
    private var returns: [String: ReturnMix] = [:]
    private var isFirstQuantum = true
    /// Of what went out since `takeSignal`.
    private var level = SoundLevel()
    private var leastGain: Float = 1

    init(output: any ProgramOutput, returns: (any ReturnOutput)?, music: SlateMusic) {
        self.output = output
        returnOutput = returns
        self.music = MusicBed(music)
    }

    /// Puts `scene` into force for the next quantum.
    func apply(_ scene: Scene) {
        self.scene = scene.sound
        audible = scene.audible
        talkback = scene.talkback
        music.want(scene.slate?.music)
        returns = returns.filter { scene.sound.returns.contains($0.key) }
        for host in scene.sound.returns where returns[host] == nil { returns[host] = ReturnMix() }
    }

    /// Takes in that files have come, between two quanta.
    func takeInFiles() { music.takeInFiles() }

    /// Looks whether the slate's music is decoded far enough; returns whether it is, if that has changed.
    func lookForMusic() -> Bool? { music.look() }

    /// Says whether the slate's music is decoded far enough.
    func setMusic(ready isReady: Bool) { music.isReady = isReady }

    /// Gives `host` the place in the mix that the scene has for it; one that leaves has none.
    ///
    /// A fader that is all the way down takes a host off as a microphone does that is switched off, and so nothing is
    /// heard later of what was said meanwhile: whoever switches a host on means what it says from then on. All other
    /// gains follow the program's time, for what they are given to is heard anyway.
    func place(_ host: ProgramHost) {
        let id = host.input.id
        host.sound.fader = min(max(scene.gains[id] ?? 0, SoundScene.silentGain), 12)
        let isThere = !host.isLeaving && host.sound.fader > SoundScene.silentGain
        host.sound.program.isAudible = isThere && audible.contains(id)
        host.sound.talkback.isAudible = isThere && (audible.contains(id) || talkback.contains(id))
    }

    /// Mixes the quantum that begins at sample `first`, and hands it to the output.
    ///
    /// - Parameters:
    ///   - leaving: Hosts whose sound fades out.
    ///   - now: Program time in milliseconds at which this happens.
    func mix(_ hosts: [String: ProgramHost], leaving: [ProgramHost], from first: Int64, now: Double) {
        let time = ProgramTime.fractionalMilliseconds(ofSample: first)
        for host in hosts.values { host.takeSound(time: time, now: now, isLevelling: scene.isLevelling) }
        for host in leaving { host.takeSound(time: time, now: now, isLevelling: scene.isLevelling) }
        let ducking = duck(hosts)
        sum.clear(ProgramTime.quantum)
        // In one order in every run: added up in another, the last bits of a sum are others.
        for (id, host) in hosts.sorted(by: { $0.key < $1.key }) {
            host.sound.add(to: sum, ducking: scene.duckUnder.contains(id) ? 0 : ducking)
        }
        for host in leaving { host.sound.add(to: sum, ducking: ducking) }
        music.add(to: sum)
        // Before the limiter, which would turn what is left down for the sake of what was taken out.
        makeReturns(hosts, leaving, from: first)
        limiter.process(sum.left, sum.right, count: ProgramTime.quantum)
        level.add(sum.left, sum.right, count: ProgramTime.quantum)
        leastGain = min(leastGain, limiter.leastGain)
        // What comes out of the limiter went in one look-ahead before; at the very beginning that is nothing, and lies
        // before the program.
        if isFirstQuantum {
            isFirstQuantum = false
            return
        }
        output.takeSound(
            left: sum.left,
            right: sum.right,
            count: ProgramTime.quantum,
            firstSample: first - Int64(Limiter.lookAhead)
        )
    }

    /// How loud the program was since the last call.
    func takeSignal() -> ProgramSignal {
        defer { leastGain = 1 }
        return ProgramSignal(peak: level.read().peak, limiting: Decibels.gain(of: leastGain))
    }

    /// By how many decibels everybody is turned down over this quantum who is not ducked under.
    private func duck(_ hosts: [String: ProgramHost]) -> Double {
        let levels = scene.duckUnder.lazy.compactMap { hosts[$0]?.sound.levelInMix }
        ducker.advance(level: levels.max() ?? HostSignal.silence)
        return min(max(scene.duckDepth, -30), 0) * ducker.depth
    }

    private func makeReturns(_ hosts: [String: ProgramHost], _ leaving: [ProgramHost], from first: Int64) {
        guard let returnOutput, !returns.isEmpty else { return }
        let aside =
            hosts.filter { $0.value.sound.isAside }.sorted { $0.key < $1.key }.map(\.value)
            + leaving.filter { $0.sound.isAside }
        if !aside.isEmpty {
            talk.left.update(from: sum.left, count: ProgramTime.quantum)
            talk.right.update(from: sum.right, count: ProgramTime.quantum)
            for host in aside { host.sound.addAside(to: talk) }
        }
        for (id, mix) in returns {
            if aside.isEmpty {
                mix.make(of: sum, without: hosts[id])
            } else {
                mix.make(of: talk, without: hosts[id])
            }
            // As for the program: what comes first out of the limiter was never put in.
            if mix.isFirst {
                mix.isFirst = false
                continue
            }
            returnOutput.takeReturn(
                id,
                left: mix.samples.left,
                right: mix.samples.right,
                count: ProgramTime.quantum,
                firstSample: first - Int64(Limiter.lookAhead)
            )
        }
    }
}
