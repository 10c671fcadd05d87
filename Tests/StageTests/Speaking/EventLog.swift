import Stage
import Synchronization

/// Records events.
final class EventLog: Sendable {
    private let collected = Mutex<[StageEvent]>([])

    func add(_ event: StageEvent) {
        collected.withLock { $0.append(event) }
    }

    var events: [StageEvent] { collected.withLock { $0 } }
    var names: [StageEvent.Name] { events.map(\.name) }

    private var changes: [SpeakerChange] {
        events.compactMap { if case .dominantSpeakerChanged(let change) = $0.payload { change } else { nil } }
    }

    var speakers: [String?] { changes.map(\.participantSID) }
    var reasons: [SpeakerChange.Reason] { changes.map(\.reason) }

    var pins: [PinChange] {
        events.compactMap { if case .pinChanged(let change) = $0.payload { change } else { nil } }
    }

    var hands: [HandChange] {
        events.compactMap { if case .hand(let change) = $0.payload { change } else { nil } }
    }

    var invitations: [InvitationChange] {
        events.compactMap { if case .invitation(let change) = $0.payload { change } else { nil } }
    }
}
