public import Codecs
public import Media
public import NIOCore
public import Stage
import Synchronization

/// Renders the same program as `ProgramMixer`, driven by its caller: without threads, on the caller's clock, as fast as
/// the processor allows.
///
/// Everything happens inside `advance(to:)`: due packets are decoded, due frames and audio are made and encoded, and
/// the sink is called. Two runs with the same packets at the same times give the same program.
/// Owned by one thread.
public final class ProgramRenderer {
    private let configuration: ProgramConfiguration
    private let anchor: ProgramAnchor
    let encoder: ProgramEncoder?
    private let core: ProgramCore
    private var degradation: DegradationController
    /// Simulates a slow machine; nil for one that is fast enough.
    var simulatedLoad: SimulatedLoad?
    private let ring: CanvasRing
    /// What a director says to hosts.
    let director = TalkbackInput()
    private let music: SlateMusic
    private let overlayCache = OverlayCache(AssetCache())
    private var hosts: [Host] = []
    private var now: MonotonicTime
    private var usedSeconds = 0.0
    /// Seconds spent opening the encoders, which count as encoding, as opening a host's decoders counts as decoding.
    private var openingSeconds = 0.0
    private let recorder: ArrivalRecorder?

    /// A host with its decoder, which cannot be copied.
    private final class Host {
        let input: HostInput
        var decoder = HostDecoder()

        init(_ input: HostInput) {
            self.input = input
        }
    }

