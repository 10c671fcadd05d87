public import Media
public import NIOCore
public import Stage
import Synchronization

/// The feeds of a gateway by name.
public final class FeedDirectory: ProgramFeeding, Sendable {
    /// The configuration of all feeds.
    public let configuration: FanOutConfiguration
    private let group: any EventLoopGroup
    private let feeds = Mutex<[String: Feed]>([:])
    /// The sinks attached to renditions, by feed name.
    let sinks = Mutex<[String: [any PacketSink]]>([:])
    private let isAdmissionSuspended = Atomic<Bool>(false)
    let budget: AudienceBudget

    /// Creates an empty directory.
    public init(group: any EventLoopGroup, configuration: FanOutConfiguration) {
        self.group = group
        self.configuration = configuration
        budget = AudienceBudget(configuration)
    }

    /// Returns the feed of a name, and creates it if there is none.
    ///
    /// - Parameter tick: For a new feed: the minimum time between two writes to a viewer; nil for the configured one.
    @discardableResult
    public func open(_ name: String, tick: TimeAmount? = nil) -> Feed { open(name, tick: tick, timeline: nil) }

    /// Returns the feed of a name as `open(_:tick:)` does, with a shared clock for a new feed.
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

    /// Returns the feed of a name; nil if there is none.
    public func feed(_ name: String) -> Feed? {
        feeds.withLock { $0[name] }
    }

    /// Removes a feed and closes its viewers.
    public func close(_ name: String, reason: AudienceEvent.CloseReason) {
        feeds.withLock { $0.removeValue(forKey: name) }?.end(reason)
        _ = sinks.withLock { $0.removeValue(forKey: name) }
    }

    /// All feeds.
    public var all: [Feed] { feeds.withLock { Array($0.values) } }

    /// Suspends or resumes the admission of new viewers; present viewers stay.
    public func setAdmissionSuspended(_ isAdmissionSuspended: Bool) {
        self.isAdmissionSuspended.store(isAdmissionSuspended, ordering: .relaxed)
    }

    /// Whether a player can be admitted; counts the refusal if not.
    ///
    /// A player with the id of a present or very recent session of this process is always admitted.
    func hasCapacity(
        for player: PlayerRequest,
        by playback: PlaybackProtocol,
        in room: String,
        among audience: some AudienceObserving
    ) -> Bool {
        let watching = budget.viewers.load(ordering: .relaxed) + audience.requesters
        guard watching >= configuration.maximumViewers || isAdmissionSuspended.load(ordering: .relaxed) else {
            return true
        }
        if let sid = player.sid, audience.mayReturn(sid: sid, room: room) { return true }
        budget.refused(playback)
        return false
    }

    /// Counts a player refused because its room is full, and returns the HTTP response for it.
    func refuseRoomFull(for playback: PlaybackProtocol) -> MediaResponse {
        budget.refused(playback)
        return .roomFull
    }

    /// The load of all feeds, and the refused viewers.
    public var load: FanOutLoad {
        FanOutLoad(
            viewers: budget.viewers.load(ordering: .relaxed),
            cachedBytes: budget.cached.load(ordering: .relaxed),
            queuedBytes: budget.queued.load(ordering: .relaxed),
            isAdmissionSuspended: isAdmissionSuspended.load(ordering: .relaxed),
            refused: budget.refusals,
            sent: budget.sent.totals
        )
    }

    /// Attaches a sink to a room's program, or to a rendition if the name is a rendition's.
    public func attach(_ sink: any PacketSink, room: String) {
        let feed = named(room)?.feed ?? open(room)
        if RenditionFeedName(feed.name) != nil { sinks.withLock { $0[feed.name, default: []].append(sink) } }
        feed.attach(sink)
    }

    /// Detaches a sink from a room's program and its renditions.
    public func detach(_ sink: any PacketSink, room: String) {
        var left = all.filter { RenditionFeedName($0.name)?.room == room }
        if let feed = named(room)?.feed { left.append(feed) }
        for feed in left {
            feed.detach(sink)
            sinks.withLock { $0[feed.name]?.removeAll { $0 === sink } }
        }
    }
}

extension FeedDirectory {
    /// The lag behind the program, in milliseconds, above which a rendition is stalled: three default segments.
    ///
    /// A slow encoder stays far below it.
    static let longestLag: Int64 = 6_000

    /// Returns the feed of a name, as `named` does, unless it is a stalled rendition.
    func playable(_ name: String) -> (feed: Feed, room: String)? {
        named(name).flatMap { Self.isStalled($0.feed) ? nil : $0 }
    }

    /// Whether the feed is a rendition that receives nothing while the program continues.
    private static func isStalled(_ feed: Feed) -> Bool {
        RenditionFeedName(feed.name) != nil && feed.lag > longestLag
    }

    /// Closes the viewers of all stalled renditions; call about once a second.
    ///
    /// Their players would show the last frame for as long as the stall lasts. A player that reconnects meanwhile is
    /// refused with "stream not found".
    ///
    /// - Returns: The stalled renditions and the sinks attached to each.
    public func dismissViewersOfStalledRenditions() -> [(name: RenditionFeedName, sinks: [any PacketSink])] {
        all.compactMap { feed in
            guard let name = RenditionFeedName(feed.name), Self.isStalled(feed) else { return nil }
            if feed.activity.viewers > 0 { feed.dismiss(.shutdown) }
            return (name, sinks.withLock { $0[feed.name] ?? [] })
        }
    }

    /// Returns the feed of a name and its room: a room's program, or one of its renditions.
    ///
    /// A room with exactly that name takes precedence over another room's rendition.
    func named(_ name: String) -> (feed: Feed, room: String)? {
        if let rendition = RenditionFeedName(name) { return feed(name).map { ($0, rendition.room) } }
        if let feed = feed(name) { return (feed, name) }
        guard let rendition = RenditionFeedName(played: name), let feed = feed(rendition.text) else { return nil }
        return (feed, rendition.room)
    }

    /// Opens the feeds of a room's program and its renditions, all with one clock.
    ///
    /// - Returns: The program's feed, and the renditions' feeds by name in the order of the ladder.
    @discardableResult
    public func open(
        _ room: String,
        with ladder: RenditionLadder?
    ) -> (program: Feed, renditions: [(name: String, feed: Feed)]) {
        guard let names = ladder?.names, !names.isEmpty else { return (open(room), []) }
        let timeline = SharedTimeline()
        let program = open(room, timeline: timeline)
        let renditions = names.map { name in
            (name: name, feed: open(RenditionFeedName(room: room, rendition: name).text, timeline: timeline))
        }
        return (program, renditions)
    }

    /// Closes the feeds of a room's renditions and their viewers.
    public func closeRenditions(of room: String, reason: AudienceEvent.CloseReason) {
        for feed in all where RenditionFeedName(feed.name)?.room == room { close(feed.name, reason: reason) }
    }
}
