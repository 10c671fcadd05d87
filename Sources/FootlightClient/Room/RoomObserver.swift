import FootlightModel
public import Stage

/// Calls a listener for the changes of a call and its room, until the observer is released.
@MainActor
public final class RoomObserver {
    private let call: BroadcastCall
    private weak var listener: (any RoomListener)?
    private var status: CallStatus
    private var participants: [ParticipantResource]
    /// A list that waits for its status, so that participants are reported after the local connection.
    private var pendingParticipants: [ParticipantResource]?
    private var tasks: [Task<Void, Never>] = []

    /// Starts observing; the current state is not reported.
    ///
    /// - Parameter listener: Referenced weakly.
    public init(_ call: BroadcastCall, _ listener: any RoomListener) {
        self.call = call
        self.listener = listener
        status = call.status
        participants = call.participants
        tasks = [
            Task { [weak self, statuses = call.statusSubject.lastingStream()] in
                for await status in statuses {
                    self?.apply(status)
                    self?.deliverPending()
                }
            },
            Task { [weak self, lists = call.participantsSubject.lastingStream()] in
                for await list in lists {
                    self?.pendingParticipants = list
                    self?.deliverPending()
                }
            },
        ]
    }

    deinit { for task in tasks { task.cancel() } }

    private func deliverPending() {
        guard status == call.status, let list = pendingParticipants else { return }
        pendingParticipants = nil
        apply(list)
    }

    func apply(_ next: CallStatus) {
        guard next != status else { return }
        let changes = ConnectionChange(from: status, to: next)
        status = next
        if let changes { listener?.notify(changes, of: call) }
    }

    func apply(_ next: [ParticipantResource]) {
        let changes = RoomChange.changes(from: participants, to: next)
        participants = next
        for change in changes { listener?.room(call, change) }
    }
}

/// Receives callbacks for the events of a room; every method is optional.
@MainActor
public protocol RoomListener: AnyObject {
    /// The room was joined.
    func roomDidConnect(_ call: BroadcastCall)
    /// The room could not be joined.
    func room(_ call: BroadcastCall, didFailToConnect error: StageError)
    /// The connection is being restored; 53001 for the event stream, 53405 for the media.
    func room(_ call: BroadcastCall, isReconnecting error: StageError)
    /// The connection is restored.
    func roomDidReconnect(_ call: BroadcastCall)
    /// The room was left; nil if by request.
    func room(_ call: BroadcastCall, didDisconnect error: StageError?)
    /// A participant or track in the room changed, including the local one's.
    func room(_ call: BroadcastCall, _ change: RoomChange)
}

extension RoomListener {
    /// Does nothing.
    public func roomDidConnect(_ call: BroadcastCall) {}
    /// Does nothing.
    public func room(_ call: BroadcastCall, didFailToConnect error: StageError) {}
    /// Does nothing.
    public func room(_ call: BroadcastCall, isReconnecting error: StageError) {}
    /// Does nothing.
    public func roomDidReconnect(_ call: BroadcastCall) {}
    /// Does nothing.
    public func room(_ call: BroadcastCall, didDisconnect error: StageError?) {}
    /// Does nothing.
    public func room(_ call: BroadcastCall, _ change: RoomChange) {}

    /// Calls the method for a change of the connection.
    func notify(_ change: ConnectionChange, of call: BroadcastCall) {
        switch change {
        case .connected: roomDidConnect(call)
        case .failedToConnect(let error): room(call, didFailToConnect: error)
        case .reconnecting(let error): room(call, isReconnecting: error)
        case .reconnected: roomDidReconnect(call)
        case .disconnected(let error): room(call, didDisconnect: error)
        }
    }
}
