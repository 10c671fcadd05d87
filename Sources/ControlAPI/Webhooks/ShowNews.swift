public import Stage

/// Says in plain words what the events of rooms amount to, for who wants no more than that: a room began, a host came
/// or went, an output is up or down, a mixer is short of time.
///
/// Events in, news out, to be told beside the events themselves.
public struct ShowNews: Sendable {
    /// A name, and the event that it stands for.
    public struct News: Sendable {
        /// One of `Name`.
        public let name: String
        /// What happened.
        public let event: StageEvent
    }

    /// The names that there are.
    enum Name: String, CaseIterable {
        case roomStarted = "room.started"
        case hostJoined = "host.joined"
        case hostLeft = "host.left"
        case outputUp = "output.up"
        case outputDown = "output.down"
        /// Its program does without something, or without something else, or without nothing any more.
        case mixerDegraded = "mixer.degraded"
    }

    /// What was told of a room last.
    private struct Known {
        var hosts: [ParticipantView] = []
        /// How far down its program is.
        var level = 0
        /// Outputs that are up, or down, by their names.
        var isUp: [String: Bool] = [:]
    }

    /// By the rooms' sids.
    private var rooms: [String: Known] = [:]

    /// - Parameter rooms: Those that are there already, which are no news.
    public init(rooms: [RoomView] = []) {
        for room in rooms { note(room) }
    }

    private mutating func note(_ room: RoomView) {
        let hosts = room.participants.filter { $0.mode == .sendAndReceive }
        rooms[room.sid] = Known(hosts: hosts, level: room.load?.level ?? 0)
    }

    /// What is told of an event beside the event itself.
    public mutating func news(of event: StageEvent) -> [News] {
        if case .roomEnded = event.payload { return end(event) }
        return name(of: event).map { [News(name: $0.rawValue, event: event)] } ?? []
    }

    private mutating func name(of event: StageEvent) -> Name? {
        if case .roomCreated(let view) = event.payload {
            note(view)
            return .roomStarted
        }
        let room = event.roomSID
        // Of one that is over, which its program may outlive, nothing more is told.
        guard let known = rooms[room] else { return nil }
        switch event.payload {
        case .roomUpdated(let view):
            let level = view.load?.level ?? 0
            rooms[room]?.level = level
            return level == known.level ? nil : .mixerDegraded
        case .participantJoined(let participant), .participantModeChanged(let participant, _):
            return note(participant, isHost: participant.mode == .sendAndReceive, in: room, known)
        case .participantLeft(let participant, _):
            return note(participant, isHost: false, in: room, known)
        case .livestreamStateChanged(let livestream):
            // One that was taken out leaves nothing to one that comes by its name.
            let names = Set(livestream.outputs.map(\.name))
            rooms[room]?.isUp = known.isUp.filter { names.contains($0.key) }
            return nil
        case .livestreamOutputUpdated(let output):
            return note(output, of: room)
        default:
            return nil
        }
    }

    private mutating func note(
        _ participant: ParticipantView,
        isHost: Bool,
        in room: String,
        _ known: Known
    ) -> Name? {
        let others = known.hosts.filter { $0.sid != participant.sid }
        let wasHost = others.count < known.hosts.count
        rooms[room]?.hosts = others + (isHost ? [participant] : [])
        return isHost == wasHost ? nil : isHost ? .hostJoined : .hostLeft
    }

    private mutating func note(_ output: OutputStatus, of room: String) -> Name? {
        let isUp: Bool
        switch output.state {
        case .connecting:
            return nil
        case .connected:
            isUp = true
        case .interrupted, .failed:
            isUp = false
        case .stopped:
            // By command: nobody has to be woken for that.
            rooms[room]?.isUp[output.name] = nil
            return nil
        }
        let wasUp = rooms[room]?.isUp.updateValue(isUp, forKey: output.name)
        return wasUp == isUp ? nil : isUp ? .outputUp : .outputDown
    }

    /// Everybody is out, which the stream does not say of each.
    private mutating func end(_ event: StageEvent) -> [News] {
        let hosts = rooms.removeValue(forKey: event.roomSID)?.hosts ?? []
        return hosts.map { host in
            var left = event
            left.payload = .participantLeft(host, .roomEnded)
            return News(name: Name.hostLeft.rawValue, event: left)
        }
    }
}
