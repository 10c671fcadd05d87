public import Codecs
public import Media
public import NIOCore
public import Stage
import Synchronization

/// Mixes many hosts into one program, in real time, on its own threads.
///
/// The program's thread sleeps until the next frame or quantum of audio is due, uses what each host has decoded, and
/// never waits for a host. One thread encodes and calls the sink. One thread per host decodes. Without hosts the
/// program continues with background and silence. See `ProgramCore` for the latency budget.
public final class ProgramMixer: Sendable {
    private enum Change: Sendable {
        case add(HostInput)
        case remove(String)
        case jitterTarget(HostInput, Int)
    }

    private struct File: Sendable {
        let asset: String
        let bytes: ByteBuffer
        /// The file's number in a recording.
        let number: Int
    }

    private struct Control: Sendable {
        var isStarted = false
        var isStopped = false
        var scene: Scene?
        var changes: [Change] = []
        /// Files provided since the program's thread last checked.
        var files: [File] = []
        var hosts: [String: HostInput] = [:]
        var decoders: [String: DecodeThread] = [:]
        var threads: [WorkerThread] = []
        /// Processor time of hosts that were removed.
        var past = MixerStatistics.Processor()
    }

    /// Statistics of the program's thread, published twice a second.
    private struct Report: Sendable {
        var statistics = MixerStatistics()
        var programSeconds = 0.0
        var encoderSeconds = 0.0
        var returnSeconds = 0.0
    }

    private let configuration: ProgramConfiguration
    private let anchor: ProgramAnchor
    private let ring: CanvasRing
    let encoder: ProgramEncoder
    private let queue = EncoderQueue()
    private let control = Mutex(Control())
    private let report = Mutex(Report())
    private let hostSignals = HostSignals()
    let loadMonitor: LoadMonitor
    private let returns: MixMinusEncoder
    private let preview: PreviewEncoder
    /// What a director says to hosts, which only their mix-minus feeds contain; any thread.
    public let director = TalkbackInput()
    private let music: SlateMusic
    private let recorder: ArrivalRecorder?
    private let markers: DecodeMarkers?
    private let hostSnapshots = HostSnapshotWorker()
    private let onStalledDecoder: @Sendable (String) -> Void
    private let overlayThread: OverlayRenderThread

    /// Prepares a program; its time begins now, so `start` should follow at once.
    ///
    /// - Parameters:
    ///   - firstSample: The first value of the 48 kHz counter that all timestamps derive from; 0 is timestamp zero.
    ///     Another mixer takes over a program by beginning after the last one's end.
    ///   - encoderOptions: Further x264 parameters, `name=value` separated by colons; nil uses those of the preset.
    ///   - returnSink: Receives the mix-minus feeds of the hosts in `AudioScene.returns`, each packet with its host:
    ///     the program's video, or the preview's where there is one, with the audio of all other hosts, beginning with a
    ///     keyframe; called on a thread of its own.
    ///   - recorder: Records everything that arrives, so that the program can be rendered again.
    ///   - markers: The file in which each decode thread marks its host.
    ///   - onUnusableAsset: Called once for each provided file that cannot be drawn or played, with the reason; any
    ///     thread.
    ///   - onStalledDecoder: Called with the id of an input whose decoder has worked on one packet for about five
    ///     seconds; on the program's thread. Its thread cannot be ended, only the process.
    ///   - sink: Receives the program, first both decoder configurations, with timestamps that never decrease; called
    ///     on the encoder's thread, and must return soon.
    /// - Throws: `CodecError` when the codecs reject the configuration.
    public init(
        configuration: ProgramConfiguration,
        firstSample: Int64 = 0,
        encoderOptions: String? = nil,
        returnSink: @escaping @Sendable (_ host: String, MediaPacket) -> Void = { _, _ in },
        recorder: ArrivalRecorder? = nil,
        markers: DecodeMarkers? = nil,
        onUnusableAsset: @escaping @Sendable (_ asset: String, _ reason: String) -> Void = { _, _ in },
        onStalledDecoder: @escaping @Sendable (_ input: String) -> Void = { _ in },
        sink: @escaping @Sendable (MediaPacket) -> Void
    ) throws(CodecError) {
        self.configuration = configuration
        self.recorder = recorder
        self.markers = markers
        self.onStalledDecoder = onStalledDecoder
        recorder?.begin(configuration, firstSample: firstSample)
        anchor = ProgramAnchor(start: .now(), firstSample: firstSample)
        loadMonitor = LoadMonitor(budget: 1 / configuration.frameRate.perSecond)
        let assets = AssetCache(onUnusable: onUnusableAsset)
        overlayThread = OverlayRenderThread(OverlayCache(assets))
        music = SlateMusic(assets)
        let returns = MixMinusEncoder(bitrate: configuration.audioBitrate * 1000, sink: returnSink)
        self.returns = returns
        preview = PreviewEncoder(of: configuration) { returns.writePreviewPacket($0) }
        ring = try CanvasRing(width: configuration.width, height: configuration.height)
        encoder = try ProgramEncoder(
            configuration,
            encoderOptions: encoderOptions,
            firstSample: firstSample,
            ring: ring,
            loadMonitor: loadMonitor,
            sink: { packet in
                sink(packet)
                returns.writeProgramPacket(packet)
            }
        )
    }

