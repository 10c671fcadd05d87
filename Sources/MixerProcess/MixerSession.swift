import Egress
import FootlightModel
import Glibc
import Media
import Mixer
import NIOCore
import RTMP
import Stage
import Synchronization

/// A running mixer with a reader for each input, the pushes of its outputs, and the reports to the gateway.
///
/// Used from one task only.
final class MixerSession {
    /// Makes the reader of an input.
    typealias Feeds = (MixerInput, HostInput) -> HostReader

    private let mixer: ProgramMixer
    private let push: RTMPPush
    private let renditions: RenditionPushes
    private let feedPushes: FeedPushes
    private let feeds: Feeds
    private let room: Latest
    private let reporter: MixerReporter
    private let assets: AssetReader
    private let talkback: TalkbackReader
    private var readers: [MixerInput: HostReader] = [:]

    /// The latest state of the room, for the reporter's thread.
    private final class Latest: Sendable {
        let room = Mutex(RoomMirror())
    }

    /// Makes the reporter.
    typealias Reporter = (_ read: @escaping @Sendable () -> MixerReportBody) -> MixerReporter

    /// Makes the asset reader.
    typealias Assets = (_ deliver: @escaping @Sendable (ByteBuffer?, String) -> Void) -> AssetReader

    /// Makes the talkback reader.
    typealias Talkback = (_ deliver: @escaping @Sendable (TalkbackBlock) -> Void) -> TalkbackReader

    /// Starts the program; it runs with or without hosts.
    init(
        _ configuration: ProgramConfiguration,
        recorder: ArrivalRecorder? = nil,
        markers: DecodeMarkers? = nil,
        push: RTMPPush,
        feedPush: @escaping FeedPushes.Open,
        renditions open: RenditionPushes.Open,
        reporter: Reporter,
        assets: Assets,
        talkback: Talkback,
        onUnusableAsset: @escaping @Sendable (_ asset: String, _ reason: String) -> Void,
        onStalledDecoder: @escaping @Sendable (_ input: String) -> Void,
        onPreviewDemand: @escaping @Sendable (_ isWatched: Bool) -> Void,
        feeds: @escaping Feeds
    ) throws {
        self.push = push
        self.feeds = feeds
        renditions = try RenditionPushes(of: configuration, open: open)
        let metadata = Self.metadata(configuration)
        let preview = Rendition(previewOf: configuration)
        let feedPushes = FeedPushes(
            metadata: metadata,
            preview: Self.metadata(configuration, preview),
            open: feedPush
        )
        self.feedPushes = feedPushes
        let mixer = try ProgramMixer(
            configuration: configuration,
            returnSink: { mix, packet in feedPushes.receive(packet, for: mix) },
            recorder: recorder,
            markers: markers,
            onUnusableAsset: onUnusableAsset,
            onStalledDecoder: onStalledDecoder,
            sink: { [push] packet in push.receive(packet) }
        )
        let latest = Latest()
        self.mixer = mixer
        room = latest
        let processor = ProcessorUsage()
        self.reporter = reporter {
            let signals = mixer.signals
            return latest.room.withLock { $0 }.report(signals).adding(signals, mixer.programSignal)
                .adding(mixer.statistics.hosts)
                .adding(mixer.load, cores: processor.cores, renditions: mixer.renditions)
                .adding(mixer.frames)
        }
        self.reporter.sendSnapshots(of: mixer)
        self.reporter.reportPreviewDemand(to: onPreviewDemand)
        self.assets = assets { bytes, id in
            if let bytes { mixer.provide(bytes, for: id) } else { mixer.withdraw(id) }
        }
        self.talkback = talkback { mixer.director.receive($0.values, for: Set($0.hosts)) }
        push.receive(metadata)
        push.start()
        try renditions.start(with: mixer)
        mixer.start()
        self.reporter.start()
        self.assets.start()
        self.talkback.start()
    }

    private static func metadata(_ configuration: ProgramConfiguration) -> MediaPacket {
        StreamMetadata.packet(
            width: configuration.width,
            height: configuration.height,
            frameRate: configuration.frameRate.perSecond,
            videoBitrate: configuration.videoBitrate,
            audioBitrate: configuration.audioBitrate,
            sampleRate: 48_000,
            channels: 2,
            encoder: "Footlight"
        )
    }

    fileprivate static func metadata(_ program: ProgramConfiguration, _ rendition: Rendition) -> MediaPacket {
        StreamMetadata.packet(
            width: rendition.width,
            height: rendition.height,
            frameRate: (rendition.frameRate ?? program.frameRate).perSecond,
            videoBitrate: rendition.videoBitrate,
            audioBitrate: program.audioBitrate,
            sampleRate: 48_000,
            channels: 2,
            encoder: "Footlight"
        )
    }

    /// Applies the present state of the room to inputs and scene.
    func update(_ room: RoomMirror) {
        feedPushes.update(room.feeds)
        assets.setRequired(room.assets, removing: room.removedAssets)
        // First, so that a leaving host can be animated out.
        mixer.apply(room.scene)
        let required = room.inputs
        for (input, reader) in readers where !required.contains(input) {
            reader.stop()
            mixer.removeHost(input.id)
            readers[input] = nil
        }
        for input in required where readers[input] == nil {
            let host = mixer.addHost(
                input.id,
                jitterTarget: room.jitterTarget(of: input),
                isScreenShare: input.source == .screen
            )
            let reader = feeds(input, host)
            readers[input] = reader
            reader.start()
        }
        for input in required { mixer.setJitterTarget(room.jitterTarget(of: input), for: input.id) }
        self.room.room.withLock { $0 = room }
    }

