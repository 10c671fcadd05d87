public import FootlightModel
public import Stage

/// Maps room events to simpler webhook events: a room started, a host joined or left, an output went up or down, a
/// mixer is overloaded.
///
/// The mapped events are delivered in addition to the events themselves.
public struct WebhookEventMapper: Sendable {
    /// A name, and the event that it stands for.
    public struct MappedEvent: Sendable {
        /// The name.
        public let name: WebhookOnlyEvent
        /// The underlying event.
        public let event: StageEvent
    }

    /// The last known state of a room.
    private struct RoomState {
        var hosts: [ParticipantView] = []
        /// The degradation level of its program.
        var level = 0
        /// Whether each output, by name, is up or down.
        var isUp: [String: Bool] = [:]
    }

    /// The state of each room by sid.
    private var rooms: [String: RoomState] = [:]

    /// - Parameter rooms: The rooms in progress, for which no event is emitted.
    public init(rooms: [RoomView] = []) {
        for room in rooms { update(room) }
    }

    private mutating func update(_ room: RoomView) {
        let hosts = room.participants.filter { $0.mode == .sendAndReceive }
        rooms[room.sid] = RoomState(hosts: hosts, level: room.load?.level ?? 0)
    }

    /// Returns the events that a room event maps to.
    public mutating func events(of event: StageEvent) -> [MappedEvent] {
        if case .roomEnded = event.payload { return end(event) }
        return name(of: event).map { [MappedEvent(name: $0, event: event)] } ?? []
    }

    private mutating func name(of event: StageEvent) -> WebhookOnlyEvent? {
        if case .roomCreated(let view) = event.payload {
            update(view)
            return .roomStarted
        }
        let room = event.roomSID
        // A program may outlive its room; its events are not mapped.
        guard let state = rooms[room] else { return nil }
        switch event.payload {
        case .roomUpdated(let view):
            let level = view.load?.level ?? 0
            rooms[room]?.level = level
            return level == state.level ? nil : .mixerDegraded
        case .participantJoined(let participant), .participantModeChanged(let participant, _):
            return update(participant, isHost: participant.mode == .sendAndReceive, in: room, state)
        case .participantLeft(let participant, _):
            return update(participant, isHost: false, in: room, state)
        case .livestreamStateChanged(let livestream):
            // A removed output leaves no state to a new one of the same name.
            let names = Set(livestream.outputs.map(\.name))
            rooms[room]?.isUp = state.isUp.filter { names.contains($0.key) }
            return nil
        case .livestreamOutputUpdated(let output):
            return update(output, of: room)
        default:
            return nil
        }
    }

    private mutating func update(
        _ participant: ParticipantView,
        isHost: Bool,
        in room: String,
        _ state: RoomState
    ) -> WebhookOnlyEvent? {
        let others = state.hosts.filter { $0.sid != participant.sid }
        let wasHost = others.count < state.hosts.count
        rooms[room]?.hosts = others + (isHost ? [participant] : [])
        return isHost == wasHost ? nil : isHost ? .hostJoined : .hostLeft
    }

    private mutating func update(_ output: OutputStatus, of room: String) -> WebhookOnlyEvent? {
        let isUp: Bool
        switch output.state {
        case .connecting:
            return nil
        case .connected:
            isUp = true
        case .interrupted, .failed:
            isUp = false
        case .stopped:
            // Stopped by command, which is not reported.
            rooms[room]?.isUp[output.name] = nil
            return nil
        }
        let wasUp = rooms[room]?.isUp.updateValue(isUp, forKey: output.name)
        return wasUp == isUp ? nil : isUp ? .outputUp : .outputDown
    }

    /// Emits `host.left` for every host, because the stream does not report each when the room ends.
    private mutating func end(_ event: StageEvent) -> [MappedEvent] {
        let hosts = rooms.removeValue(forKey: event.roomSID)?.hosts ?? []
        return hosts.map { host in
            var left = event
            left.payload = .participantLeft(host, .roomEnded)
            return MappedEvent(name: .hostLeft, event: left)
        }
    }
}
