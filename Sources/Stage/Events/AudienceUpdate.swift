import Synchronization

/// The audience of a room, as `viewership.updated` announces it to all readers.
///
/// The report is read once, when the first reader needs it: an event without readers costs nothing, and the report
/// includes what observers did with earlier events.
public final class AudienceUpdate: Sendable, Equatable {
    private enum State {
        case unread(@Sendable () -> RoomViewership)
        case read(RoomViewership)
    }

    /// The room's participants at the time of the event.
    public let counts: RoomCounts
    private let state: Mutex<State>

    /// Creates an update.
    ///
    /// - Parameter read: Returns the room's report; called once at most.
    public init(counts: RoomCounts, read: @escaping @Sendable () -> RoomViewership) {
        self.counts = counts
        state = Mutex(.unread(read))
    }

    /// The report, the same for all readers; the first call may block, as the report may write to disk.
    public var report: RoomViewership {
        // Read under the lock, so that other readers await this report instead of reading their own.
        state.withLock { state in
            switch state {
            case .read(let report):
                return report
            case .unread(let read):
                let report = read()
                state = .read(report)
                return report
            }
        }
    }

    /// Whether both are the same update.
    public static func == (left: AudienceUpdate, right: AudienceUpdate) -> Bool {
        left === right
    }
}
