public import GatewayModel
import Stage

/// A room as somebody in it knows it: the snapshot, and everything that happened since.
///
/// A plain value that takes events; whoever follows a room by ``BroadcastClient/events(of:after:)`` can keep one, too.
public struct CallRoom: Sendable, Equatable {
    /// The room; its counts, dominant speaker and egress are kept up to date.
    public internal(set) var room: RoomResource
    /// Everybody in the room, in join order.
    public internal(set) var participants: [ParticipantResource]
    /// The hands that are up, the one that was raised first at the beginning.
    public internal(set) var hands: [HandResource]
    /// What is on air, with its tiles.
    public internal(set) var layout: LayoutResource?
    /// How many watch, by protocol; nil until the gateway tells.
    public internal(set) var viewership: ViewershipResource?
    /// The revision of the latest event.
    public internal(set) var revision: UInt64

    /// Takes a snapshot.
    ///
    /// - Returns: Nil for another event, or a snapshot without a room.
    public init?(snapshot event: EventResource) {
        guard event.type == StageEvent.Name.roomSnapshot.rawValue, let room = event.room else { return nil }
        self.room = room
        participants = event.participants ?? []
        hands = event.hands ?? []
        layout = event.layout
        revision = event.rev
    }

    /// Somebody by sid or identity; nil when nobody is so called.
    public subscript(participant: String) -> ParticipantResource? {
        index(of: participant).map { participants[$0] }
    }

    /// Those on stage, in join order.
    public var hosts: [ParticipantResource] {
        participants.filter { $0.mode == ParticipantMode.sendAndReceive.rawValue }
    }

    /// How many watch.
    public var audienceCount: Int { room.counts.audience }

    func index(of participant: String) -> Int? {
        participants.firstIndex { $0.sid == participant || $0.identity == participant }
    }
}
