import Stage
import Synchronization

/// The rooms that an observer was told of.
final class Created: Sendable {
    private let views = Mutex<[RoomView]>([])

    func add(_ event: StageEvent) {
        if case .roomCreated(let view) = event.payload { views.withLock { $0.append(view) } }
    }

    var rooms: [RoomView] { views.withLock { $0 } }
}
