public import Stage

/// Who wants to be called when something happens in a room; everything is optional.
@MainActor
public protocol RoomListening: AnyObject {
    /// The room was joined.
    func roomDidConnect(_ call: BroadcastCall)
    /// The room could not be joined.
    func room(_ call: BroadcastCall, didFailToConnect error: StageError)
    /// The connection is being won back; 53001 for the event stream, 53405 for the media.
    func room(_ call: BroadcastCall, isReconnecting error: StageError)
    /// It was won back.
    func roomDidReconnect(_ call: BroadcastCall)
    /// The room was left; nil when that was wished for.
    func room(_ call: BroadcastCall, didDisconnect error: StageError?)
    /// Something else is different in the room, oneself included.
    func room(_ call: BroadcastCall, _ news: RoomNews)
}

extension RoomListening {
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
    public func room(_ call: BroadcastCall, _ news: RoomNews) {}

    /// Calls what belongs to a change of the connection.
    func hear(_ news: ConnectionNews, of call: BroadcastCall) {
        switch news {
        case .connected: roomDidConnect(call)
        case .failedToConnect(let error): room(call, didFailToConnect: error)
        case .reconnecting(let error): room(call, isReconnecting: error)
        case .reconnected: roomDidReconnect(call)
        case .disconnected(let error): room(call, didDisconnect: error)
        }
    }
}
