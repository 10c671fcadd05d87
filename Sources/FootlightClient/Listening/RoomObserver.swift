import GatewayModel
import Stage

/// Calls a listener when something happens to a call or in its room, as long as the observer lives.
@MainActor
public final class RoomObserver {
    private let call: BroadcastCall
    private weak var listener: (any RoomListening)?
    private var status: CallStatus
    private var participants: [ParticipantResource]
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
                for await status in statuses { self?.take(status) }
            },
            Task { [weak self, lists = call.participantLists] in
                for await list in lists { self?.take(list) }
            },
        ]
    }

    deinit { for task in tasks { task.cancel() } }

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
