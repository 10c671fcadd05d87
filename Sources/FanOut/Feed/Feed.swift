public import Media
public import NIOCore
public import Stage
import Synchronization

/// One stream of packets, and everyone who takes it.
///
/// Packets enter on the feed's home loop, get their place on its clock, and leave in batches to one `FeedShare` per
/// event loop. Within this process's sinks (segmenter, outputs) every packet is handed over at once.
public final class Feed: PacketSink {
    /// The name under which it is played.
    public let name: String
    /// The event loop on which packets are ordered and sinks are called.
    public let home: any EventLoop

    let counters = FeedCounters()
    private let budget: AudienceBudget
    private let shared: SharedTimeline?
    private let publishers = Atomic<UInt64>(0)
    /// The newest time given out; where the clock is shared.
    private let newest = Atomic<Int64>(0)
    private let core: NIOLoopBoundBox<FeedCore>
    private let shares: [(loop: any EventLoop, box: NIOLoopBoundBox<FeedShare>)]

    /// - Parameters:
    ///   - name: The stream name viewers ask for.
    ///   - group: The loops on which viewers live; the feed lives on one of them.
    ///   - tick: Least time between two writes to a viewer; nil takes the configuration's.
    ///   - timeline: The clock it has in common with other feeds; nil for one of its own.
    public convenience init(
        name: String,
        group: any EventLoopGroup,
        configuration: FanOutConfiguration,
        tick: TimeAmount? = nil,
        timeline: SharedTimeline? = nil
    ) {
        self.init(
            name: name,
            group: group,
            configuration: configuration,
            tick: tick,
            timeline: timeline,
            budget: AudienceBudget(configuration)
        )
    }

    /// As the public one, with what it has in common with other feeds.
    init(
        name: String,
        group: any EventLoopGroup,
        configuration: FanOutConfiguration,
        tick: TimeAmount?,
        timeline: SharedTimeline?,
        budget: AudienceBudget
    ) {
        self.name = name
        self.budget = budget
        shared = timeline
        home = group.next()
        // A feed with a tick of its own is for one reader, who is nobody of the audience. A mixer that reads a host's hears
        // the host at once and shows the card until the first keyframe; an audience would see nothing for so long.
        let isForMixer = tick != nil
        let sent = isForMixer ? nil : budget.sent
        let tick = tick ?? configuration.tick
        var shares: [(loop: any EventLoop, box: NIOLoopBoundBox<FeedShare>)] = []
        let loops = Array(group.makeIterator())
        // The packets themselves, and each form of them on each loop.
        let copies = 1 + loops.count * ViewerWire.allCases.count
        for loop in loops {
            let share = FeedShare(
                configuration: configuration,
                tick: tick,
                counters: counters,
                budget: budget,
                copies: copies,
                sent: sent,
                startsAtSound: isForMixer
            )
            shares.append((loop, NIOLoopBoundBox.makeBoxSendingValue(share, eventLoop: loop)))
        }
        self.shares = shares
        core = NIOLoopBoundBox.makeBoxSendingValue(
            FeedCore(
                tick: tick,
                promptAudience: configuration.promptAudience,
                limit: configuration.groupLimit,
                cache: CacheAccount(counters: counters, budget: budget, copies: copies)
            ),
            eventLoop: home
        )
        budget.feeds.add(1, ordering: .relaxed)
    }

    deinit {
        budget.feeds.subtract(1, ordering: .relaxed)
    }

    // MARK: In

    /// A new publisher takes over; its clock will be carried on from the old one's.
    ///
    /// Any thread.
    public func publisherChanged() {
        onHome { $0.core.value.beginPublisher() }
    }

    /// Takes one packet of the present publisher, with that publisher's own timestamp.
    ///
    /// Any thread.
    public func receive(_ packet: MediaPacket) {
        onHome { $0.take(packet, now: .now()) }
    }

    /// The way in for one more publisher; of several, the one that was made last and took over holds the feed.
    ///
    /// Any thread.
    ///
    /// - Parameter epoch: Which mixer's clock it has; of meaning only to a feed with a shared clock.
    public func makePublisher(epoch: UInt64 = 0) -> FeedPublisher {
        FeedPublisher(feed: self, number: publishers.add(1, ordering: .relaxed).newValue, epoch: epoch)
    }

    func takeOver(_ publisher: UInt64, epoch: UInt64) {
        onHome { feed in
            let core = feed.core.value
            guard publisher > core.publisher else { return }
            core.publisher = publisher
            core.epoch = epoch
            core.beginPublisher()
        }
    }

    func receive(_ packet: MediaPacket, from publisher: UInt64) {
        onHome { feed in
            guard publisher == feed.core.value.publisher else { return }
            feed.take(packet, now: .now())
        }
    }

    private func take(_ packet: MediaPacket, now: MonotonicTime) {
        let core = core.value
        var packet = packet
        if let shared {
            packet.timestamp = max(shared.place(packet, epoch: core.epoch, arrival: now), core.newest)
            core.newest = packet.timestamp
            newest.store(packet.timestamp, ordering: .relaxed)
        } else {
            packet.timestamp = core.timeline.place(packet, arrival: now)
        }
        counters.packets.add(1, ordering: .relaxed)
        core.history.append(
            [packet],
            start: core.history.startingPoint(in: [packet]),
            most: core.cache.largestGroup
        )
        core.cache.note(core.history.bytes)
        for sink in core.sinks { sink.receive(packet) }
        core.pending.append(packet)
        core.pacing.tick = core.tick(for: counters.viewers.load(ordering: .relaxed))
        switch core.pacing.decide(isPicture: packet.isPicture, now: now) {
        case .now:
            flush(now: now)
        case .at(let due):
            guard core.flushDue == nil else { return }
            core.flushDue = due
            setAlarm(for: due)
        }
    }

