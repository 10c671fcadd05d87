import Egress
import Media
import Mixer
import RTMP
import Stage

/// A running mix: the mixer, a reader for each of its inputs, and the push of the result.
///
/// Used from one task only.
final class MixedShow {
    /// Makes the reader of an input.
    typealias Feeds = (FollowedRoom.Input, HostInput) -> HostReader

    private let mixer: ProgramMixer
    private let push: RTMPPush
    private let feeds: Feeds
    private var readers: [FollowedRoom.Input: HostReader] = [:]

    /// Starts the program; it runs whether or not there is anybody to show.
    init(_ configuration: ProgramConfiguration, push: RTMPPush, feeds: @escaping Feeds) throws {
        self.push = push
        self.feeds = feeds
        mixer = try ProgramMixer(configuration: configuration) { [push] packet in push.receive(packet) }
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
        mixer.start()
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
    }

    func stop() {
        for reader in readers.values { reader.stop() }
        readers.removeAll()
        mixer.stop()
        push.stop()
    }
}
