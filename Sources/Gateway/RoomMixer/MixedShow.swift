import Egress
import GatewayModel
import Media
import Mixer
import NIOCore
import RTMP
import Stage
import Synchronization

/// A running mix: the mixer, a reader for each of its inputs, the push of the result, and the reports to the gateway.
///
/// Used from one task only.
final class MixedShow {
    /// Makes the reader of an input.
    typealias Feeds = (FollowedRoom.Input, HostInput) -> HostReader

    private let mixer: ProgramMixer
    private let push: RTMPPush
    private let renditions: RenditionPushes
    private let returns: ReturnPushes
    private let feeds: Feeds
    private let room: Latest
    private let reporter: MixerReporter
    private let assets: AssetReader
    private var readers: [FollowedRoom.Input: HostReader] = [:]

    /// The room as it was followed last, for the reporter on its own thread.
    private final class Latest: Sendable {
        let room = Mutex(FollowedRoom())
    }

    /// Makes the one who reports what is read.
    typealias Reporter = (_ read: @escaping @Sendable () -> MixerReportBody) -> MixerReporter

    /// Makes the one who brings assets to where they are delivered.
    typealias Assets = (_ deliver: @escaping @Sendable (ByteBuffer?, String) -> Void) -> AssetReader

    /// Starts the program; it runs whether or not there is anybody to show.
    init(
        _ configuration: ProgramConfiguration,
        recorder: ArrivalRecorder? = nil,
        marks: WorkMarks? = nil,
        push: RTMPPush,
        returns openReturn: @escaping ReturnPushes.Open,
        renditions open: RenditionPushes.Open,
        reporter: Reporter,
        assets: Assets,
        onUselessAsset: @escaping @Sendable (_ asset: String, _ reason: String) -> Void,
        onStuckDecoder: @escaping @Sendable (_ input: String) -> Void,
        feeds: @escaping Feeds
    ) throws {
        self.push = push
        self.feeds = feeds
        renditions = try RenditionPushes(of: configuration, open: open)
        let metadata = Self.metadata(configuration)
        let returns = ReturnPushes(metadata: metadata, open: openReturn)
        self.returns = returns
        let mixer = try ProgramMixer(
            configuration: configuration,
            returnSink: { sid, packet in returns.receive(packet, for: sid) },
            recorder: recorder,
            marks: marks,
            onUselessAsset: onUselessAsset,
            onStuckDecoder: onStuckDecoder,
            sink: { [push] packet in push.receive(packet) }
        )
        let latest = Latest()
        self.mixer = mixer
        room = latest
        let processor = ProcessorUse()
        self.reporter = reporter {
            let signals = mixer.signals
            return latest.room.withLock { $0 }.report(signals).telling(signals, mixer.programSignal)
                .telling(mixer.statistics.hosts)
                .telling(mixer.load, cores: processor.cores, renditions: mixer.renditions)
                .telling(mixer.frames)
        }
        self.reporter.bringSnapshots(of: mixer)
        self.assets = assets { bytes, id in
            if let bytes { mixer.provide(bytes, for: id) } else { mixer.withdraw(id) }
        }
        push.receive(metadata)
        push.start()
        try renditions.start(with: mixer)
        mixer.start()
        self.reporter.start()
        self.assets.start()
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

    /// Brings inputs and scene to what the room says now.
    func follow(_ room: FollowedRoom) {
        returns.follow(room.returns)
        assets.want(room.assets, without: room.removedAssets)
        // First of all, so that whoever goes is still there to be shown on the way out.
        mixer.apply(room.scene)
        let wanted = room.inputs
        for (input, reader) in readers where !wanted.contains(input) {
            reader.stop()
            mixer.removeHost(input.id)
            readers[input] = nil
        }
        for input in wanted where readers[input] == nil {
            let host = mixer.addHost(
                input.id,
                jitterTarget: room.jitterTarget(of: input),
                mayStandStill: input.source == .screen
            )
            let reader = feeds(input, host)
            readers[input] = reader
            reader.start()
        }
        for input in wanted { mixer.setJitterTarget(room.jitterTarget(of: input), for: input.id) }
        self.room.room.withLock { $0 = room }
    }

    func stop() {
        reporter.stop()
        assets.stop()
        for reader in readers.values { reader.stop() }
        readers.removeAll()
        mixer.stop()
        returns.stop()
        push.stop()
        renditions.stop()
    }
}
