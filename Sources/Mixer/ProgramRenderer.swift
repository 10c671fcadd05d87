public import Codecs
public import Media
public import NIOCore
public import Stage
import Synchronization

/// The same program as `ProgramMixer` makes, driven by hand: no threads, no clock but the caller's, as fast as the
/// processor goes.
///
/// Everything happens inside `advance(to:)`: packets whose turn has come are decoded, pictures and sound that are due
/// are made and encoded, and the sink is called. Two runs with the same packets at the same times give the same program.
/// Owned by one thread.
public final class ProgramRenderer {
    private let configuration: ProgramConfiguration
    private let anchor: ProgramAnchor
    let encoder: ProgramEncoder?
    private let core: ProgramCore
    private var thrift: Thrift
    /// Says how slow the machine is to seem; nil for one that is fast enough for everything.
    var machine: ImaginedMachine?
    private let ring: CanvasRing
    private let music: SlateMusic
    private let wardrobe = Wardrobe(AssetShelf())
    private var hosts: [Host] = []
    private var now: MonotonicTime
    private var usedSeconds = 0.0
    /// Spent on opening the encoders, which is part of encoding as opening the hosts' decoders is of decoding.
    private var openingSeconds = 0.0
    private let recorder: ArrivalRecorder?

    /// A host with its decoder, which there can be only one of.
    private final class Host {
        let input: HostInput
        var decoder = HostDecoder()

        init(_ input: HostInput) {
            self.input = input
        }
    }

    /// - Parameters:
    ///   - start: The moment at which the program begins.
    ///   - firstSample: Where its 48 kHz counter begins.
    ///   - encoderOptions: Further x264 parameters, `name=value` parted by colons; nil takes those of the preset.
    ///   - recorder: Takes down all that arrives, so that the program can be made again.
    ///   - sink: Takes the program; called inside `advance(to:)`.
    /// - Throws: `CodecError` when the codecs do not take the configuration.
    public init(
        configuration: ProgramConfiguration,
        start: MonotonicTime = MonotonicTime(nanoseconds: 0),
        firstSample: Int64 = 0,
        encoderOptions: String? = nil,
        recorder: ArrivalRecorder? = nil,
        sink: @escaping @Sendable (MediaPacket) -> Void
    ) throws(CodecError) {
        self.configuration = configuration
        anchor = ProgramAnchor(start: start, firstSample: firstSample)
        ring = try CanvasRing(width: configuration.width, height: configuration.height)
        let before = MonotonicSleep.threadSeconds()
        let encoder = try ProgramEncoder(
            configuration,
            encoderOptions: encoderOptions,
            firstSample: firstSample,
            ring: ring,
            sink: sink
        )
        openingSeconds = MonotonicSleep.threadSeconds() - before
        self.encoder = encoder
        music = SlateMusic(wardrobe.assets)
        core = Self.core(configuration, anchor: anchor, ring: ring, output: encoder, wardrobe: wardrobe, music: music)
        thrift = Thrift(core, encoder: encoder)
        now = start
        self.recorder = recorder
        recorder?.begin(configuration, firstSample: firstSample)
    }

    /// A program that is not encoded: its pictures and its sound go to `output` as they are.
    init(
        configuration: ProgramConfiguration,
        start: MonotonicTime = MonotonicTime(nanoseconds: 0),
        firstSample: Int64 = 0,
        ring: CanvasRing,
        output: any ProgramOutput,
        returns: (any ReturnOutput)? = nil,
        recorder: ArrivalRecorder? = nil
    ) {
        self.configuration = configuration
        anchor = ProgramAnchor(start: start, firstSample: firstSample)
        self.ring = ring
        encoder = nil
        music = SlateMusic(wardrobe.assets)
        core = Self.core(
            configuration,
            anchor: anchor,
            ring: ring,
            output: output,
            wardrobe: wardrobe,
            returns: returns,
            music: music
        )
        thrift = Thrift(core, encoder: nil)
        now = start
        self.recorder = recorder
        recorder?.begin(configuration, firstSample: firstSample)
    }

    /// A core whose pieces are drawn after the step that asked for them, and seen from the next picture on.
    private static func core(
        _ configuration: ProgramConfiguration,
        anchor: ProgramAnchor,
        ring: CanvasRing,
        output: any ProgramOutput,
        wardrobe: Wardrobe,
        returns: (any ReturnOutput)? = nil,
        music: SlateMusic
    ) -> ProgramCore {
        ProgramCore(
            configuration,
            anchor: anchor,
            ring: ring,
            output: output,
            wardrobe: wardrobe,
            returns: returns,
            music: music
        )
    }

    /// Changes what is shown and heard, from the next picture on.
    public func apply(_ scene: Scene) {
        thrift.apply(scene, to: inputs)
        recorder?.record(.scene(scene), step: core.steps)
    }

    /// Leaves out what `step` does, and nothing else, from the next picture on.
    func degrade(to step: Degradation) {
        thrift.degrade(to: step, inputs)
        recorder?.record(.degrade(step), step: core.steps)
    }

