/// One participant of one room, as its reader and its heartbeats name it.
struct RoomMember: Sendable {
    let room: String
    let identity: String
    let session: String

    var path: String { "/v1/rooms/\(room)/participants/\(identity)" }
    var eventsPath: String { "/v1/rooms/\(room)/events?participant=\(identity)&session_id=\(session)" }
}
