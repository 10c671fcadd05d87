import Egress
import Media
import Mixer
import RTMP
import Stage

/// Pushes a program's renditions back to the gateway, each on a connection of its own.
final class RenditionPushes: Sendable {
    /// Makes the push of a rendition that is not started yet.
    typealias Open = (_ rendition: String) throws -> RTMPPush

    private let pushes: [String: RTMPPush]

    /// Makes ready what the configuration offers beside the program.
    init(of configuration: ProgramConfiguration, open: Open) throws {
        var pushes: [String: RTMPPush] = [:]
        let ladder = configuration.ladder ?? RenditionLadder()
        for rendition in ladder.renditions {
            let push = try open(rendition.name)
            push.receive(
                StreamMetadata.packet(
                    width: rendition.width,
                    height: rendition.height,
                    frameRate: (rendition.frameRate ?? configuration.frameRate).perSecond,
                    videoBitrate: rendition.videoBitrate,
                    audioBitrate: configuration.audioBitrate,
                    sampleRate: 48_000,
                    channels: 2,
                    encoder: "Footlight"
                )
            )
            pushes[rendition.name] = push
        }
        if ladder.hasAudioOnly { pushes[RenditionLadder.audioName] = try open(RenditionLadder.audioName) }
        self.pushes = pushes
    }

    /// Lets the mixer make the renditions, and connects; before the mixer starts.
    func start(with mixer: ProgramMixer) throws {
        try mixer.offerRenditions { [pushes] name, packet in pushes[name]?.receive(packet) }
        for push in pushes.values { push.start() }
    }

    func stop() {
        for push in pushes.values { push.stop() }
    }
}