    /// Starts the threads; the program is on air until `stop`.
    ///
    /// A second call does nothing.
    public func start() {
        control.withLock { control in
            guard !control.isStarted, !control.isStopped else { return }
            control.isStarted = true
            control.threads = [
                WorkerThread(name: "program") { self.runProgram() },
                WorkerThread(name: "encoder") { self.runEncoder() },
                WorkerThread(name: "returns") { self.runReturns() },
                WorkerThread(name: "music") { self.music.run() },
                WorkerThread(name: "drawing") { self.overlayThread.run() },
            ]
            for (id, input) in control.hosts { control.decoders[id] = DecodeThread(input) }
        }
    }

    /// Ends the program; returns when all threads have ended, after which no packet is sent.
    ///
    /// Must not be called from the sink.
    public func stop() {
        let (threads, decoders) = control.withLock { control in
            control.isStopped = true
            defer {
                control.threads = []
                control.decoders = [:]
            }
            return (control.threads, Array(control.decoders.values))
        }
        for decoder in decoders { decoder.stop() }
        threads.first?.join()
        queue.close()
        returns.close()
        music.close()
        overlayThread.close()
        preview.close()
        for thread in threads.dropFirst() { thread.join() }
    }

    /// Applies a scene from the next frame on; any thread, but no event loop, because an encoder may open or close.
    public func apply(_ scene: Scene) {
        returns.follow(scene.audio.returns)
        preview.setActive(scene.previewTiles != nil)
        control.withLock { $0.scene = scene }
    }

    /// Returns the input of a host, and creates it unless it exists.
    ///
    /// Any thread.
    ///
    /// - Parameters:
    ///   - jitterTarget: Milliseconds of playout delay; nil uses the program's default.
    ///   - isScreenShare: The video is a screen share, which sends frames only when something changes.
    public func addHost(_ id: String, jitterTarget: Int? = nil, isScreenShare: Bool = false) -> HostInput {
        control.withLock { control in
            if let existing = control.hosts[id] { return existing }
            let input = HostInput(
                id: id,
                anchor: anchor,
                jitterTarget: jitterTarget ?? configuration.jitterTarget,
                isScreenShare: isScreenShare,
                recorder: recorder,
                marker: markers?.marker(for: id)
            )
            control.hosts[id] = input
            control.changes.append(.add(input))
            if control.isStarted, !control.isStopped { control.decoders[id] = DecodeThread(input) }
            return input
        }
    }

    /// Removes a host; packets that its input still receives are ignored.
    ///
    /// Any thread but the sink's.
    public func removeHost(_ id: String) {
        let decoder = control.withLock { control -> DecodeThread? in
            guard let input = control.hosts.removeValue(forKey: id) else { return nil }
            control.changes.append(.remove(id))
            let used = input.processor
            control.past.decode += used.decode
            control.past.compose += used.compose
            control.past.audio += used.audio
            control.past.rest += used.rest
            input.close()
            return control.decoders.removeValue(forKey: id)
        }
        decoder?.stop()
    }

    /// Stores the file that scenes reference as `asset`; returns at once, any thread.
    ///
    /// A scene may reference it earlier; while the file is missing or unreadable, its overlay or music is left out.
    public func provide(_ bytes: ByteBuffer, for asset: String) {
        let file = File(asset: asset, bytes: bytes, number: recorder?.addFile(asset, bytes) ?? 0)
        control.withLock { control in
            // Only the newest file of each name counts, and no more files than the cache holds need to wait.
            control.files.removeAll { $0.asset == asset }
            control.files.append(file)
            control.files.removeFirst(max(control.files.count - AssetCache.limits.count, 0))
        }
    }

    /// Removes the file of `asset`, as if it had never been provided.
    public func withdraw(_ asset: String) {
        // A recording of arrivals knows only files, and an empty file is neither drawn nor played.
        provide(ByteBuffer(), for: asset)
    }

