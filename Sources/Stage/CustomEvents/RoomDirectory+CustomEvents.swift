extension RoomDirectory {
    /// Tells everybody in a room something in the words of an app.
    ///
    /// Whether the sender may is for the caller to know. It reaches readers in the order of all events of the room, and
    /// is remembered no longer than those.
    ///
    /// - Parameter runner: Who sends it where no participant does; each has limits of its own.
    /// - Returns: The event as everybody gets it.
    /// - Throws: 53106; 3073 for the type or the data; 53204 for a sender that is gone; 429 for too many.
    @discardableResult
    public func send(_ custom: CustomEvent, to room: String, by runner: String = "") throws(StageError) -> StageEvent {
        try change { (state, now) throws(StageError) in
            try state.change(room) { (room) throws(StageError) in try room.send(custom, by: runner, at: now) }
        }
    }
}

extension Room {
    /// Tells everybody something in the words of an app.
    ///
    /// Events: `custom.event`.
    mutating func send(_ custom: CustomEvent, by runner: String, at now: Double) throws(StageError) -> StageEvent {
        guard status == .inProgress else { throw .roomNotFound }
        try custom.validate()
        if let sender = custom.sender { _ = try existing(sender.participantSID) }
        // A colon is in no identity.
        try senders.admit(
            custom.sender?.identity ?? "operator:\(runner)",
            isParticipant: custom.sender != nil,
            at: now
        )
        return emit(.custom(custom), at: now)
    }
}
