public import Codecs
public import Media
public import NIOCore
public import Stage
import Synchronization

/// Mixes many hosts into one program, in real time, on threads of its own.
///
/// One thread is the program: it sleeps to the next picture or quantum of sound, takes what each host has ready, and
/// never waits for any. One thread encodes and calls the sink. One thread per host decodes. With no host on air the
/// program goes on with background and silence. See `ProgramCore` for the latency budget.
public final class ProgramMixer: Sendable {
    private enum Change: Sendable {
        case add(HostInput)
        case remove(String)
        case jitterTarget(HostInput, Int)
    }

    private struct File: Sendable {
        let asset: String
        let bytes: ByteBuffer
        /// Its number in a recording.
        let number: Int
    }

    private struct Control: Sendable {
        var isStarted = false
        var isStopped = false
        var scene: Scene?
        var changes: [Change] = []
        /// Provided since the program's thread last looked.
        var files: [File] = []
        var hosts: [String: HostInput] = [:]
        var decoders: [String: DecodeThread] = [:]
        var threads: [WorkerThread] = []
        /// Processor time of hosts that have left.
        var past = MixerStatistics.Processor()
    }

    /// What the program's own thread says about itself, twice a second.
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
    let gauge: LoadGauge
    private let returns: ReturnEncoders
    private let music: SlateMusic
    private let recorder: ArrivalRecorder?
    private let marks: WorkMarks?
    private let onStuckDecoder: @Sendable (String) -> Void
    private let drawingRoom: DrawingRoom

    /// Prepares a program; its time begins now, so `start` should follow at once.
    ///
    /// - Parameters:
    ///   - firstSample: Where the 48 kHz counter begins that all timestamps come from: timestamp zero for 0. Another
    ///     mixer takes a program over by beginning after the last one's end.
    ///   - encoderOptions: Further x264 parameters, `name=value` parted by colons; nil takes those of the preset.
    ///   - returnSink: Takes the feeds of those hosts whom the scene names in `SoundScene.returns`, each packet with the
    ///     host it is for: the program's pictures with the sound of everybody else, from a key picture on; called on a
    ///     thread of its own.
    ///   - recorder: Takes down all that arrives, so that the program can be made again.
    ///   - marks: Where each host is marked while its media is decoded.
    ///   - onUselessAsset: Told once of each file given by `provide` that cannot be drawn or played, and why; any thread.
    ///   - onStuckDecoder: Told the name of an input whose decoder has not come back from a packet for about five
    ///     seconds; on the program's thread. Its thread cannot be ended, only the process.
    ///   - sink: Takes the program, first both decoder configurations, timestamps never decreasing; called on the
    ///     encoder's thread, and should return soon.
    /// - Throws: `CodecError` when the codecs do not take the configuration.
    public init(
        configuration: ProgramConfiguration,
        firstSample: Int64 = 0,
        encoderOptions: String? = nil,
        returnSink: @escaping @Sendable (_ host: String, MediaPacket) -> Void = { _, _ in },
        recorder: ArrivalRecorder? = nil,
        marks: WorkMarks? = nil,
        onUselessAsset: @escaping @Sendable (_ asset: String, _ reason: String) -> Void = { _, _ in },
        onStuckDecoder: @escaping @Sendable (_ input: String) -> Void = { _ in },
        sink: @escaping @Sendable (MediaPacket) -> Void
    ) throws(CodecError) {
        self.configuration = configuration
        self.recorder = recorder
        self.marks = marks
        self.onStuckDecoder = onStuckDecoder
        recorder?.begin(configuration, firstSample: firstSample)
        anchor = ProgramAnchor(start: .now(), firstSample: firstSample)
        gauge = LoadGauge(budget: 1 / configuration.frameRate.perSecond)
        let assets = AssetShelf(onUseless: onUselessAsset)
        drawingRoom = DrawingRoom(Wardrobe(assets))
        music = SlateMusic(assets)
        let returns = ReturnEncoders(bitrate: configuration.audioBitrate * 1000, sink: returnSink)
        self.returns = returns
        ring = try CanvasRing(width: configuration.width, height: configuration.height)
        encoder = try ProgramEncoder(
            configuration,
            encoderOptions: encoderOptions,
            firstSample: firstSample,
            ring: ring,
            gauge: gauge,
            sink: { packet in
                sink(packet)
                returns.takeProgram(packet)
            }
        )
    }

