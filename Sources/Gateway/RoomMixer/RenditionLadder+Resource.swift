import GatewayModel
import Stage

extension RenditionLadder {
    /// Reads what a program is offered as beside itself, as the gateway wrote it; nil for nothing.
    init?(_ program: ProgramResource) {
        let renditions = (program.renditions ?? []).compactMap { resource -> Rendition? in
            guard let width = resource.width, let height = resource.height, let bitrate = resource.videoBitrate else {
                return nil
            }
            return Rendition(
                name: resource.name,
                width: width,
                height: height,
                frameRate: resource.fps.flatMap { FrameRate($0.text) },
                videoBitrate: bitrate
            )
        }
        let hasAudioOnly = program.audioOnly ?? false
        guard hasAudioOnly || !renditions.isEmpty else { return nil }
        self.init(renditions: renditions, hasAudioOnly: hasAudioOnly)
    }
}
