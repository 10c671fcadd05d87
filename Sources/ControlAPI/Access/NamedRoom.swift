import Stage

/// What a rule has to know of a room: by which names a token may be bound to it.
protocol NamedRoom {
    var sid: String { get }
    var name: String { get }
}

extension RoomView: NamedRoom {}
extension RoomSummary: NamedRoom {}