    /// A host's way in; the same one when it has been added before.
    ///
    /// - Parameters:
    ///   - jitterTarget: Milliseconds its media is held back; nil takes the program's own.
    ///   - mayStandStill: What it sends is a screen, of which pictures come only when something changes.
    public func addHost(_ id: String, jitterTarget: Int? = nil, mayStandStill: Bool = false) -> HostInput {
        if let known = hosts.first(where: { $0.input.id == id }) { return known.input }
        let input = HostInput(
            id: id,
            anchor: anchor,
            jitterTarget: jitterTarget ?? configuration.jitterTarget,
            mayStandStill: mayStandStill,
            recorder: recorder
        )
        recorder?.record(.add(input.recordedNumber), step: core.steps)
        hosts.append(Host(input))
        thrift.admit(input)
        core.add(input)
        return input
    }

    /// Takes a host out.
    public func removeHost(_ id: String) {
        if let index = hosts.firstIndex(where: { $0.input.id == id }) { hosts.remove(at: index).input.close() }
        core.remove(id)
        recorder?.record(.remove(id), step: core.steps)
    }

    /// Changes how long a host's media is held back, milliseconds; it moves there without a break.
    public func setJitterTarget(_ target: Int, for id: String) {
        guard let host = hosts.first(where: { $0.input.id == id }) else { return }
        host.input.setJitterTarget(target)
        recorder?.record(.jitterTarget(id, target), step: core.steps)
    }

    /// Gives the file that scenes call `asset`.
    public func provide(_ bytes: ByteBuffer, for asset: String) {
        if let recorder { recorder.record(.provide(recorder.addFile(asset, bytes)), step: core.steps) }
        core.provide(bytes, for: asset)
    }

    /// Shows what is drawn, and plays what is decoded, only when it is told to; from the beginning on.
    var isTold = false

    /// Shows these from now on.
    func show(drawn pieces: [Wardrobe.Piece]) {
        wardrobe.takeIn(drawing: pieces)
    }

    /// Says whether a slate's music can be played from now on.
    func setMusic(ready isReady: Bool) {
        core.setMusic(ready: isReady)
    }

    private func takeInDrawn() {
        guard !isTold else { return }
        while wardrobe.drawNext() {}
        let drawn = wardrobe.takeIn()
        if !drawn.isEmpty { recorder?.record(.drawn(drawn), step: core.steps) }
    }

    private func takeInMusic() {
        music.fill()
        guard !isTold, let isReady = core.takeInMusic() else { return }
        recorder?.record(.music(isReady), step: core.steps)
    }

    /// Shows from now on what a host has missed while it was in no tile.
    func catchUp(_ id: String) {
        core.catchUp(id)
    }

    private func takeInReturning() {
        guard !isTold else { return }
        for id in core.takeInReturning() { recorder?.record(.caughtUp(id), step: core.steps) }
    }

    /// Pictures and quanta made, and jumps, so far.
    var steps: Int64 { core.steps }

    /// Makes the next picture a key picture.
    public func requestKeyPicture() {
        encoder?.requestKeyPicture()
    }

    /// Makes everything that is due up to `moment`, which should not be before the last one.
    public func advance(to moment: MonotonicTime) {
        advance(to: moment) { _ in }
    }

    /// - Parameters:
    ///   - steps: Nothing is made after so many, be it due or not.
    ///   - beforeStep: Called before each picture or quantum with how many were made, to change something.
    func advance(to moment: MonotonicTime, until steps: Int64 = .max, beforeStep: (Int64) -> Void) {
        let before = MonotonicSleep.threadSeconds()
        while now <= moment, core.steps < steps {
            beforeStep(core.steps)
            takeInDrawn()
            if let step = machine?.work(until: now) { degrade(to: step) }
            takeInMusic()
            decode()
            takeInReturning()
            guard let next = core.step(at: now) else { continue }
            guard next <= moment else { break }
            now = next
        }
        now = max(now, moment)
        recorder?.reached(core.steps)
        usedSeconds += MonotonicSleep.threadSeconds() - before
    }

    /// How it is going.
    public var statistics: MixerStatistics {
        var result = core.snapshot(at: now)
        let encoding = encoder?.snapshot() ?? ProgramEncoder.Counters()
        result.processor.decode = result.hosts.reduce(0) { $0 + $1.decodeSeconds }
        // Without a queue in between, the encoders run inside the core's own steps: the sound's within its sound part.
        result.processor.sound += result.hosts.reduce(0) { $0 + $1.soundSeconds }
        result.processor.compose += result.hosts.reduce(-encoding.encodeSeconds) { $0 + $1.reducingSeconds }
        result.processor.encode = encoding.encodeSeconds
        result.processor.rest = 0
        result.processor.rest = max(usedSeconds - result.processor.total, 0)
        result.processor.encode += openingSeconds
        result.soundEncodeSeconds = encoding.soundSeconds
        result.keyPictures = encoding.keyPictures
        result.bytesOut = encoding.bytes
        result.encodeErrors = encoding.errors
        return result
    }

    /// The canvas of the newest picture, to look at between calls.
    var newestCanvas: Canvas { ring.canvases[core.newestCanvas] }

    private var inputs: [HostInput] { hosts.map(\.input) }

    private func decode() {
        let time = anchor.milliseconds(at: now)
        for host in hosts {
            let input = host.input
            while true {
                let packet = input.takeDue(at: time)
                input.instruct(&host.decoder, for: packet)
                if let packet {
                    host.decoder.decode(packet, into: input.media)
                } else if host.decoder.isBehind {
                    host.decoder.catchUp(into: input.media)
                } else {
                    break
                }
            }
        }
    }
}
