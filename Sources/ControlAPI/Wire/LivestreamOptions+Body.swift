import GatewayModel
import Stage

extension LivestreamOptions {
    /// Reads what a request asks for; ranges are checked by `validate()`.
    ///
    /// - Throws: 3073 for a quality or a rate that is none.
    init(_ body: StartLivestreamBody) throws(StageError) {
        self.init()
        if let name = body.quality {
            guard let quality = ProgramQuality(rawValue: name) else {
                let names = ProgramQuality.allCases.map(\.rawValue).joined(separator: ", ")
                throw .invalidParameter("quality", "must be one of \(names)")
            }
            self.quality = quality
        }
        if let fps = body.fps {
            guard let rate = FrameRate(fps.text) else { throw .invalidParameter("fps", "must be between 1 and 60") }
            frameRate = rate
        }
        width = body.width
        height = body.height
        videoBitrate = body.videoBitrate
        audioBitrate = body.audioBitrate
        maximumDuration = body.maxDuration ?? maximumDuration
        minimumIdleTimeout = body.minIdleTimeout ?? minimumIdleTimeout
    }
}
