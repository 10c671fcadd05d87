public import Stage

/// What the user wants; each returns at once, and the status tells what comes of it.
extension BroadcastCall {
    /// Looks at a room before joining it (U1).
    public func enterLobby(_ info: LobbyInfo) {
        handle(.enterLobby(info))
    }

    /// Joins a room (U9); ignored while joining or in a call.
    public func join(_ join: CallJoin) {
        handle(.join(join))
    }

    /// Calls others and joins when one of them accepts (U6); opens the stream of one's own invitations.
    public func ring(_ ring: CallRing) {
        startListening()
        handle(.ring(ring))
    }

    /// Takes the call that comes in (U4), or the invitation to the stage (U20).
    public func accept() {
        handle(.accept)
    }

    /// Declines the call that comes in (U5), or the invitation to the stage.
    public func reject() {
        handle(.reject)
    }

    /// Leaves, whatever the phase (U2, U5, U8, U12, U16).
    public func hangUp() {
        handle(.hangUp)
    }

    /// As ``hangUp()``.
    public func leave() {
        hangUp()
    }
}
