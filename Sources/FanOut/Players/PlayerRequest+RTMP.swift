import RTMP
import Stage

extension PlayerRequest {
    /// What a player by RTMP says of itself: less than by HTTP, in the same words.
    ///
    /// - Parameter bearer: Whose token it shows.
    init(_ request: PlayRequest, bearer: ViewerBearer, takesDevices: Bool) {
        self.init(
            sid: request.query["sid"],
            userAgent: request.clientName,
            address: request.remoteAddress,
            identity: bearer.identity,
            role: bearer.role
        )
        cmcd = request.query["CMCD"]
        if takesDevices { device = request.query["did"] }
    }
}