    /// Changes a host's playout delay in milliseconds; playback moves there gradually.
    ///
    /// Any thread. An unknown host and an unchanged target are ignored.
    public func setJitterTarget(_ target: Int, for id: String) {
        control.withLock { control in
            guard let input = control.hosts[id], input.requestedJitterTarget != target else { return }
            input.requestedJitterTarget = target
            control.changes.append(.jitterTarget(input, target))
        }
    }

    /// Makes the next frame a keyframe; any thread.
    public func requestKeyframe() {
        encoder.requestKeyframe()
    }

    /// The mixer's statistics; at most half a second old.
    ///
    /// Any thread.
    public var statistics: MixerStatistics {
        let (inputs, past) = control.withLock { (Array($0.hosts.values), $0.past) }
        let report = report.withLock { $0 }
        var result = report.statistics
        let (program, encoding) = (result.processor, encoder.snapshot())
        result.processor.decode = past.decode
        result.processor.compose += past.compose
        result.processor.rest = past.rest + report.programSeconds - program.compose - program.audio
        result.processor.rest += report.encoderSeconds - encoding.encodeSeconds - encoding.audioSeconds
        result.processor.encode = encoding.encodeSeconds + preview.encodeSeconds
        result.processor.audio += past.audio + encoding.audioSeconds + report.returnSeconds
        for used in inputs.map(\.processor) {
            result.processor.decode += used.decode
            result.processor.compose += used.compose
            result.processor.audio += used.audio
            result.processor.rest += used.rest
        }
        result.processor.rest = max(result.processor.rest, 0)
        result.audioEncodeSeconds = encoding.audioSeconds
        result.keyframes = encoding.keyframes
        result.bytesOut = encoding.bytes
        result.encodeErrors = encoding.errors
        result.audioSamplesDropped = queue.droppedSamples
        return result
    }

    /// The processor load and the degradation in force; any thread.
    public var load: ProgramLoad { loadMonitor.load }

    /// Counts of the program's frames by outcome; any thread.
    public var frames: MixerFrames {
        let statistics = report.withLock { $0.statistics }
        var frames = loadMonitor.frames
        frames.lost = [
            .compose: Int(statistics.lateTicks), .encode: Int(statistics.skippedFrames),
            .degrade: Int(statistics.shedFrames), .jump: Int(statistics.jumpedFrames),
            .rendition: encoder.renditions.reduce(0) { $0 + Int($1.droppedFrames) },
        ]
        return frames
    }

    /// The current signals of all inputs, in no order; at most a tenth of a second old.
    ///
    /// Any thread.
    public var signals: [HostSignal] { hostSignals.current }

    /// The program's current level; at most a tenth of a second old.
    ///
    /// Any thread.
    public var programSignal: ProgramSignal { hostSignals.program }

    private func runEncoder() {
        queue.run(encoder) { seconds in
            self.report.withLock { $0.encoderSeconds = seconds }
        }
    }

    private func runReturns() {
        returns.run { seconds in
            self.report.withLock { $0.returnSeconds = seconds }
        }
    }

    private func runProgram() {
        let core = ProgramCore(
            configuration,
            anchor: anchor,
            ring: ring,
            output: queue,
            signals: hostSignals,
            loadMonitor: loadMonitor,
            overlayCache: overlayThread.overlayCache,
            requestRendering: { [overlayThread] in overlayThread.call() },
            returns: returns,
            preview: preview,
            previewEnded: { [encoder] in encoder.requestKeyframe() },
            director: director,
            music: music
        )
        var degradation = DegradationController(core, encoder: encoder)
        var reportAt = MonotonicTime.now()
        var stallMonitor = DecodeStallMonitor()
        while !applyChanges(core, &degradation) {
            let now = MonotonicTime.now()
            if now >= reportAt {
                publish(core, now)
                if let stalled = stallMonitor.check(inputs.map { (id: $0.id, work: $0.work) }) {
                    onStalledDecoder(stalled)
                }
                if let step = loadMonitor.evaluate(now: now) {
                    degradation.degrade(to: step, inputs)
                    recorder?.record(.degrade(step), step: core.steps)
                }
                reportAt = now.advanced(milliseconds: 500)
            }
            if let moment = core.step(at: now) { MonotonicSleep.until(moment) }
        }
        publish(core, .now())
    }

    private func publish(_ core: ProgramCore, _ now: MonotonicTime) {
        let snapshot = core.snapshot(at: now)
        let seconds = MonotonicSleep.threadSeconds()
        recorder?.reached(core.steps)
        report.withLock { report in
            report.statistics = snapshot
            report.programSeconds = seconds
        }
    }

