import GatewayModel

/// One stay in a room, as the gateway gave it.
struct CallSession: Sendable {
    /// The room's sid, which names this very run of it.
    let roomSID: String
    let roomName: String
    let participantSID: String
    let sessionID: String
    /// Between two signs of life.
    let heartbeatInterval: Duration

    init(_ answer: JoinAnswer) {
        roomSID = answer.room.sid
        roomName = answer.room.uniqueName
        participantSID = answer.participant.sid
        sessionID = answer.sessionID
        heartbeatInterval = .seconds(max(answer.heartbeatInterval, 1))
    }

    var events: EventSource {
        .session(room: roomSID, participant: participantSID, sessionID: sessionID)
    }
}
