public import Stage

/// Says in plain words what the events of rooms amount to, for who wants no more than that: a room began, a host came
/// or went, an output is up or down, a mixer is short of time.
///
/// Events in, names out: each name is told with the event that it stands for, beside that event itself.
public struct ShowNews: Sendable {
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

    private struct Output: Hashable {
        var room: String
        var name: String
    }

    /// Outputs that were told of as up, or as down.
    private var isUp: [Output: Bool] = [:]
    /// How far down programs are that are not whole, by their rooms' sids.
    private var levels: [String: Int] = [:]

    /// Nothing has happened yet.
    public init() {}

    /// The name that an event is told by beside its own; nil for none.
    public mutating func name(of event: StageEvent) -> String? {
        news(of: event)?.rawValue
    }

    private mutating func news(of event: StageEvent) -> Name? {
        switch event.payload {
        case .roomCreated:
            return .roomStarted
        case .roomUpdated(let room):
            return note(level: room.load?.level ?? 0, of: event.roomSID)
        case .roomEnded:
            forget(event.roomSID)
            return nil
        case .participantJoined(let participant):
            return participant.mode == .sendAndReceive ? .hostJoined : nil
        case .participantLeft(let participant, _):
            return participant.mode == .sendAndReceive ? .hostLeft : nil
        case .participantModeChanged(let participant, let before):
            let isHost = participant.mode == .sendAndReceive
            guard isHost != (before == .sendAndReceive) else { return nil }
            return isHost ? .hostJoined : .hostLeft
        case .livestreamOutputUpdated(let output):
            return note(output, of: event.roomSID)
        default:
            return nil
        }
    }

    private mutating func note(level: Int, of room: String) -> Name? {
        guard level != levels[room] ?? 0 else { return nil }
        levels[room] = level == 0 ? nil : level
        return .mixerDegraded
    }

    private mutating func note(_ status: OutputStatus, of room: String) -> Name? {
        let output = Output(room: room, name: status.name)
        switch status.state {
        case .connecting:
            return nil
        case .connected:
            return isUp.updateValue(true, forKey: output) == true ? nil : .outputUp
        case .interrupted, .failed:
            return isUp.updateValue(false, forKey: output) == false ? nil : .outputDown
        case .stopped:
            // By command: nobody has to be woken for that.
            isUp[output] = nil
            return nil
        }
    }

    private mutating func forget(_ room: String) {
        levels[room] = nil
        isUp = isUp.filter { $0.key.room != room }
    }
}
