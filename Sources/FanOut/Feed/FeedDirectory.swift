public import Media
public import NIOCore
public import Stage
import Synchronization

/// All feeds by the name under which they are played.
public final class FeedDirectory: ProgramFeeding, Sendable {
    /// How the program is handed to the audience.
    public let configuration: FanOutConfiguration
    private let group: any EventLoopGroup
    private let feeds = Mutex<[String: Feed]>([:])
    /// Who takes a rendition and is no viewer, by its feed's name.
    let takers = Mutex<[String: [any PacketSink]]>([:])
    private let isHeld = Atomic<Bool>(false)
    let budget: AudienceBudget

    /// Makes one from its parts.
    public init(group: any EventLoopGroup, configuration: FanOutConfiguration) {
        self.group = group
        self.configuration = configuration
        budget = AudienceBudget(configuration)
    }

    /// The feed of that name, made when it is not there yet.
    ///
    /// - Parameter tick: For a new feed: least time between two writes to a viewer; nil takes the configuration's.
    @discardableResult
    public func open(_ name: String, tick: TimeAmount? = nil) -> Feed { open(name, tick: tick, timeline: nil) }

    /// As `open(_:tick:)`, on a clock that a new feed has in common with others.
    func open(_ name: String, tick: TimeAmount? = nil, timeline: SharedTimeline?) -> Feed {
        feeds.withLock { feeds in
            if let feed = feeds[name] { return feed }
            let feed = Feed(
                name: name,
                group: group,
                configuration: configuration,
                tick: tick,
                timeline: timeline,
                budget: budget
            )
            feeds[name] = feed
            return feed
        }
    }

    /// The feed of that name; nil when there is none.
    public func feed(_ name: String) -> Feed? {
        feeds.withLock { $0[name] }
    }

    /// Takes a feed away and ends its viewers.
    public func close(_ name: String, reason: AudienceEvent.CloseReason) {
        feeds.withLock { $0.removeValue(forKey: name) }?.end(reason)
        _ = takers.withLock { $0.removeValue(forKey: name) }
    }

    /// Every feed there is.
    public var all: [Feed] { feeds.withLock { Array($0.values) } }

    /// Refuses new viewers from now on, or lets them in again; those who are in stay.
    public func holdAdmission(_ isHeld: Bool) {
        self.isHeld.store(isHeld, ordering: .relaxed)
    }

    /// Whether a player may be let in; one who may not is counted as refused.
    ///
    /// Who shows the id of a session that is here, or was a moment ago, goes on, whatever there is room for.
    func hasRoom(
        for player: PlayerRequest,
        by playback: PlaybackProtocol,
        in room: String,
        among audience: some AudienceObserving
    ) -> Bool {
        let watching = budget.viewers.load(ordering: .relaxed) + audience.requesters
        guard watching >= configuration.maximumViewers || isHeld.load(ordering: .relaxed) else { return true }
        if let sid = player.sid, audience.mayReturn(sid: sid, room: room) { return true }
        budget.refused(playback)
        return false
    }

    /// Counts a player as refused because every place of its room's audience is taken; what it is answered by HTTP.
    func roomIsFull(for playback: PlaybackProtocol) -> MediaResponse {
        budget.refused(playback)
        return .roomFull
    }

    /// What all feeds hold together, and whom they sent away.
    public var load: AudienceLoad {
        AudienceLoad(
            viewers: budget.viewers.load(ordering: .relaxed),
            cachedBytes: budget.cached.load(ordering: .relaxed),
            queuedBytes: budget.queued.load(ordering: .relaxed),
            isHeld: isHeld.load(ordering: .relaxed),
            refused: budget.refusals,
            sent: budget.sent.totals
        )
    }

    /// Sends a room's program, or its rendition when the name is one's, to a sink from now on.
    public func attach(_ sink: any PacketSink, room: String) {
        let feed = named(room)?.feed ?? open(room)
        if RenditionFeedName(feed.name) != nil { takers.withLock { $0[feed.name, default: []].append(sink) } }
        feed.attach(sink)
    }

    /// Ends what `attach` began, by the room's name also where the sink took a rendition.
    public func detach(_ sink: any PacketSink, room: String) {
        var left = all.filter { RenditionFeedName($0.name)?.room == room }
        if let feed = named(room)?.feed { left.append(feed) }
        for feed in left {
            feed.detach(sink)
            takers.withLock { $0[feed.name]?.removeAll { $0 === sink } }
        }
    }
}