    /// Sees to it that what was gathered is looked at no later than at `due`.
    ///
    /// An alarm is never cancelled: most flushes come before theirs, and one that rings too soon is set anew. The loop
    /// would wake up for the cancelled one all the same.
    private func setAlarm(for due: MonotonicTime) {
        let core = core.value
        if let alarm = core.alarm, alarm <= due { return }
        core.alarm = due
        let deadline = NIODeadline.uptimeNanoseconds(UInt64(due.nanoseconds))
        // Only a loop that is ending takes none, and ends its viewers too.
        _ = try? home.scheduleCallback(at: deadline, handler: FlushAlarm(feed: self))
    }

    fileprivate func alarmRang(now: MonotonicTime) {
        let core = core.value
        // One that was set before an earlier one rings for nothing.
        guard let alarm = core.alarm, alarm <= now else { return }
        core.alarm = nil
        guard let due = core.flushDue else { return }
        if due <= now { flush(now: now) } else { setAlarm(for: due) }
    }

    private func flush(now: MonotonicTime) {
        let core = core.value
        // It was for what leaves now; what comes next has its own time.
        core.flushDue = nil
        guard !core.pending.isEmpty else { return }
        let batch = core.pending
        core.pending.removeAll(keepingCapacity: true)
        core.pacing.flushed(at: now)
        for (loop, box) in shares {
            if loop === home {
                box.value.deliver(batch, now: now)
            } else {
                loop.execute { box.value.deliver(batch, now: .now()) }
            }
        }
    }

    // MARK: Out

    /// Adds a sink: it gets the configuration and the present group of pictures, then every packet.
    ///
    /// Any thread.
    public func attach(_ sink: any PacketSink) {
        onHome { feed in
            let core = feed.core.value
            guard !core.sinks.contains(where: { $0 === sink }) else { return }
            for packet in core.history.opening + core.history.packets { sink.receive(packet) }
            core.sinks.append(sink)
        }
    }

    /// Ends what `attach` began.
    ///
    /// Any thread.
    public func detach(_ sink: any PacketSink) {
        onHome { $0.core.value.sinks.removeAll { $0 === sink } }
    }

    /// The share of the loop the caller is on; nil off the group's loops.
    func share(on loop: any EventLoop) -> FeedShare? {
        shares.first { $0.loop === loop }?.box.value
    }

    /// Milliseconds without anything, while others that have their clock in common went on.
    ///
    /// Any thread.
    var lag: Int64 { shared?.lag(of: newest.load(ordering: .relaxed)) ?? 0 }

    /// Sends all viewers away; others may come.
    ///
    /// Any thread.
    func dismiss(_ reason: AudienceEvent.CloseReason) {
        for (loop, box) in shares {
            loop.execute { box.value.dismiss(reason, now: .now()) }
        }
    }

    /// Ends every viewer's connection.
    ///
    /// Any thread.
    public func end(_ reason: AudienceEvent.CloseReason) {
        for (loop, box) in shares {
            loop.execute { box.value.end(reason, now: .now()) }
        }
    }

    private func onHome(_ body: @escaping @Sendable (Feed) -> Void) {
        if home.inEventLoop { body(self) } else { home.execute { body(self) } }
    }
}

/// What a feed keeps on its home loop.
private final class FeedCore {
    var timeline = ProgramTimeline()
    var history: PacketGroup
    let cache: CacheAccount
    var pacing: FlushPacing
    var pending: [MediaPacket] = []
    /// When the packets of `pending` leave by themselves; nil while there is nothing to wait for.
    var flushDue: MonotonicTime?
    /// The next moment at which the loop looks at that; nil while nothing is to come.
    var alarm: MonotonicTime?
    var sinks: [any PacketSink] = []
    /// The number of the publisher that holds the feed; 0 while none that has a number does.
    var publisher: UInt64 = 0
    /// Which mixer it is, and the newest time given out; where the clock is shared.
    var epoch: UInt64 = 0
    var newest: Int64 = 0

    private let tick: TimeAmount
    private let promptAudience: Int

    init(tick: TimeAmount, promptAudience: Int, limit: (milliseconds: Int64, bytes: Int), cache: CacheAccount) {
        self.tick = tick
        self.promptAudience = promptAudience
        self.cache = cache
        pacing = FlushPacing(tick: tick.nanoseconds)
        history = PacketGroup(limit: limit)
    }

    /// Nanoseconds between two flushes at least, with so many viewers.
    func tick(for viewers: Int) -> Int64 {
        (viewers > promptAudience ? tick : min(tick, FanOutConfiguration.promptTick)).nanoseconds
    }

    func beginPublisher() {
        timeline.beginPublisher()
        for sink in sinks { sink.publisherChanged() }
    }
}

/// Wakes a feed on its home loop; a callback costs less than a scheduled task, which has a future.
private struct FlushAlarm: NIOScheduledCallbackHandler, Sendable {
    let feed: Feed

    func handleScheduledCallback(eventLoop: some EventLoop) {
        feed.alarmRang(now: .now())
    }
}

extension MediaPacket {
    /// A configuration is no picture: were it flushed at once, the key picture behind it would wait for a tick.
    fileprivate var isPicture: Bool {
        if case .picture = content { true } else { false }
    }
}
