public import GatewayModel
public import Stage

/// Asking to speak, and telling everybody something in the words of the app.
///
/// All throw 3035 outside of a room and 3065 while reconnecting, and whatever the gateway says.
extension BroadcastCall {
    // MARK: Raised hands

    /// The hands that are up, the one that was raised first at the beginning; empty outside of a room.
    public var hands: [HandResource] { room?.hands ?? [] }

    /// One's own hand while it is up; nil otherwise.
    public var raisedHand: HandResource? { hands.first { $0.identity == identity } }

    /// Asks to speak.
    ///
    /// When a host accepts, the call comes on stage by itself, as after an invitation that was accepted.
    ///
    /// - Parameter timeout: Seconds until the hand goes down, 10 to 3600; 300 when nil.
    /// - Throws: 3066 for a host, 429 for who does so again and again.
    @discardableResult
    public func raiseHand(timeout: Int? = nil) async throws(StageError) -> HandResource {
        try await command { (client, session) throws(StageError) in
            try await client.raiseHand(in: session.roomSID, timeout: timeout)
        }
    }

    /// Asks no more; to do so again is fine.
    public func lowerHand() async throws(StageError) {
        try await command { (client, session) throws(StageError) in
            try await client.lowerHand(session.participantSID, in: session.roomSID)
        }
    }

    /// Lets somebody who asks come on stage; for hosts, and those with the right `participants`.
    ///
    /// - Throws: 20106, 404 for a hand that is down, 4010 for a full stage.
    @discardableResult
    public func acceptHand(_ hand: HandResource) async throws(StageError) -> HandResource {
        try await command { (client, session) throws(StageError) in
            try await client.acceptHand(hand.sid, in: session.roomSID)
        }
    }

    /// Turns somebody who asks down; for hosts, and those with the right `participants`.
    ///
    /// - Throws: 20106, 404 for a hand that is down.
    @discardableResult
    public func rejectHand(_ hand: HandResource) async throws(StageError) -> HandResource {
        try await command { (client, session) throws(StageError) in
            try await client.rejectHand(hand.sid, in: session.roomSID)
        }
    }

    // MARK: Custom events

    /// What apps tell each other from now on, one's own included, in order; up to 256 wait.
    public var customEvents: AsyncStream<CustomEventResource> { customNews.stream() }

    /// Tells everybody in the room something in the words of the app.
    ///
    /// - Parameters:
    ///   - type: What kind it is, `[A-Za-z0-9._-]{1,64}`.
    ///   - data: What it says, up to 4 KiB as JSON.
    /// - Throws: 3073 naming the field, 429 for too many.
    public func sendEvent(type: String, data: [String: AnyJSON] = [:]) async throws(StageError) {
        _ = try await command { (client, session) throws(StageError) in
            try await client.sendEvent(type, data, to: session.roomSID)
        }
    }

    /// Shows everybody in the room a reaction, such as an emoji.
    ///
    /// - Throws: 429 for too many.
    public func sendReaction(_ reaction: String) async throws(StageError) {
        try await sendEvent(type: CustomEvent.reaction, data: CustomEventResource.reactionData(reaction))
    }
}
