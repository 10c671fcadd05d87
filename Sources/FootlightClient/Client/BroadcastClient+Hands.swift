public import GatewayModel
public import Stage

/// Asking to speak.
extension BroadcastClient {
    /// Raises the bearer's own hand; one that is up stays as it is, and is the answer.
    ///
    /// - Parameter timeout: Seconds it stays up, 10 to 3600; 300 when nil.
    /// - Throws: 3066 for a host, 3035 for somebody who has not joined, 3065, 3073, 429, 53106.
    @discardableResult
    public func raiseHand(in room: String, timeout: Int? = nil) async throws(StageError) -> HandResource {
        try await command(.post, ["rooms", room, "hands"], RaiseHandBody(timeout: timeout))
    }

    /// Raised hands, the one that was raised first at the beginning.
    ///
    /// - Parameters:
    ///   - pageSize: How many, 1 to 100; 50 when nil.
    ///   - pageToken: The `nextPageToken` of the page before.
    public func hands(
        in room: String,
        pageSize: Int? = nil,
        pageToken: String? = nil
    ) async throws(StageError) -> HandList {
        try await read(
            ["rooms", room, "hands"],
            query: [("page_size", pageSize.map { String($0) }), ("page_token", pageToken)]
        )
    }

    /// Takes a hand down; one's own may be down already.
    ///
    /// - Parameter hand: Its sid, or the sid or the identity of its participant.
    /// - Throws: 20106 for somebody else's without the right to, 404 where it is not up, 53106.
    public func lowerHand(_ hand: String, in room: String) async throws(StageError) {
        try await order(.delete, ["rooms", room, "hands", hand])
    }

    /// Lets who asks come on stage, by a change of its own mode within two minutes.
    ///
    /// - Parameter hand: Its sid, or the sid or the identity of its participant.
    /// - Throws: 20106 for somebody who is no host and without the right `participants`, 404 where it is not up, 4010 for
    ///   a full stage, 53106.
    @discardableResult
    public func acceptHand(_ hand: String, in room: String) async throws(StageError) -> HandResource {
        try await command(.post, ["rooms", room, "hands", hand, "accept"])
    }

    /// Turns down who asks, who may ask again.
    ///
    /// - Parameter hand: Its sid, or the sid or the identity of its participant.
    /// - Throws: As ``acceptHand(_:in:)``, but for 4010.
    @discardableResult
    public func rejectHand(_ hand: String, in room: String) async throws(StageError) -> HandResource {
        try await command(.post, ["rooms", room, "hands", hand, "reject"])
    }
}
