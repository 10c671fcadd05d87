import GatewayModel

/// One stay in a room, as the gateway gave it.
struct CallSession: Sendable {
    /// The room as it was asked for, by name or sid.
    let reference: String
    /// The room's sid, which names this very run of it.
    let roomSID: String
    let participantSID: String
    let sessionID: String
    /// Between two signs of life.
    let heartbeatInterval: Duration

    init(_ answer: JoinAnswer, of reference: String) {
        self.reference = reference
        roomSID = answer.room.sid
        participantSID = answer.participant.sid
        sessionID = answer.sessionID
        heartbeatInterval = .seconds(min(max(answer.heartbeatInterval, 1), 3600))
    }

    var events: EventSource {
        .session(room: roomSID, participant: participantSID, sessionID: sessionID)
    }
}