    /// - Parameters:
    ///   - start: The moment at which the program begins.
    ///   - firstSample: The first value of its 48 kHz counter.
    ///   - encoderOptions: Further x264 parameters, `name=value` separated by colons; nil uses those of the preset.
    ///   - recorder: Records everything that arrives, so that the program can be rendered again.
    ///   - sink: Receives the program; called inside `advance(to:)`.
    /// - Throws: `CodecError` when the codecs reject the configuration.
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
        music = SlateMusic(overlayCache.assets)
        core = Self.core(
            configuration,
            anchor: anchor,
            ring: ring,
            output: encoder,
            overlayCache: overlayCache,
            director: director,
            music: music
        )
        degradation = DegradationController(core, encoder: encoder)
        now = start
        self.recorder = recorder
        recorder?.begin(configuration, firstSample: firstSample)
    }

    /// Makes a renderer that does not encode: raw frames and audio go to `output`.
    init(
        configuration: ProgramConfiguration,
        start: MonotonicTime = MonotonicTime(nanoseconds: 0),
        firstSample: Int64 = 0,
        ring: CanvasRing,
        output: any ProgramOutput,
        returns: (any MixMinusOutput)? = nil,
        preview: (any PreviewOutput)? = nil,
        recorder: ArrivalRecorder? = nil
    ) {
        self.configuration = configuration
        anchor = ProgramAnchor(start: start, firstSample: firstSample)
        self.ring = ring
        encoder = nil
        music = SlateMusic(overlayCache.assets)
        core = Self.core(
            configuration,
            anchor: anchor,
            ring: ring,
            output: output,
            overlayCache: overlayCache,
            returns: returns,
            preview: preview,
            director: director,
            music: music
        )
        degradation = DegradationController(core, encoder: nil)
        now = start
        self.recorder = recorder
        recorder?.begin(configuration, firstSample: firstSample)
    }

    /// Makes a core whose overlays are rendered after the step that requested them, and shown from the next frame on.
    private static func core(
        _ configuration: ProgramConfiguration,
        anchor: ProgramAnchor,
        ring: CanvasRing,
        output: any ProgramOutput,
        overlayCache: OverlayCache,
        returns: (any MixMinusOutput)? = nil,
        preview: (any PreviewOutput)? = nil,
        director: TalkbackInput,
        music: SlateMusic
    ) -> ProgramCore {
        ProgramCore(
            configuration,
            anchor: anchor,
            ring: ring,
            output: output,
            overlayCache: overlayCache,
            returns: returns,
            preview: preview,
            director: director,
            music: music
        )
    }

    /// Applies a scene from the next frame on.
    public func apply(_ scene: Scene) {
        degradation.apply(scene, to: inputs)
        recorder?.record(.scene(scene), step: core.steps)
    }

    /// Applies a degradation step from the next frame on.
    func degrade(to step: Degradation) {
        degradation.degrade(to: step, inputs)
        recorder?.record(.degrade(step), step: core.steps)
    }

    /// Returns the input of a host, and creates it unless it exists.
    ///
    /// - Parameters:
    ///   - jitterTarget: Milliseconds of playout delay; nil uses the program's default.
    ///   - isScreenShare: The video is a screen share, which sends frames only when something changes.
    public func addHost(_ id: String, jitterTarget: Int? = nil, isScreenShare: Bool = false) -> HostInput {
        if let existing = hosts.first(where: { $0.input.id == id }) { return existing.input }
        let input = HostInput(
            id: id,
            anchor: anchor,
            jitterTarget: jitterTarget ?? configuration.jitterTarget,
            isScreenShare: isScreenShare,
            recorder: recorder
        )
        recorder?.record(.add(input.recordedNumber), step: core.steps)
        hosts.append(Host(input))
        degradation.admit(input)
        core.add(input)
        return input
    }

    /// Removes a host.
    public func removeHost(_ id: String) {
        if let index = hosts.firstIndex(where: { $0.input.id == id }) { hosts.remove(at: index).input.close() }
        core.remove(id)
        recorder?.record(.remove(id), step: core.steps)
    }

    /// Changes a host's playout delay in milliseconds; playback moves there gradually.
    public func setJitterTarget(_ target: Int, for id: String) {
        guard let host = hosts.first(where: { $0.input.id == id }) else { return }
        host.input.setJitterTarget(target)
        recorder?.record(.jitterTarget(id, target), step: core.steps)
    }

    /// Stores the file that scenes reference as `asset`.
    public func provide(_ bytes: ByteBuffer, for asset: String) {
        if let recorder { recorder.record(.provide(recorder.addFile(asset, bytes)), step: core.steps) }
        core.provide(bytes, for: asset)
    }

    /// Whether overlays, music and catch-ups become visible only by explicit calls, as in a replay; set before the
    /// start.
    var isReplaying = false

    /// Renders these overlays and shows them from now on.
    func show(drawn keys: [OverlayCache.Key]) {
        overlayCache.render(keys)
    }

    /// Sets whether the slate's music can be played from now on.
    func setMusic(ready isReady: Bool) {
        core.setMusic(ready: isReady)
    }

    private func applyRenderedOverlays() {
        guard !isReplaying else { return }
        while overlayCache.renderNext() {}
        let drawn = overlayCache.applyRendered()
        if !drawn.isEmpty { recorder?.record(.drawn(drawn), step: core.steps) }
    }

    private func updateMusicReadiness() {
        music.fill()
        guard !isReplaying, let isReady = core.updateMusicReadiness() else { return }
        recorder?.record(.music(isReady), step: core.steps)
    }

    /// Shows from now on the frames that a host decoded to catch up.
    func catchUp(_ id: String) {
        core.catchUp(id)
    }

    private func resumeReturningHosts() {
        guard !isReplaying else { return }
        for id in core.resumeReturningHosts() { recorder?.record(.caughtUp(id), step: core.steps) }
    }

    /// The number of frames and quanta made, and of jumps, so far.
    var steps: Int64 { core.steps }

    /// Makes the next frame a keyframe.
    public func requestKeyframe() {
        encoder?.requestKeyframe()
    }

    /// Makes everything that is due up to `moment`, which must not be earlier than in the last call.
    public func advance(to moment: MonotonicTime) {
        advance(to: moment) { _ in }
    }

    /// - Parameters:
    ///   - steps: Stops after so many steps, even if more are due.
    ///   - beforeStep: Called before each frame or quantum with the step count, to apply a change.
    func advance(to moment: MonotonicTime, until steps: Int64 = .max, beforeStep: (Int64) -> Void) {
        let before = MonotonicSleep.threadSeconds()
        while now <= moment, core.steps < steps {
            beforeStep(core.steps)
            applyRenderedOverlays()
            if let step = simulatedLoad?.advance(to: now) { degrade(to: step) }
            updateMusicReadiness()
            decode()
            resumeReturningHosts()
            guard let next = core.step(at: now) else { continue }
            guard next <= moment else { break }
            now = next
        }
        now = max(now, moment)
        recorder?.reached(core.steps)
        usedSeconds += MonotonicSleep.threadSeconds() - before
    }

    /// The renderer's statistics.
    public var statistics: MixerStatistics {
        var result = core.snapshot(at: now)
        let encoding = encoder?.snapshot() ?? ProgramEncoder.Counters()
        result.processor.decode = result.hosts.reduce(0) { $0 + $1.decodeSeconds }
        // Without a queue, the encoders run inside the core's steps: audio encoding is part of its audio seconds.
        result.processor.audio += result.hosts.reduce(0) { $0 + $1.audioSeconds }
        result.processor.compose += result.hosts.reduce(-encoding.encodeSeconds) { $0 + $1.downscaleSeconds }
        result.processor.encode = encoding.encodeSeconds
        result.processor.rest = 0
        result.processor.rest = max(usedSeconds - result.processor.total, 0)
        result.processor.encode += openingSeconds
        result.audioEncodeSeconds = encoding.audioSeconds
        result.keyframes = encoding.keyframes
        result.bytesOut = encoding.bytes
        result.encodeErrors = encoding.errors
        return result
    }

    /// The canvas of the newest frame, for use between calls.
    var newestCanvas: Canvas { ring.canvases[core.newestCanvas] }

    private var inputs: [HostInput] { hosts.map(\.input) }

    private func decode() {
        let time = anchor.milliseconds(at: now)
        for host in hosts {
            let input = host.input
            while true {
                let packet = input.dequeueDuePacket(at: time)
                input.configure(&host.decoder, for: packet)
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
