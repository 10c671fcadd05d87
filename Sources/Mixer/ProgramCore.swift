import Codecs
import Media
import NIOCore
import Stage
import Synchronization

/// The program itself: asks its clock what is due, and makes that picture or that quantum of sound.
///
/// It neither waits nor sleeps nor decodes nor encodes; whoever drives it does. Owned by one thread.
///
/// The latency budget, from a host's packet in to the program's packet out, with the default configuration:
/// 300 ms jitter target (arrival to turn; sound is taken 32 to 51 ms of it earlier, which is what lets it be encoded in
/// time) + at most half a picture to the nearest one of the program, either way + 5 to 26 ms for the sound beside it,
/// whose frames close every 21 ms. About 2 ms to compose and 9 ms to encode pass meanwhile. The limiter's 5 ms and the
/// encoder's 21 ms of priming are in the sound's numbering and so do not come between picture and sound.
final class ProgramCore {
    /// More pictures than this on their way to the encoder, and the next one is left out.
    static let mostPending = 2
    /// Samples between two looks at the hosts' signals: a tenth of a second.
    private static let signalSpacing: Int64 = 4800

    private let configuration: ProgramConfiguration
    private let ring: CanvasRing
    private let output: any ProgramOutput
    private let signals: HostSignals?
    private let gauge: LoadGauge?
    /// One picture of three is left out, to have more time for the others.
    var hasFewerPictures = false
    private var clock: ProgramClock
    private var director: PictureDirector
    private var scene = Scene()
    private var hasScene = false
    private var hosts: [String: ProgramHost] = [:]
    private var leaving: [ProgramHost] = []
    private let sound: ProgramSound
    private let assets: AssetShelf
    private var nextSignals = Int64.min
    /// Program time of the last step, in milliseconds.
    private var time: Double?
    /// A host may come back from no tile.
    private var isAwaiting = false
    private var hasComposed = false
    private var statistics = MixerStatistics()
    private var composeSeconds = 0.0
    private var soundSeconds = 0.0
    /// Pictures and quanta made, and jumps, so far; says where among them a change took effect.
    private(set) var steps: Int64 = 0

    init(
        _ configuration: ProgramConfiguration,
        anchor: ProgramAnchor,
        ring: CanvasRing,
        output: any ProgramOutput,
        signals: HostSignals? = nil,
        gauge: LoadGauge? = nil,
        wardrobe: Wardrobe,
        callDraftsman: @escaping () -> Void = {},
        returns: (any ReturnOutput)? = nil,
        music: SlateMusic = SlateMusic(AssetShelf())
    ) {
        self.configuration = configuration
        self.ring = ring
        self.output = output
        self.signals = signals
        self.gauge = gauge
        sound = ProgramSound(output: output, returns: returns, music: music)
        assets = wardrobe.assets
        clock = ProgramClock(anchor: anchor, frameRate: configuration.frameRate)
        director = PictureDirector(
            ring: ring,
            rate: configuration.frameRate.perSecond,
            wardrobe: wardrobe,
            callDraftsman: callDraftsman
        )
    }

    /// Puts `scene` into force for everything made from now on.
    func apply(_ scene: Scene) {
        if scene != self.scene { director.apply(scene) }
        self.scene = scene
        hasScene = true
        sound.apply(scene)
        for host in hosts.values { place(host) }
    }

    /// Gives the file that scenes call `asset`, between two steps.
    func provide(_ bytes: ByteBuffer, for asset: String) {
        assets.put(bytes, for: asset)
        sound.takeInFiles()
    }

    /// Takes in what of a slate's music has been decoded, between two steps.
    ///
    /// - Returns: Whether it can be played from now on, if that has changed.
    func takeInMusic() -> Bool? { sound.lookForMusic() }

    /// Says whether a slate's music can be played from now on.
    func setMusic(ready isReady: Bool) { sound.setMusic(ready: isReady) }

    /// Takes in what hosts that come back from no tile have missed, between two steps.
    ///
    /// - Returns: Of whom all is there now.
    func takeInReturning() -> [String] {
        guard isAwaiting else { return [] }
        let ready = hosts.filter { $0.value.hasCaughtUp(after: steps) }.keys.sorted()
        for id in ready { catchUp(id) }
        isAwaiting = hosts.values.contains(where: \.isReturning)
        return ready
    }

    /// Shows from now on what a host has missed while it was in no tile.
    func catchUp(_ id: String) { hosts[id]?.catchUp() }

    /// Takes a host in; one of the same id leaves.
    func add(_ input: HostInput) {
        remove(input.id)
        let host = ProgramHost(input)
        place(host)
        hosts[input.id] = host
    }

