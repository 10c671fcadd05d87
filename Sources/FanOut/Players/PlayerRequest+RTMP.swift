import RTMP
import Stage

extension PlayerRequest {
    /// What a player by RTMP says of itself: less than by HTTP, in the same words.
    ///
    /// - Parameter bearer: Whose token it shows.
    init(_ request: PlayRequest, bearer: ViewerBearer, reading: PlayerReading) {
        self.init(
            sid: request.query["sid"],
            userAgent: request.clientName,
            address: request.remoteAddress,
            identity: bearer.identity,
            role: bearer.role
        )
        cmcd = request.query["CMCD"]
        isOfMany = request.remoteAddress.map(reading.proxies.include) ?? false
        if reading.takesDevices { device = request.query["did"] }
    }
}
