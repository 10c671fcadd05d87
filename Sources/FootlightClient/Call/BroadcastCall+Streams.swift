public import GatewayModel
public import Stage

/// What there is to see, now and from now on.
///
/// Each stream begins with the value there is. What waits for a slow reader is bounded, and the newest wins.
extension BroadcastCall {
    /// Where the call stands; up to 64 wait.
    public var statuses: AsyncStream<CallStatus> { statusNews.stream() }

    /// Rooms whose lobby is entered, each once the gateway has told of it; only the latest waits.
    public var lobbyRooms: AsyncStream<RoomResource> { lobbyNews.stream() }

    /// Everybody in the room in join order, empty outside of one; only the latest waits.
    public var participantLists: AsyncStream<[ParticipantResource]> { participantNews.stream() }

    /// How many watch; only the latest waits.
    public var audienceCounts: AsyncStream<Int> { audienceNews.stream() }

    /// Every event of the room, each once and in order, beginning with the latest there was; up to 1,024 wait.
    ///
    /// Heartbeats are left out. After an interruption a `room.snapshot` may stand for what was missed.
    public var events: AsyncStream<EventResource> { eventNews.stream() }

    /// Failures that ended nothing; up to 16 wait.
    public var problems: AsyncStream<StageError> { problemNews.stream() }

    /// Everybody in the room in join order; empty outside of one.
    public var participants: [ParticipantResource] { room?.participants ?? [] }

    /// This participant; nil outside of a room.
    public var localParticipant: ParticipantResource? { participants.first { $0.identity == identity } }

    /// Everybody else in the room, in join order.
    public var remoteParticipants: [ParticipantResource] { participants.filter { $0.identity != identity } }

    /// Those on stage, in join order.
    public var hosts: [ParticipantResource] { room?.hosts ?? [] }

    /// How many watch; 0 outside of a room.
    public var audienceCount: Int { room?.audienceCount ?? 0 }
}