    /// Gives `host` its place in picture and sound.
    private func place(_ host: ProgramHost) {
        sound.place(host)
        // Before the first scene nobody has a tile, and that says nothing.
        let view = hasScene ? scene.view(of: host.input.id) : .whole
        host.view(as: view, at: time, steps: steps)
        if host.isReturning { isAwaiting = true }
        host.isConcealed = scene.concealed.contains(host.input.id)
    }

    /// Takes a host out; its sound fades in the next quantum, its tile shows the colour.
    func remove(_ id: String) {
        guard let host = hosts.removeValue(forKey: id) else { return }
        host.isLeaving = true
        sound.place(host)
        leaving.append(host)
    }

    /// Makes one thing that is due at `now`.
    ///
    /// - Returns: When there is something to do again, if nothing is due at `now`.
    func step(at now: MonotonicTime) -> MonotonicTime? {
        let nextPicture = clock.nextPicture
        switch clock.next(at: now) {
        case .wait(let moment):
            return moment
        case .sound(let first):
            let before = MonotonicSleep.threadSeconds()
            mix(from: first)
            soundSeconds += MonotonicSleep.threadSeconds() - before
        case .picture(let index, let sample, let isLate):
            time = ProgramTime.fractionalMilliseconds(ofSample: sample)
            let before = MonotonicSleep.threadSeconds()
            let began = MonotonicTime.now()
            makePicture(index, sample: sample, isLate: isLate)
            let spent = MonotonicSleep.threadSeconds() - before
            composeSeconds += spent
            gauge?.composed(in: MonotonicTime.now().seconds(since: began), processor: spent)
            let lateness = clock.anchor.milliseconds(at: now) - ProgramTime.fractionalMilliseconds(ofSample: sample)
            statistics.largestLateness = max(statistics.largestLateness, lateness)
        case .jump:
            statistics.jumps += 1
            statistics.jumpedPictures += clock.nextPicture - nextPicture
        }
        steps += 1
        return nil
    }

    /// The canvas of the newest picture.
    var newestCanvas: Int { director.newestCanvas }

    /// What the program's thread counted; the processor seconds are its compose and sound parts.
    func snapshot(at now: MonotonicTime) -> MixerStatistics {
        var result = statistics
        let time = clock.anchor.milliseconds(at: now)
        result.processor.compose = composeSeconds
        result.processor.sound = soundSeconds
        result.tilesDrawn = director.counters.drawn
        result.tilesCopied = director.counters.copied
        result.tilesKept = director.counters.kept
        result.hosts = hosts.values.map { $0.statistics(at: time) }.sorted { $0.id < $1.id }
        return result
    }

    private func mix(from first: Int64) {
        let now = ProgramTime.fractionalMilliseconds(ofSample: first - ProgramTime.soundLead)
        time = now
        sound.mix(hosts, leaving: leaving, from: first, now: now)
        if !leaving.isEmpty { leaving.removeAll { $0.hasGone } }
        publishSignals(at: now, from: first)
    }

    private func publishSignals(at now: Double, from first: Int64) {
        guard let signals, first >= nextSignals else { return }
        // On a grid that quanta need not fit into, so that it is ten times a second on average.
        nextSignals = max(nextSignals, first - Self.signalSpacing) + Self.signalSpacing
        signals.publish(hosts.values.map { $0.signal(at: now) }, program: sound.takeSignal())
    }

    private func makePicture(_ index: Int64, sample: Int64, isLate: Bool) {
        guard !isLeftOut(index) else {
            statistics.sparedPictures += 1
            return
        }
        guard output.pendingPictures <= Self.mostPending else {
            statistics.skippedPictures += 1
            gauge?.skipped()
            return
        }
        // A new scene may hide somebody: no picture may repeat what was before it.
        if isLate, hasComposed, !director.hasNews { return repeatPicture(index) }
        let previous = configuration.frameRate.sample(ofPicture: index - 1)
        guard let canvas = director.compose(at: sample, after: previous, hosts: hosts) else {
            if !director.hasNews { repeatPicture(index) } else { statistics.skippedPictures += 1 }
            return
        }
        hasComposed = true
        put(canvas, index)
    }

    /// The numbers of the others, and so their times, stay what they are; one that begins a group is never left out.
    private func isLeftOut(_ index: Int64) -> Bool {
        hasFewerPictures && index % 3 == 2 && index % Int64(configuration.pictureGroupLength) != 0
    }

    private func repeatPicture(_ index: Int64) {
        statistics.lateTicks += 1
        put(director.newestCanvas, index)
    }

    private func put(_ canvas: Int, _ index: Int64) {
        statistics.pictures += 1
        ring.lend(canvas)
        output.takePicture(canvas: canvas, index: index)
    }
}
