public import Media
public import NIOCore
public import Stage
import Synchronization

/// Distributes one stream of packets to sinks and viewers.
///
/// Packets enter on the feed's owner loop, are stamped with the feed's clock, and leave in batches to one
/// `FeedPartition` per event loop. Sinks in this process (segmenter, outputs) receive every packet at once.
public final class Feed: PacketSink {
    /// The name under which the feed is played.
    public let name: String
    /// The event loop on which packets are ordered and sinks are called.
    public let ownerLoop: any EventLoop

    let counters = FeedCounters()
    private let budget: AudienceBudget
    private let shared: SharedTimeline?
    private let publishers = Atomic<UInt64>(0)
    /// The latest timestamp assigned; used with a shared clock only.
    private let newest = Atomic<Int64>(0)
    private let core: NIOLoopBoundBox<FeedCore>
    private let partitions: [(loop: any EventLoop, box: NIOLoopBoundBox<FeedPartition>)]

    /// - Parameters:
    ///   - name: The stream name that viewers request.
    ///   - group: The event loops of the viewers; one of them owns the feed.
    ///   - tick: The minimum time between two writes to a viewer; nil for the configured one.
    ///   - timeline: The clock shared with other feeds; nil for a clock of its own.
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

    /// Creates a feed with the state that it shares with other feeds.
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
        ownerLoop = group.next()
        // A feed with its own tick serves one mixer, which is not part of the audience. The mixer plays a host's audio
        // at once and shows a placeholder until the first keyframe; a viewer would have no video for that time.
        let isForMixer = tick != nil
        let sent = isForMixer ? nil : budget.sent
        let tick = tick ?? configuration.tick
        var partitions: [(loop: any EventLoop, box: NIOLoopBoundBox<FeedPartition>)] = []
        let loops = Array(group.makeIterator())
        // One copy of the packets, and one per wire format and loop.
        let copies = 1 + loops.count * ViewerWireFormat.allCases.count
        for loop in loops {
            let partition = FeedPartition(
                configuration: configuration,
                tick: tick,
                counters: counters,
                budget: budget,
                copies: copies,
                sent: sent,
                startsAtAudio: isForMixer,
                eventLoop: loop
            )
            partitions.append((loop, NIOLoopBoundBox.makeBoxSendingValue(partition, eventLoop: loop)))
        }
        self.partitions = partitions
        core = NIOLoopBoundBox.makeBoxSendingValue(
            FeedCore(
                tick: tick,
                smallAudienceLimit: configuration.smallAudienceLimit,
                limit: configuration.gopLimit,
                cache: CacheUsage(counters: counters, budget: budget, copies: copies)
            ),
            eventLoop: ownerLoop
        )
        budget.feeds.add(1, ordering: .relaxed)
    }

    deinit {
        budget.feeds.subtract(1, ordering: .relaxed)
    }

    // MARK: Publishing

    /// Starts a new publisher, whose timestamps continue from those of the previous one.
    ///
    /// Safe to call from any thread.
    public func publisherChanged() {
        onOwnerLoop { $0.core.value.beginPublisher() }
    }

    /// Receives one packet of the current publisher, with the publisher's own timestamp.
    ///
    /// Safe to call from any thread.
    public func receive(_ packet: MediaPacket) {
        onOwnerLoop { $0.ingest(packet, now: .now()) }
    }

    /// Creates a publisher; of several, the most recently created one that took over owns the feed.
    ///
    /// Safe to call from any thread.
    ///
    /// - Parameter epoch: The mixer's epoch; used only by a feed with a shared clock.
    public func makePublisher(epoch: UInt64 = 0) -> FeedPublisher {
        FeedPublisher(feed: self, number: publishers.add(1, ordering: .relaxed).newValue, epoch: epoch)
    }

    func replacePublisher(_ publisher: UInt64, epoch: UInt64) {
        onOwnerLoop { feed in
            let core = feed.core.value
            guard publisher > core.publisher else { return }
            core.publisher = publisher
            core.epoch = epoch
            core.beginPublisher()
        }
    }

    func receive(_ packet: MediaPacket, from publisher: UInt64) {
        onOwnerLoop { feed in
            guard publisher == feed.core.value.publisher else { return }
            feed.ingest(packet, now: .now())
        }
    }

    private func ingest(_ packet: MediaPacket, now: MonotonicTime) {
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
        core.gop.append(
            [packet],
            start: core.gop.startIndex(in: [packet]),
            byteLimit: core.cache.gopByteLimit
        )
        core.cache.update(core.gop.bytes)
        for sink in core.sinks { sink.receive(packet) }
        core.pending.append(packet)
        core.throttle.tick = core.tick(for: counters.viewers.load(ordering: .relaxed))
        switch core.throttle.decide(isVideoFrame: packet.isVideoFrame, now: now) {
        case .now:
            flush(now: now)
        case .at(let due):
            guard core.flushDue == nil else { return }
            core.flushDue = due
            scheduleFlushTimer(for: due)
        }
    }

    /// Ensures that gathered packets are checked at `due` at the latest.
    ///
    /// A timer is never cancelled: most flushes happen before theirs, and one that fires too early is rescheduled. A
    /// cancelled timer would wake the loop as well.
    private func scheduleFlushTimer(for due: MonotonicTime) {
        let core = core.value
        if let timerDue = core.timerDue, timerDue <= due { return }
        core.timerDue = due
        let deadline = NIODeadline.uptimeNanoseconds(UInt64(due.nanoseconds))
        // Scheduling fails only on a loop that shuts down, which ends its viewers too.
        _ = try? ownerLoop.scheduleCallback(at: deadline, handler: FlushTimer(feed: self))
    }

    fileprivate func flushTimerFired(now: MonotonicTime) {
        let core = core.value
        // A timer superseded by an earlier one has nothing to do.
        guard let timerDue = core.timerDue, timerDue <= now else { return }
        core.timerDue = nil
        guard let due = core.flushDue else { return }
        if due <= now { flush(now: now) } else { scheduleFlushTimer(for: due) }
    }

    private func flush(now: MonotonicTime) {
        let core = core.value
        // The deadline belonged to this batch; the next packets get their own.
        core.flushDue = nil
        guard !core.pending.isEmpty else { return }
        let batch = core.pending
        core.pending.removeAll(keepingCapacity: true)
        core.throttle.flushed(at: now)
        for (loop, box) in partitions {
            if loop === ownerLoop {
                box.value.deliver(batch, now: now)
            } else {
                loop.execute { box.value.deliver(batch, now: .now()) }
            }
        }
    }

    // MARK: Distribution

    /// Adds a sink, which receives the configuration and the current GOP first, then every packet.
    ///
    /// Safe to call from any thread.
    public func attach(_ sink: any PacketSink) {
        onOwnerLoop { feed in
            let core = feed.core.value
            guard !core.sinks.contains(where: { $0 === sink }) else { return }
            for packet in core.gop.preamble + core.gop.packets { sink.receive(packet) }
            core.sinks.append(sink)
        }
    }

    /// Removes a sink.
    ///
    /// Safe to call from any thread.
    public func detach(_ sink: any PacketSink) {
        onOwnerLoop { $0.core.value.sinks.removeAll { $0 === sink } }
    }

    /// Returns the partition of the calling loop; nil off the group's loops.
    func partition(on loop: any EventLoop) -> FeedPartition? {
        partitions.first { $0.loop === loop }?.box.value
    }

    /// Milliseconds without a packet while feeds with the same clock continued.
    ///
    /// Safe to call from any thread.
    var lag: Int64 { shared?.lag(of: newest.load(ordering: .relaxed)) ?? 0 }

    /// Closes all viewers; new ones may still join.
    ///
    /// Safe to call from any thread.
    func dismiss(_ reason: AudienceEvent.CloseReason) {
        for (loop, box) in partitions {
            loop.execute { box.value.dismiss(reason, now: .now()) }
        }
    }

    /// Closes the viewers whose session id meets a condition; mixers stay.
    ///
    /// Safe to call from any thread; the condition is called on the loops of the viewers.
    public func dismiss(
        _ reason: AudienceEvent.CloseReason,
        where condition: @escaping @Sendable (_ sid: String) -> Bool
    ) {
        for (loop, box) in partitions {
            loop.execute { box.value.dismiss(reason, where: condition, now: .now()) }
        }
    }

    /// Ends the feed and closes every viewer.
    ///
    /// Safe to call from any thread.
    public func end(_ reason: AudienceEvent.CloseReason) {
        for (loop, box) in partitions {
            loop.execute { box.value.end(reason, now: .now()) }
        }
    }

    private func onOwnerLoop(_ body: @escaping @Sendable (Feed) -> Void) {
        if ownerLoop.inEventLoop { body(self) } else { ownerLoop.execute { body(self) } }
    }
}