    func stop() {
        reporter.stop()
        assets.stop()
        talkback.stop()
        for reader in readers.values { reader.stop() }
        readers.removeAll()
        mixer.stop()
        feedPushes.stop()
        push.stop()
        renditions.stop()
    }
}

/// Plays one host's feed into the mixer, and reconnects until it is stopped.
final class HostReader: Sendable {
    /// The delays between attempts to play the host's feed again; the gateway runs on the same machine.
    private static let reconnectBackoff = Backoff(initial: 0.05, maximum: 2)

    private struct State {
        var player: RTMPPlayer?
        var isStopped = false
        var failures = 0
    }

    private let url: String
    private let group: any EventLoopGroup
    private let input: HostInput
    private let state = Mutex(State())

    init(url: String, group: any EventLoopGroup, input: HostInput) {
        self.url = url
        self.group = group
        self.input = input
    }

    func start() {
        let player = RTMPPlayer(
            url: url,
            group: group,
            onPacket: { [input, weak self] packet, arrival in
                self?.state.withLock { $0.failures = 0 }
                #if DEBUG
                let packet = MixerFaultInjection.faulty(packet)
                #endif
                input.receive(packet, arrival: arrival)
            },
            onEnd: { [weak self] _ in self?.reconnect() }
        )
        let isActive = state.withLock { state in
            guard !state.isStopped else { return false }
            state.player = player
            return true
        }
        if isActive { player.start() }
    }

    /// Reconnects with a short backoff, because the gateway runs on the same machine.
    private func reconnect() {
        let failures = state.withLock { state -> Int? in
            guard !state.isStopped else { return nil }
            state.player = nil
            state.failures += 1
            return state.failures
        }
        guard let failures else { return }
        let delay = Int64(Self.reconnectBackoff.delay(retry: failures) * 1000)
        group.next().scheduleTask(in: .milliseconds(delay)) { [weak self] in self?.start() }
    }

    func stop() {
        let player = state.withLock { state in
            state.isStopped = true
            return state.player.take()
        }
        player?.stop()
    }
}

/// Pushes a program's renditions back to the gateway, each on a connection of its own.
final class RenditionPushes: Sendable {
    /// Makes a rendition's push without starting it.
    typealias Open = (_ rendition: String) throws -> RTMPPush

    private let pushes: [String: RTMPPush]

    /// Makes the pushes of the configuration's renditions.
    init(of configuration: ProgramConfiguration, open: Open) throws {
        var pushes: [String: RTMPPush] = [:]
        let ladder = configuration.ladder ?? RenditionLadder()
        for rendition in ladder.renditions {
            let push = try open(rendition.name)
            push.receive(MixerSession.metadata(configuration, rendition))
            pushes[rendition.name] = push
        }
        if ladder.hasAudioOnly { pushes[RenditionLadder.audioName] = try open(RenditionLadder.audioName) }
        self.pushes = pushes
    }

    /// Starts encoding the renditions and connects; call it before the mixer starts.
    func start(with mixer: ProgramMixer) throws {
        try mixer.encodeRenditions { [pushes] name, packet in pushes[name]?.receive(packet) }
        for push in pushes.values { push.start() }
    }

    func stop() {
        for push in pushes.values { push.stop() }
    }
}

/// Pushes return feeds and the preview to the gateway, one connection for each.
final class FeedPushes: Sendable {
    /// Makes the push of a feed; nil if it has no valid address.
    typealias Open = @Sendable (MixFeed) -> RTMPPush?

    private let open: Open
    private let metadata: MediaPacket
    private let previewMetadata: MediaPacket
    private let pushes = Mutex<[String: RTMPPush]>([:])

    /// - Parameters:
    ///   - metadata: The first packet of each return feed.
    ///   - preview: The first packet of the preview.
    init(metadata: MediaPacket, preview: MediaPacket, open: @escaping Open) {
        self.metadata = metadata
        previewMetadata = preview
        self.open = open
    }

    /// Starts and stops pushes to match the feeds of the room.
    ///
    /// - Parameter required: The feeds by the ids of their mixes.
    func update(_ required: [String: MixFeed]) {
        let (gone, known) = pushes.withLock { pushes in
            let gone = pushes.filter { required[$0.key] == nil }
            for mix in gone.keys { pushes[mix] = nil }
            return (gone, Set(pushes.keys))
        }
        for push in gone.values { push.stop() }
        for (mix, feed) in required where !known.contains(mix) {
            guard let push = open(feed) else { continue }
            push.receive(feed == .preview ? previewMetadata : metadata)
            push.start()
            pushes.withLock { $0[mix] = push }
        }
    }

    /// Pushes a packet of the feed with this mix; never blocks.
    func receive(_ packet: MediaPacket, for mix: String) {
        pushes.withLock { $0[mix] }?.receive(packet)
    }

    func stop() {
        update([:])
    }
}

/// Measures how many processor cores this process uses.
final class ProcessorUsage: Sendable {
    /// The length of a measurement, in seconds.
    private static let measurementLength = 2.0

    private struct State: Sendable {
        var at: MonotonicTime
        var used: Double
        var cores = 0.0
    }

    private let state = Mutex(State(at: .now(), used: ProcessorUsage.processSeconds()))

    /// The cores used in the last complete measurement; 0 during the first.
    var cores: Double {
        let now = MonotonicTime.now()
        return state.withLock { state in
            let passed = now.seconds(since: state.at)
            guard passed >= Self.measurementLength else { return state.cores }
            let used = Self.processSeconds()
            state.cores = max(used - state.used, 0) / passed
            (state.at, state.used) = (now, used)
            return state.cores
        }
    }

    private static func processSeconds() -> Double {
        // POSIX defines CLOCKS_PER_SEC as one million.
        Double(clock()) / 1_000_000
    }
}