    /// Starts the threads; the program is on from here until `stop`.
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
                WorkerThread(name: "drawing") { self.drawingRoom.run() },
            ]
            for (id, input) in control.hosts { control.decoders[id] = DecodeThread(input) }
        }
    }

    /// Ends the program; returns when all threads have, and no packet comes any more.
    ///
    /// Not to be called from the sink.
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
        drawingRoom.close()
        for thread in threads.dropFirst() { thread.join() }
    }

    /// Changes what is shown and heard, from the next picture on; any thread.
    public func apply(_ scene: Scene) {
        returns.follow(scene.sound.returns)
        control.withLock { $0.scene = scene }
    }

    /// A host's way in; the same one when it has been added before.
    ///
    /// Any thread.
    ///
    /// - Parameters:
    ///   - jitterTarget: Milliseconds its media is held back; nil takes the program's own.
    ///   - mayStandStill: What it sends is a screen, of which pictures come only when something changes.
    public func addHost(_ id: String, jitterTarget: Int? = nil, mayStandStill: Bool = false) -> HostInput {
        control.withLock { control in
            if let known = control.hosts[id] { return known }
            let input = HostInput(
                id: id,
                anchor: anchor,
                jitterTarget: jitterTarget ?? configuration.jitterTarget,
                mayStandStill: mayStandStill,
                recorder: recorder,
                mark: marks?.mark(for: id)
            )
            control.hosts[id] = input
            control.changes.append(.add(input))
            if control.isStarted, !control.isStopped { control.decoders[id] = DecodeThread(input) }
            return input
        }
    }

    /// Takes a host out; what its input still gets is ignored.
    ///
    /// Any thread but the sink's.
    public func removeHost(_ id: String) {
        let decoder = control.withLock { control -> DecodeThread? in
            guard let input = control.hosts.removeValue(forKey: id) else { return nil }
            control.changes.append(.remove(id))
            let used = input.processor
            control.past.decode += used.decode
            control.past.compose += used.compose
            control.past.sound += used.sound
            control.past.rest += used.rest
            input.close()
            return control.decoders.removeValue(forKey: id)
        }
        decoder?.stop()
    }

    /// Gives the file that scenes call `asset`; returns at once, any thread.
    ///
    /// A scene may name it before it is here; until then, and when it cannot be read, the program does without.
    public func provide(_ bytes: ByteBuffer, for asset: String) {
        let file = File(asset: asset, bytes: bytes, number: recorder?.addFile(asset, bytes) ?? 0)
        control.withLock { control in
            // Of those of one name the newest counts; and what the shelf would not keep need not wait for it.
            control.files.removeAll { $0.asset == asset }
            control.files.append(file)
            control.files.removeFirst(max(control.files.count - AssetShelf.limits.count, 0))
        }
    }

    /// Takes back what was given for `asset`; the program does without from now on, as if it had never come.
    public func withdraw(_ asset: String) {
        // A recording of arrivals knows of files alone, and nothing is drawn or played from an empty one.
        provide(ByteBuffer(), for: asset)
    }

    /// Changes how long a host's media is held back, milliseconds; it moves there without a break.
    ///
    /// Any thread. What is no host is ignored, and so is the target that it has already.
    public func setJitterTarget(_ target: Int, for id: String) {
        control.withLock { control in
            guard let input = control.hosts[id], input.wantedJitterTarget != target else { return }
            input.wantedJitterTarget = target
            control.changes.append(.jitterTarget(input, target))
        }
    }

    /// Makes the next picture a key picture; any thread.
    public func requestKeyPicture() {
        encoder.requestKeyPicture()
    }

    /// How it is going; at most half a second old.
    ///
    /// Any thread.
    public var statistics: MixerStatistics {
        let (inputs, past) = control.withLock { (Array($0.hosts.values), $0.past) }
        let report = report.withLock { $0 }
        var result = report.statistics
        let (program, encoding) = (result.processor, encoder.snapshot())
        result.processor.decode = past.decode
        result.processor.compose += past.compose
        result.processor.rest = past.rest + report.programSeconds - program.compose - program.sound
        result.processor.rest += report.encoderSeconds - encoding.encodeSeconds - encoding.soundSeconds
        result.processor.encode = encoding.encodeSeconds
        result.processor.sound += past.sound + encoding.soundSeconds + report.returnSeconds
        for used in inputs.map(\.processor) {
            result.processor.decode += used.decode
            result.processor.compose += used.compose
            result.processor.sound += used.sound
            result.processor.rest += used.rest
        }
        result.processor.rest = max(result.processor.rest, 0)
        result.soundEncodeSeconds = encoding.soundSeconds
        result.keyPictures = encoding.keyPictures
        result.bytesOut = encoding.bytes
        result.encodeErrors = encoding.errors
        result.soundSamplesDropped = queue.droppedSamples
        return result
    }

    /// How near the program is to the limit of its machine, and what it does without; any thread.
    public var load: ProgramLoad { gauge.load }

    /// What became of the program's pictures; any thread.
    public var frames: MixerFrames {
        let statistics = report.withLock { $0.statistics }
        var frames = gauge.frames
        frames.lost = [
            .compose: Int(statistics.lateTicks), .encode: Int(statistics.skippedPictures),
            .degrade: Int(statistics.sparedPictures), .jump: Int(statistics.jumpedPictures),
            .rendition: encoder.renditions.reduce(0) { $0 + Int($1.droppedPictures) },
        ]
        return frames
    }

    /// What every input gives at this moment, in no order; at most a tenth of a second old.
    ///
    /// Any thread.
    public var signals: [HostSignal] { hostSignals.current }

    /// How loud the program is at this moment; at most a tenth of a second old.
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
            gauge: gauge,
            wardrobe: drawingRoom.wardrobe,
            callDraftsman: { [drawingRoom] in drawingRoom.call() },
            returns: returns,
            music: music
        )
        var thrift = Thrift(core, encoder: encoder)
        var reportAt = MonotonicTime.now()
        var watch = DecodeWatch()
        while !takeChanges(core, &thrift) {
            let now = MonotonicTime.now()
            if now >= reportAt {
                publish(core, now)
                if let stuck = watch.look(inputs.map { (id: $0.id, work: $0.work) }) { onStuckDecoder(stuck) }
                if let step = gauge.look(now: now) {
                    thrift.degrade(to: step, inputs)
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

    /// Gives the core what was asked for since the last step; returns whether to stop.
    private func takeChanges(_ core: ProgramCore, _ thrift: inout Thrift) -> Bool {
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
                thrift.admit(input)
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
            thrift.apply(scene, to: inputs)
            recorder?.record(.scene(scene), step: core.steps)
        }
        let drawn = drawingRoom.wardrobe.takeIn()
        if !drawn.isEmpty { recorder?.record(.drawn(drawn), step: core.steps) }
        for id in core.takeInReturning() { recorder?.record(.caughtUp(id), step: core.steps) }
        if let isReady = core.takeInMusic() { recorder?.record(.music(isReady), step: core.steps) }
        return isStopped
    }
}
