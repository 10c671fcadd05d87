import GatewayModel
import Stage

/// Calls a listener when something happens to a call or in its room, as long as the observer lives.
@MainActor
public final class RoomObserver {
    private let call: BroadcastCall
    private weak var listener: (any RoomListening)?
    private var status: CallStatus
    private var participants: [ParticipantResource]
    /// A list that waits for the status it came after, so that who is in a room is told after being in it oneself.
    private var held: [ParticipantResource]?
    private var tasks: [Task<Void, Never>] = []

    /// Begins to observe; what there is already is not told.
    ///
    /// - Parameter listener: Held weakly.
    public init(_ call: BroadcastCall, _ listener: any RoomListening) {
        self.call = call
        self.listener = listener
        status = call.status
        participants = call.participants
        tasks = [
            Task { [weak self, statuses = call.statuses] in
                for await status in statuses {
                    self?.take(status)
                    self?.tellHeld()
                }
            },
            Task { [weak self, lists = call.participantLists] in
                for await list in lists {
                    self?.held = list
                    self?.tellHeld()
                }
            },
        ]
    }

    deinit { for task in tasks { task.cancel() } }

    private func tellHeld() {
        guard status == call.status, let list = held else { return }
        held = nil
        take(list)
    }

    func take(_ next: CallStatus) {
        guard next != status else { return }
        let news = ConnectionNews(from: status, to: next)
        status = next
        if let news { listener?.hear(news, of: call) }
    }

    func take(_ next: [ParticipantResource]) {
        let news = RoomNews.changes(from: participants, to: next)
        participants = next
        for one in news { listener?.room(call, one) }
    }
}