    private var inputs: [HostInput] { control.withLock { Array($0.hosts.values) } }

    /// Applies the changes requested since the last step; returns whether to stop.
    private func applyChanges(_ core: ProgramCore, _ degradation: inout DegradationController) -> Bool {
        let (scene, changes, files, isStopped) = control.withLock { control in
            defer {
                control.scene = nil
                if !control.changes.isEmpty { control.changes = [] }
                if !control.files.isEmpty { control.files = [] }
            }
            return (control.scene, control.changes, control.files, control.isStopped)
        }
        for change in changes {
            switch change {
            case .add(let input):
                degradation.admit(input)
                core.add(input)
                recorder?.record(.add(input.recordedNumber), step: core.steps)
            case .remove(let id):
                core.remove(id)
                recorder?.record(.remove(id), step: core.steps)
            case .jitterTarget(let input, let target):
                input.setJitterTarget(target)
                recorder?.record(.jitterTarget(input.id, target), step: core.steps)
            }
        }
        for file in files {
            core.provide(file.bytes, for: file.asset)
            recorder?.record(.provide(file.number), step: core.steps)
        }
        if let scene {
            degradation.apply(scene, to: inputs)
            recorder?.record(.scene(scene), step: core.steps)
        }
        let drawn = overlayThread.overlayCache.applyRendered()
        if !drawn.isEmpty { recorder?.record(.drawn(drawn), step: core.steps) }
        for id in core.resumeReturningHosts() { recorder?.record(.caughtUp(id), step: core.steps) }
        if let isReady = core.updateMusicReadiness() { recorder?.record(.music(isReady), step: core.steps) }
        return isStopped
    }
}

extension ProgramMixer {
    /// Encodes the configured renditions, each on a thread of its own; to be called before `start`.
    ///
    /// - Parameter sink: Receives each rendition's packets with its name, first its decoder configurations, with
    ///   timestamps that never decrease, on the program's clock; called on the rendition's thread.
    /// - Throws: `CodecError` when the encoder rejects a rendition.
    public func encodeRenditions(
        sink: @escaping @Sendable (_ rendition: String, MediaPacket) -> Void
    ) throws(CodecError) {
        try encoder.encodeRenditions(hasThreads: true, sink: sink)
    }

    /// Statistics of each rendition; empty without renditions.
    ///
    /// Any thread.
    public var renditions: [RenditionStatistics] { encoder.renditions }

    /// Makes an image file of the program's next frame; any thread.
    ///
    /// - Parameter completion: Called on another thread, with nil when no file can be made; not called while there are
    ///   no frames.
    public func requestSnapshot(_ snapshot: Snapshot, completion: @escaping @Sendable (ByteBuffer?) -> Void) {
        encoder.snapshots.requestSnapshot(snapshot, completion: completion)
    }

    /// Makes an image file of the preview's next frame, as `requestSnapshot(_:completion:)` does of the program's.
    public func requestPreviewSnapshot(_ snapshot: Snapshot, completion: @escaping @Sendable (ByteBuffer?) -> Void) {
        preview.snapshots.requestSnapshot(snapshot, completion: completion)
    }

    /// Makes an image file of the newest keyframe that a host has sent, in the program or not; any thread.
    ///
    /// - Parameters:
    ///   - snapshot: 320 pixels wide without a width; never wider than the host's video.
    ///   - completion: Called on any thread, with nil when there is no such host or no frame of it.
    public func requestSnapshot(
        _ snapshot: Snapshot,
        of host: String,
        completion: @escaping @Sendable (ByteBuffer?) -> Void
    ) {
        guard let keyframe = control.withLock({ $0.hosts[host] })?.newestKeyframe else { return completion(nil) }
        let marker = markers?.marker(for: host)
        hostSnapshots.requestSnapshot(of: keyframe, snapshot, marker: marker, completion: completion)
    }
}

extension ProgramRenderer {
    /// Encodes the configured renditions like `ProgramMixer.encodeRenditions`, but inside `advance(to:)`.
    public func encodeRenditions(
        sink: @escaping @Sendable (_ rendition: String, MediaPacket) -> Void
    ) throws(CodecError) {
        try encoder?.encodeRenditions(hasThreads: false, sink: sink)
    }

    /// Statistics of each rendition.
    public var renditions: [RenditionStatistics] { encoder?.renditions ?? [] }

    /// Makes an image file of the program's next frame; `completion` is called on another thread.
    public func requestSnapshot(_ snapshot: Snapshot, completion: @escaping @Sendable (ByteBuffer?) -> Void) {
        encoder?.snapshots.requestSnapshot(snapshot, completion: completion)
    }
}
