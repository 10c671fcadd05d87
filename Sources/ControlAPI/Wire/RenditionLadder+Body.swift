import GatewayModel
import Stage

extension RenditionLadder {
    /// Reads what a program is to be offered as beside itself; nil for nothing.
    ///
    /// Ranges are checked by `validate(in:)`.
    init?(_ resource: ProgramResource, isUpright: Bool, frameRate: FrameRate) throws(StageError) {
        guard resource.renditions != nil || resource.audioOnly == true else { return nil }
        var renditions: [Rendition] = []
        for body in resource.renditions ?? [] {
            renditions.append(try Rendition(body, isUpright: isUpright, programRate: frameRate))
        }
        self.init(renditions: renditions, hasAudioOnly: resource.audioOnly ?? false)
    }
}

extension Rendition {
    fileprivate init(_ body: RenditionResource, isUpright: Bool, programRate: FrameRate) throws(StageError) {
        let usual = ProgramQuality(rawValue: body.name).map { Rendition($0, isUpright: isUpright) }
        guard let width = body.width ?? usual?.width, let height = body.height ?? usual?.height else {
            throw .invalidParameter("program.renditions", "must say width and height, or be named by a usual size")
        }
        var rate: FrameRate?
        if let fps = body.fps {
            guard let read = FrameRate(fps.text) else {
                throw .invalidParameter("program.renditions.fps", "must be a rate between 1 and 60")
            }
            rate = read
        }
        let bitrate = ProgramQuality.videoBitrate(width: width, height: height, frameRate: rate ?? programRate)
        self.init(
            name: body.name,
            width: width,
            height: height,
            frameRate: rate,
            videoBitrate: body.videoBitrate ?? bitrate
        )
    }
}

extension RenditionResource {
    init(_ rendition: Rendition) {
        self.init(
            name: rendition.name,
            width: rendition.width,
            height: rendition.height,
            fps: rendition.frameRate.map { Rate($0) },
            videoBitrate: rendition.videoBitrate
        )
    }
}
