import GatewayModel
import Stage

extension RoomSettings {
    /// Reads a request; what it leaves out has its default.
    ///
    /// Ranges are checked by `validate()`.
    init(_ body: CreateRoomBody) throws(StageError) {
        let usual = RoomSettings(name: body.uniqueName)
        self.init(
            name: body.uniqueName,
            maximumParticipants: body.maxParticipants ?? usual.maximumParticipants,
            maximumHosts: body.maxHosts ?? usual.maximumHosts,
            maximumAudience: body.maxAudience,
            emptyTimeout: body.emptyRoomTimeout ?? usual.emptyTimeout,
            unusedTimeout: body.unusedRoomTimeout ?? usual.unusedTimeout,
            backstage: body.backstage ?? usual.backstage,
            layout: try LayoutSettings(body.layout),
            program: try body.program.map { (program) throws(StageError) in try ProgramConfiguration(program) }
                ?? usual.program,
            linger: body.linger
        )
        if let name = body.type {
            guard let type = RoomType(rawValue: name) else {
                let names = RoomType.allCases.map(\.rawValue).joined(separator: ", ")
                throw .invalidParameter("type", "must be one of \(names)")
            }
            self.type = type
        }
        isRecorded = body.recording
        if let devices = body.callSettings { callSettings = try CallSettings(devices) }
        if let sound = body.sound { try self.sound.take(sound, path: "sound.") }
    }
}

extension LayoutSettings {
    /// The defaults with what a request for a new room names.
    fileprivate init(_ body: LayoutBody?) throws(StageError) {
        self.init()
        if let body { try take(body, path: "layout.", isOperator: true) }
    }
}

extension ProgramConfiguration {
    init(_ resource: ProgramResource) throws(StageError) {
        let usual = ProgramConfiguration()
        guard let rate = resource.fps.map({ FrameRate($0.text) }) ?? usual.frameRate else {
            throw .invalidParameter(
                "program.fps",
                "must be a rate between 1 and 60, such as 30, 29.97 or \"30000/1001\""
            )
        }
        let (width, height) = (resource.width ?? usual.width, resource.height ?? usual.height)
        self.init(
            width: width,
            height: height,
            frameRate: rate,
            videoBitrate: resource.videoBitrate
                ?? ProgramQuality.videoBitrate(width: width, height: height, frameRate: rate),
            audioBitrate: resource.audioBitrate ?? usual.audioBitrate,
            preset: resource.preset ?? usual.preset,
            keyInterval: resource.keyInterval ?? usual.keyInterval,
            jitterTarget: resource.jitterTarget ?? usual.jitterTarget
        )
        ladder = try RenditionLadder(resource, isUpright: height > width, frameRate: rate)
    }
}
