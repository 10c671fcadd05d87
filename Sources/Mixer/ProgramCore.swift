import Codecs
import Media
import NIOCore
import Stage
import Synchronization

/// Produces the program: asks its clock what is due, and makes that frame or that quantum of audio.
///
/// The core neither waits nor decodes nor encodes; the caller of `step(at:)` does. One thread owns it.
///
/// The latency budget, from a host's packet in to the program's packet out, with the default configuration:
/// 300 ms jitter target (arrival to presentation; audio is read 32 to 51 ms earlier, so that it can be encoded in time)
/// + at most half a frame to the nearest program frame, either way + 5 to 26 ms until the matching audio is encoded,
/// whose AAC frames end every 21 ms. Composing takes about 2 ms and encoding about 9 ms of that time. The limiter's
/// 5 ms and the encoder's 21 ms of priming are part of the audio timestamps, so they add no A/V offset.
final class ProgramCore {
    /// The next frame is skipped when more than this many frames wait for the encoder.
    static let maximumPending = 2
    /// Samples between two publications of the hosts' signals: a tenth of a second.
    private static let signalSpacing: Int64 = 4800

    private let configuration: ProgramConfiguration
    private let ring: CanvasRing
    private let output: any ProgramOutput
    private let signals: HostSignals?
    private let loadMonitor: LoadMonitor?
    /// Whether one frame of three is dropped to save processor time.
    var reducesFrameRate = false
    private var clock: ProgramClock
    private var video: VideoMixer
    /// Composes the preview; nil without one.
    private var preview: PreviewMixer?
    private let previewOutput: (any PreviewOutput)?
    /// Called when the preview ends, and those who were shown it get the program's video.
    private let previewEnded: () -> Void
    private let overlayCache: OverlayCache
    private let requestRendering: () -> Void
    private var scene = Scene()
    private var hasScene = false
    private var hosts: [String: ProgramHost] = [:]
    private var leaving: [ProgramHost] = []
    private let audio: AudioMixer
    private let returns: (any MixMinusOutput)?
    private var nextSignals = Int64.min
    /// Program time of the last step, in milliseconds.
    private var time: Double?
    /// Whether some host is still decoding what it missed while it had no tile.
    private var isAwaiting = false
    private var hasComposed = false
    private var statistics = MixerStatistics()
    private var composeSeconds = 0.0
    private var audioSeconds = 0.0
    /// The number of frames and quanta made, and of jumps, so far; identifies when a change took effect.
    private(set) var steps: Int64 = 0

    init(
        _ configuration: ProgramConfiguration,
        anchor: ProgramAnchor,
        ring: CanvasRing,
        output: any ProgramOutput,
        signals: HostSignals? = nil,
        loadMonitor: LoadMonitor? = nil,
        overlayCache: OverlayCache,
        requestRendering: @escaping () -> Void = {},
        returns: (any MixMinusOutput)? = nil,
        preview: (any PreviewOutput)? = nil,
        previewEnded: @escaping () -> Void = {},
        director: TalkbackInput = TalkbackInput(),
        music: SlateMusic = SlateMusic(AssetCache())
    ) {
        self.configuration = configuration
        self.ring = ring
        self.output = output
        self.signals = signals
        self.loadMonitor = loadMonitor
        self.returns = returns
        previewOutput = preview
        self.previewEnded = previewEnded
        self.overlayCache = overlayCache
        self.requestRendering = requestRendering
        audio = AudioMixer(output: output, returns: returns, director: director, music: music)
        clock = ProgramClock(anchor: anchor, frameRate: configuration.frameRate)
        video = VideoMixer(
            ring: ring,
            rate: configuration.frameRate.perSecond,
            overlayCache: overlayCache,
            requestRendering: requestRendering
        )
    }

    /// Applies `scene` to everything made from now on.
    func apply(_ scene: Scene) {
        if scene != self.scene {
            video.apply(scene)
            applyPreview(of: scene)
        }
        self.scene = scene
        hasScene = true
        audio.apply(scene)
        for host in hosts.values { configure(host) }
    }

    /// Begins, changes or ends the preview.
    private func applyPreview(of scene: Scene) {
        let wasShown = preview != nil
        if let shown = scene.preview {
            // Without the memory for it there is no preview.
            preview =
                preview
                ?? (try? PreviewMixer(of: configuration, overlayCache: overlayCache, requestRendering: requestRendering))
            preview?.apply(shown)
        } else if wasShown {
            preview = nil
            _ = overlayCache.request([], for: .preview)
        }
        guard wasShown != (preview != nil) else { return }
        returns?.showPreview(preview != nil)
        if wasShown { previewEnded() }
    }

    /// Stores the file that scenes reference as `asset`; called between two steps.
    func provide(_ bytes: ByteBuffer, for asset: String) {
        overlayCache.assets.put(bytes, for: asset)
        audio.assetsDidChange()
    }

    /// Checks whether the slate's music is decoded; called between two steps.
    ///
    /// - Returns: Whether it can be played from now on, if that has changed.
    func updateMusicReadiness() -> Bool? { audio.updateReadiness() }

    /// Sets whether the slate's music can be played from now on.
    func setMusic(ready isReady: Bool) { audio.setMusic(ready: isReady) }

    /// Ends the catch-up of hosts that have decoded what they missed while they had no tile; called between two steps.
    ///
    /// - Returns: The ids of the hosts that have caught up.
    func resumeReturningHosts() -> [String] {
        guard isAwaiting else { return [] }
        let ready = hosts.filter { $0.value.isCaughtUp(after: steps) }.keys.sorted()
        for id in ready { catchUp(id) }
        isAwaiting = hosts.values.contains(where: \.isCatchingUp)
        return ready
    }

