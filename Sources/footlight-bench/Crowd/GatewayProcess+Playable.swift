import FootlightTesting

extension GatewayProcess {
    /// Waits until a room's program can be played by HLS, which is the last way to begin.
    ///
    /// - Throws: `ToolFailure` with the gateway's log after half a minute.
    func waitUntilPlayable(_ room: String) async throws {
        let isPlayable = try await eventually(within: .seconds(30), every: .milliseconds(200)) {
            let egress = try await self.api("GET", "/v1/rooms/\(room)/egress")
            return egress.json["hls"]["state"].string == "HLS_PLAYABLE"
        }
        guard isPlayable else { throw ToolFailure("no program comes", log: log) }
    }
}
