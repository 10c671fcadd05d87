/// The limits of one gateway's stage: how many rooms it holds and how much it remembers of each.
public struct StageSettings: Sendable, Equatable {
    /// Rooms in progress at the same time; one more is answered with 53006.
    public var maximumRooms: Int
    /// Ended rooms that can still be looked up, the oldest forgotten first.
    public var keptEndedRooms: Int
    /// Events of a room that a returning reader can have replayed.
    public var replayedEvents: Int
    /// Events that may wait for a slow reader before it is cut off.
    public var waitingEvents: Int
    /// Open event streams over all rooms; one more is answered with 53006.
    public var maximumReaders: Int
    /// Whether a join makes the room that it names when there is none, with the defaults.
    public var createsRoomsOnJoin: Bool
    /// What one host may send at most.
    public var hostLimits: HostLimits
    /// What clients begin with whose users have not chosen, in rooms made from now on that do not say it themselves.
    public var callSettings: CallSettings
    /// What the mixers may cost together; one more host beyond it is answered with 53006, nil is no limit.
    public var processor: ProcessorBudget?

    /// Makes the limits; what is not named has its default.
    public init(
        maximumRooms: Int = 200,
        keptEndedRooms: Int = 100,
        replayedEvents: Int = 1024,
        waitingEvents: Int = 256,
        maximumReaders: Int = 4000,
        createsRoomsOnJoin: Bool = false,
        hostLimits: HostLimits = .init(),
        callSettings: CallSettings = .init(),
        processor: ProcessorBudget? = nil
    ) {
        self.maximumRooms = maximumRooms
        self.keptEndedRooms = keptEndedRooms
        self.replayedEvents = replayedEvents
        self.waitingEvents = waitingEvents
        self.maximumReaders = maximumReaders
        self.createsRoomsOnJoin = createsRoomsOnJoin
        self.hostLimits = hostLimits
        self.callSettings = callSettings
        self.processor = processor
    }
}