    /// Shows from now on the frames that a host decoded to catch up.
    func catchUp(_ id: String) { hosts[id]?.catchUp() }

    /// Adds a host, and removes one with the same id.
    func add(_ input: HostInput) {
        remove(input.id)
        let host = ProgramHost(input)
        configure(host)
        hosts[input.id] = host
    }

    /// Applies the scene's visibility and mix settings to `host`.
    private func configure(_ host: ProgramHost) {
        audio.configure(host)
        // Before the first scene no host has a tile, which does not mean that it is hidden.
        let visibility = hasScene ? (scene.preview ?? scene).visibility(of: host.input.id) : .whole
        host.setVisibility(visibility, at: time, steps: steps)
        if host.isCatchingUp { isAwaiting = true }
        host.isConcealed = scene.concealed.contains(host.input.id)
    }

    /// Removes a host; its audio fades out in the next quantum, its tile shows the tile colour.
    func remove(_ id: String) {
        guard let host = hosts.removeValue(forKey: id) else { return }
        host.isLeaving = true
        audio.configure(host)
        leaving.append(host)
    }

    /// Makes one frame or quantum that is due at `now`.
    ///
    /// - Returns: When the next one is due, if nothing is due at `now`.
    func step(at now: MonotonicTime) -> MonotonicTime? {
        let nextFrame = clock.nextFrame
        switch clock.next(at: now) {
        case .wait(let moment):
            return moment
        case .audio(let first):
            let before = MonotonicSleep.threadSeconds()
            mix(from: first)
            audioSeconds += MonotonicSleep.threadSeconds() - before
        case .frame(let index, let sample, let isLate):
            time = ProgramTime.fractionalMilliseconds(ofSample: sample)
            let before = MonotonicSleep.threadSeconds()
            let began = MonotonicTime.now()
            makeFrame(index, sample: sample, isLate: isLate)
            if !isLate, let canvas = preview?.compose(index, sample: sample, hosts: hosts) {
                previewOutput?.writeFrame(canvas, index: index)
            }
            let spent = MonotonicSleep.threadSeconds() - before
            composeSeconds += spent
            loadMonitor?.composed(in: MonotonicTime.now().seconds(since: began), processor: spent)
            let lateness = clock.anchor.milliseconds(at: now) - ProgramTime.fractionalMilliseconds(ofSample: sample)
            statistics.largestLateness = max(statistics.largestLateness, lateness)
        case .jump:
            statistics.jumps += 1
            statistics.jumpedFrames += clock.nextFrame - nextFrame
        }
        steps += 1
        return nil
    }

    /// The canvas of the newest frame.
    var newestCanvas: Int { video.newestCanvas }

    /// Returns the counters of the program's thread; only the compose and audio processor seconds are filled in.
    func snapshot(at now: MonotonicTime) -> MixerStatistics {
        var result = statistics
        let time = clock.anchor.milliseconds(at: now)
        result.processor.compose = composeSeconds
        result.processor.audio = audioSeconds
        result.tilesDrawn = video.counters.drawn
        result.tilesCopied = video.counters.copied
        result.tilesUnchanged = video.counters.unchanged
        result.hosts = hosts.values.map { $0.statistics(at: time) }.sorted { $0.id < $1.id }
        return result
    }

    private func mix(from first: Int64) {
        let now = ProgramTime.fractionalMilliseconds(ofSample: first - ProgramTime.audioLead)
        time = now
        audio.mix(hosts, leaving: leaving, from: first, now: now)
        if !leaving.isEmpty { leaving.removeAll { $0.isFinished } }
        publishSignals(at: now, from: first)
    }

    private func publishSignals(at now: Double, from first: Int64) {
        guard let signals, first >= nextSignals else { return }
        // On a grid that is independent of the quanta, so that the average rate is ten times a second.
        nextSignals = max(nextSignals, first - Self.signalSpacing) + Self.signalSpacing
        signals.publish(hosts.values.map { $0.signal(at: now) }, program: audio.readSignal())
    }

    private func makeFrame(_ index: Int64, sample: Int64, isLate: Bool) {
        guard !isLeftOut(index) else {
            statistics.shedFrames += 1
            return
        }
        guard output.pendingFrames <= Self.maximumPending else {
            statistics.skippedFrames += 1
            loadMonitor?.skipped()
            return
        }
        // A new scene may hide a host, so no frame may repeat an earlier one.
        if isLate, hasComposed, !video.hasUnshownScene { return repeatFrame(index) }
        let previous = configuration.frameRate.sample(ofFrame: index - 1)
        guard let canvas = video.compose(at: sample, after: previous, hosts: hosts) else {
            if !video.hasUnshownScene { repeatFrame(index) } else { statistics.skippedFrames += 1 }
            return
        }
        hasComposed = true
        send(canvas, index)
    }

    /// The other frames keep their indices and timestamps; a frame that begins a GOP is never dropped.
    private func isLeftOut(_ index: Int64) -> Bool {
        reducesFrameRate && index % 3 == 2 && index % Int64(configuration.gopLength) != 0
    }

    private func repeatFrame(_ index: Int64) {
        statistics.lateTicks += 1
        send(video.newestCanvas, index)
    }

    private func send(_ canvas: Int, _ index: Int64) {
        statistics.frames += 1
        ring.retain(canvas)
        output.writeFrame(canvas: canvas, index: index)
    }
}