/// The state of a feed on its owner loop.
private final class FeedCore {
    var timeline = ProgramTimeline()
    var gop: GOPCache
    let cache: CacheUsage
    var throttle: FlushThrottle
    var pending: [MediaPacket] = []
    /// The deadline for the packets of `pending`; nil if there is none.
    var flushDue: MonotonicTime?
    /// The time of the next scheduled timer; nil if none is scheduled.
    var timerDue: MonotonicTime?
    var sinks: [any PacketSink] = []
    /// The number of the publisher that owns the feed; 0 if no numbered publisher does.
    var publisher: UInt64 = 0
    /// The epoch of the publishing mixer, and the latest timestamp assigned; used with a shared clock only.
    var epoch: UInt64 = 0
    var newest: Int64 = 0

    private let tick: TimeAmount
    private let smallAudienceLimit: Int

    init(tick: TimeAmount, smallAudienceLimit: Int, limit: (milliseconds: Int64, bytes: Int), cache: CacheUsage) {
        self.tick = tick
        self.smallAudienceLimit = smallAudienceLimit
        self.cache = cache
        throttle = FlushThrottle(tick: tick.nanoseconds)
        gop = GOPCache(limit: limit)
    }

    /// Returns the minimum nanoseconds between two flushes for a number of viewers.
    func tick(for viewers: Int) -> Int64 {
        (viewers > smallAudienceLimit ? tick : min(tick, FanOutConfiguration.smallAudienceTick)).nanoseconds
    }

