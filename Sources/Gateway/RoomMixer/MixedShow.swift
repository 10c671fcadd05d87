import Egress
import GatewayModel
import Media
import Mixer
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
    private let feeds: Feeds
    private let room: Latest
    private let reporter: MixerReporter
    private var readers: [FollowedRoom.Input: HostReader] = [:]

    /// The room as it was followed last, for the reporter on its own thread.
    private final class Latest: Sendable {
        let room = Mutex(FollowedRoom())
    }

    /// Makes the one who reports what is read.
    typealias Reporter = (_ read: @escaping @Sendable () -> MixerReportBody) -> MixerReporter

    /// Starts the program; it runs whether or not there is anybody to show.
    init(
        _ configuration: ProgramConfiguration,
        recorder: ArrivalRecorder? = nil,
        push: RTMPPush,
        renditions open: RenditionPushes.Open,
        reporter: Reporter,
        feeds: @escaping Feeds
    ) throws {
        self.push = push
        self.feeds = feeds
        renditions = try RenditionPushes(of: configuration, open: open)
        let mixer = try ProgramMixer(configuration: configuration, recorder: recorder) { [push] packet in
            push.receive(packet)
        }
        let latest = Latest()
        self.mixer = mixer
        room = latest
        self.reporter = reporter {
            latest.room.withLock { $0 }.report(mixer.signals).telling(mixer.statistics.hosts)
        }
        self.reporter.bringSnapshots(of: mixer)
        push.receive(
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
        )
        push.start()
        try renditions.start(with: mixer)
        mixer.start()
        self.reporter.start()
    }

    /// Brings inputs and scene to what the room says now.
    func follow(_ room: FollowedRoom) {
        let wanted = room.inputs
        for (input, reader) in readers where !wanted.contains(input) {
            reader.stop()
            mixer.removeHost(input.id)
            readers[input] = nil
        }
        for input in wanted where readers[input] == nil {
            let reader = feeds(input, mixer.addHost(input.id))
            readers[input] = reader
            reader.start()
        }
        mixer.apply(room.scene)
        self.room.room.withLock { $0 = room }
    }

    func stop() {
        reporter.stop()
        for reader in readers.values { reader.stop() }
        readers.removeAll()
        mixer.stop()
        push.stop()
        renditions.stop()
    }
}
