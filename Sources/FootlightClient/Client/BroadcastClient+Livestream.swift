public import GatewayModel
public import Stage

/// The program on its way out: livestream and HLS; needs the right `streaming`.
extension BroadcastClient {
    /// How the program leaves.
    public func egress(of room: String) async throws(StageError) -> EgressResource {
        try await read(["rooms", room, "egress"])
    }

    /// Starts pushing the program; how it goes is told by events.
    ///
    /// - Throws: 4015 for outputs that are none, 3054 when it runs already, 3055 while it starts or stops, 4030.
    @discardableResult
    public func startLivestream(
        of room: String,
        _ body: StartLivestreamBody
    ) async throws(StageError) -> LivestreamResource {
        try await command(.post, ["rooms", room, "livestream", "start"], body)
    }

    /// Stops pushing.
    ///
    /// - Throws: 4014 when nothing runs.
    @discardableResult
    public func stopLivestream(of room: String) async throws(StageError) -> LivestreamResource {
        try await command(.post, ["rooms", room, "livestream", "stop"])
    }

    /// Adds outputs to a running livestream: all of them, or none.
    @discardableResult
    public func addOutputs(to room: String, _ outputs: [OutputBody]) async throws(StageError) -> LivestreamResource {
        try await command(.post, ["rooms", room, "livestream", "outputs"], ["outputs": outputs])
    }

    /// Takes one output away; the last one stays until the livestream is stopped.
    ///
    /// - Throws: 4015 with status 409 for the last one.
    @discardableResult
    public func removeOutput(_ name: String, from room: String) async throws(StageError) -> LivestreamResource {
        try await command(.delete, ["rooms", room, "livestream", "outputs", name])
    }

    /// Starts offering the program as HLS; events tell when it can be played.
    @discardableResult
    public func startHLS(
        of room: String,
        _ body: StartHLSBody = StartHLSBody()
    ) async throws(StageError) -> HLSResource {
        try await command(.post, ["rooms", room, "hls", "start"], body)
    }

    /// Stops offering HLS.
    @discardableResult
    public func stopHLS(of room: String) async throws(StageError) -> HLSResource {
        try await command(.post, ["rooms", room, "hls", "stop"])
    }
}