    func beginPublisher() {
        timeline.beginPublisher()
        for sink in sinks { sink.publisherChanged() }
    }
}

/// Wakes a feed on its owner loop; a callback is cheaper than a scheduled task, which has a future.
private struct FlushTimer: NIOScheduledCallbackHandler, Sendable {
    let feed: Feed

    func handleScheduledCallback(eventLoop: some EventLoop) {
        feed.flushTimerFired(now: .now())
    }
}

extension MediaPacket {
    /// Whether the packet is a video frame; a configuration is none, or the keyframe after it would wait for a tick.
    fileprivate var isVideoFrame: Bool {
        if case .video = content { true } else { false }
    }
}

/// One publisher's handle on a feed.
///
/// Two connections of one host may overlap: the newer one is admitted while packets of the older one are still in
/// flight on another event loop. With the newer one's clock their timestamps would be far off, and the feed's time,
/// which never goes back, would stop there. So each connection has its own publisher, and once a newer one has taken
/// over, packets of older ones are dropped.
public final class FeedPublisher: PacketSink {
    private let feed: Feed
    private let number: UInt64
    private let epoch: UInt64

    init(feed: Feed, number: UInt64, epoch: UInt64) {
        self.feed = feed
        self.number = number
        self.epoch = epoch
    }

    /// Takes over the feed, unless a newer publisher has; safe to call from any thread.
    public func publisherChanged() {
        feed.replacePublisher(number, epoch: epoch)
    }

    /// Receives one packet with the publisher's own timestamp; drops it if this publisher does not own the feed.
    ///
    /// Safe to call from any thread.
    public func receive(_ packet: MediaPacket) {
        feed.receive(packet, from: number)
    }
}
