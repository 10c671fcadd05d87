import Media
import NIOCore
import RTMP
import Stage
import Synchronization

/// One event loop's part of a feed: its viewers, and the GOP cache for joining viewers.
///
/// All state belongs to that loop, so there is no lock and no contended reference count. A batch is encoded once per
/// wire format and loop, and all viewers share the buffer. A viewer that has caught up and whose socket is writable
/// is served through its slot in a `DirectWriteBatch`; all others are served one by one.
final class FeedPartition {
    private let configuration: FanOutConfiguration
    /// Whether the feed flushes at a tick, so that each flush is a small write to many viewers.
    private let isTicking: Bool
    private let counters: FeedCounters
    private let budget: AudienceBudget
    private let cache: CacheUsage
    /// Counts the bytes sent to viewers; nil for a feed that only a mixer plays.
    private let sent: SentByteCounters?
    private var group: GOPCache
    private var encoded: [EncodedGOP]
    private var viewers: [[FeedViewer]]
    /// The direct-write slots of the viewers, by wire format.
    private var directWrites: [DirectWriteBatch]
    /// Bytes sent to a viewer that was flowing all the time, by wire format; avoids a counter per viewer.
    private var delivered: [Int]
    /// The size of the batch being delivered.
    private var currentBatchBytes = 0
    /// Bytes written since the counters were updated, by wire format.
    private var bytes: [UInt64]
    /// The change of queued bytes since the counters were updated.
    private var queued = 0
    /// Whether the bytes queued for slow viewers exceed a limit.
    private var isOverQueueLimit = false
    /// Whether small writes are gathered: set above `smallAudienceLimit`, cleared at half of it.
    private var isLargeAudience = false
    /// Why the feed ended; nil while it runs.
    private var endReason: AudienceEvent.CloseReason?

    /// A blocked viewer whose socket accepts at least this many bytes within `deadViewerTime` is slow, not dead.
    private static let minimumProgress = 256 << 10

    /// - Parameters:
    ///   - tick: The minimum time between two batches; zero for none.
    ///   - budget: The limits shared with other feeds.
    ///   - copies: The maximum number of copies of the feed's GOP.
    ///   - sent: Counts the bytes sent to viewers.
    ///   - startsAtAudio: Whether the reader can start at any audio frame, without a keyframe.
    ///   - eventLoop: The event loop of the viewers.
    init(
        configuration: FanOutConfiguration,
        tick: TimeAmount,
        counters: FeedCounters,
        budget: AudienceBudget,
        copies: Int,
        sent: SentByteCounters? = nil,
        startsAtAudio: Bool = false,
        eventLoop: any EventLoop
    ) {
        self.configuration = configuration
        isTicking = tick > .zero
        self.counters = counters
        self.budget = budget
        self.sent = sent
        cache = CacheUsage(counters: counters, budget: budget, copies: copies)
        group = GOPCache(limit: configuration.gopLimit, startsAtAudio: startsAtAudio)
        encoded = ViewerWireFormat.allCases.map(EncodedGOP.init)
        viewers = ViewerWireFormat.allCases.map { _ in [] }
        directWrites = ViewerWireFormat.allCases.map { _ in DirectWriteBatch(on: eventLoop) }
        delivered = ViewerWireFormat.allCases.map { _ in 0 }
        bytes = ViewerWireFormat.allCases.map { _ in 0 }
    }

    /// Adds a viewer, which receives the current GOP at once or waits for the next start point.
    func add(_ viewer: FeedViewer, now: MonotonicTime) {
        if let endReason {
            // The viewer was admitted just as the feed ended; nothing else would close it.
            viewer.state = .gone
            viewer.output.end(endReason)
            return
        }
        let wire = viewer.wire.rawValue
        viewer.index = viewers[wire].count
        viewers[wire].append(viewer)
        directWrites[wire].append()
        viewer.partition = self
        if !configuration.writesDirectly { viewer.writer.disableDirectWrites() }
        viewer.writer.observer = viewer
        counters.viewers.add(1, ordering: .relaxed)
        budget.viewers.add(1, ordering: .relaxed)
        viewer.session?.record(.opened, at: now)
        guard !group.packets.isEmpty else { return }
        encoded[wire].catchUp(with: group)
        start(viewer, with: encoded[wire].buffers, now: now)
        updateQueueDepth(of: viewer)
        publishCounters()
    }

    /// Removes a viewer, whichever side closed it.
    func remove(_ viewer: FeedViewer, reason: AudienceEvent.CloseReason, now: MonotonicTime) {
        let wire = viewer.wire.rawValue
        guard viewer.index < viewers[wire].count, viewers[wire][viewer.index] === viewer else { return }
        viewers[wire].swapAt(viewer.index, viewers[wire].count - 1)
        viewers[wire].removeLast()
        directWrites[wire].remove(at: viewer.index)
        if viewer.index < viewers[wire].count { viewers[wire][viewer.index].index = viewer.index }
        endFlow(of: viewer)
        let bytes = max(0, viewer.deliveredBytes - viewer.queuedBytes)
        viewer.state = .gone
        viewer.partition = nil
        viewer.writer.observer = nil
        queued -= viewer.queuedBytes
        viewer.queuedBytes = 0
        publishCounters()
        counters.viewers.subtract(1, ordering: .relaxed)
        budget.viewers.subtract(1, ordering: .relaxed)
        viewer.session?.record(.closed(reason), at: now, bytes: bytes)
        viewer.session?.place?.release()
    }

    /// Enables write gathering for a large audience, and disables it for a small one.
    private func updateGathering() {
        guard isTicking else { return }
        let limit = isLargeAudience ? configuration.smallAudienceLimit / 2 : configuration.smallAudienceLimit
        guard (counters.viewers.load(ordering: .relaxed) > limit) != isLargeAudience else { return }
        isLargeAudience.toggle()
        guard group.videoConfiguration != nil else { return }
        for viewer in viewers.joined() where viewer.firstMedia != nil { viewer.writer.setNagleEnabled(isLargeAudience) }
    }

    /// Delivers a batch to every viewer.
    func deliver(_ batch: [MediaPacket], now: MonotonicTime) {
        updateGathering()
        let start = group.startIndex(in: batch)
        let split = start ?? batch.endIndex
        group.append(batch, start: start, byteLimit: cache.gopByteLimit)
        isOverQueueLimit =
            budget.isQueueFull || counters.queued.load(ordering: .relaxed) > configuration.queueLimit.feed
        defer { publishCounters() }
        for wire in ViewerWireFormat.allCases {
            let index = wire.rawValue
            // Also when the GOP exceeded its limits: a partial GOP is useless.
            if start != nil || group.packets.isEmpty { encoded[index].restart() }
            guard !viewers[index].isEmpty else { continue }
            let bytes = wire.encode(batch, start: split)
            if !group.packets.isEmpty {
                let packets = start == nil ? batch.count : batch.count - split
                encoded[index].append(bytes.fromStart ?? bytes.all, packets: packets, of: group)
            }
            deliver(bytes.all, fromStart: bytes.fromStart, to: index, now: now)
        }
    }

    /// - Parameters:
    ///   - all: The batch for viewers that received everything before it.
    ///   - fromStart: The part that a waiting viewer can start with; nil if there is none.
    private func deliver(_ all: ByteBuffer, fromStart: ByteBuffer?, to wire: Int, now: MonotonicTime) {
        currentBatchBytes = all.readableBytes
        defer {
            delivered[wire] += currentBatchBytes
            currentBatchBytes = 0
        }
        // Backwards, because closing a viewer moves the last one into its place.
        var index = viewers[wire].count
        while index > 0 {
            let stop = directWrites[wire].send(all, below: index, now: now)
            bytes[wire] += UInt64(all.readableBytes * (index - 1 - (stop?.index ?? -1)))
            guard let stop, stop.index < viewers[wire].count else { return }
            index = stop.index
            let viewer = viewers[wire][index]
            var rest = all
            rest.moveReaderIndex(forwardBy: stop.sent)
            bytes[wire] += UInt64(stop.sent)
            serve(viewer, rest, fromStart: fromStart, now: now)
            updateQueueDepth(of: viewer)
            enableDirectWrite(of: viewer)
        }
    }

    /// Serves one viewer according to its state.
    private func serve(_ viewer: FeedViewer, _ bytes: ByteBuffer, fromStart: ByteBuffer?, now: MonotonicTime) {
        if let since = viewer.blockedSince, skipOrCloseBlocked(viewer, since: since, now: now) { return }
        switch viewer.state {
        case .flowing:
            self.bytes[viewer.wire.rawValue] += UInt64(bytes.readableBytes)
            viewer.writer.send(bytes)
            qualify(viewer, now: now)
        case .waiting:
            guard let fromStart, viewer.blockedSince == nil else { return }
            start(viewer, with: [fromStart], now: now)
        case .gone:
            break
        }
    }

    /// Enables direct writes for a viewer that flows and is not blocked.
    private func enableDirectWrite(of viewer: FeedViewer) {
        guard viewer.state == .flowing, viewer.blockedSince == nil,
            let socket = viewer.writer.directSocket
        else {
            return
        }
        var end: MonotonicTime?
        if !viewer.isQualified, let firstMedia = viewer.firstMedia {
            end = firstMedia.advanced(seconds: Double(configuration.qualifyingTime.nanoseconds) / 1e9)
        }
        directWrites[viewer.wire.rawValue].open(viewer.index, socket: socket, until: end)
    }

    /// Disables direct writes, so that the next batch serves the viewer individually.
    func disableDirectWrite(_ viewer: FeedViewer) {
        directWrites[viewer.wire.rawValue].close(viewer.index)
    }

    /// Closes or skips a viewer whose socket is blocked; returns whether it was closed.
    private func skipOrCloseBlocked(_ viewer: FeedViewer, since: MonotonicTime, now: MonotonicTime) -> Bool {
        let limit = configuration.slowViewerLimit
        let blocked = now.nanoseconds - since.nanoseconds
        if viewer.blockedBytes - viewer.queuedBytes >= Self.minimumProgress, viewer.state == .waiting {
            // The viewer has skipped already and is draining its queue.
            viewer.blockedSince = now
            viewer.blockedBytes = viewer.queuedBytes
        } else if blocked > (isOverQueueLimit ? limit.time : configuration.deadViewerTime).nanoseconds {
            remove(viewer, reason: .tooSlow, now: now)
            viewer.output.end(.tooSlow)
            counters.closedSlow.add(1, ordering: .relaxed)
            return true
        }
        let isSlow = isOverQueueLimit || blocked > limit.time.nanoseconds || viewer.queuedBytes > limit.bytes
        if viewer.state == .flowing, isSlow {
            endFlow(of: viewer)
            viewer.state = .waiting
            viewer.blockedBytes = viewer.queuedBytes
            counters.skips.add(1, ordering: .relaxed)
        }
        return false
    }

    private func start(_ viewer: FeedViewer, with media: [ByteBuffer], now: MonotonicTime) {
        viewer.state = .flowing
        let buffers = [encoded[viewer.wire.rawValue].preamble(of: group)] + media
        let openingBytes = buffers.reduce(0) { $0 + $1.readableBytes }
        bytes[viewer.wire.rawValue] += UInt64(openingBytes)
        viewer.deliveredBytes += openingBytes
        // The opening buffers include this viewer's part of the batch.
        viewer.flowStart = delivered[viewer.wire.rawValue] + currentBatchBytes
        viewer.writer.send(contentsOf: buffers)
        guard viewer.firstMedia == nil else { return }
        viewer.firstMedia = now
        // Not earlier, so that nothing a joining viewer waits for is held back.
        if isLargeAudience, group.videoConfiguration != nil { viewer.writer.setNagleEnabled(true) }
    }

    /// Adds up what a viewer received while it flowed; call before it leaves that state.
    private func endFlow(of viewer: FeedViewer) {
        guard viewer.state == .flowing else { return }
        viewer.deliveredBytes += delivered[viewer.wire.rawValue] - viewer.flowStart
        viewer.flowStart = delivered[viewer.wire.rawValue]
    }

    /// Returns the bytes sent to a viewer and accepted by its socket.
    func sentBytes(by viewer: FeedViewer) -> Int {
        let flow = viewer.state == .flowing ? delivered[viewer.wire.rawValue] - viewer.flowStart : 0
        return max(0, viewer.deliveredBytes + flow - viewer.writer.pendingBytes)
    }

    /// Updates the queued bytes of a viewer; viewers with direct writes have none.
    private func updateQueueDepth(of viewer: FeedViewer) {
        let waiting = viewer.state == .gone ? 0 : viewer.writer.pendingBytes
        queued += waiting - viewer.queuedBytes
        viewer.queuedBytes = waiting
    }

    private func publishCounters() {
        for wire in ViewerWireFormat.allCases where bytes[wire.rawValue] > 0 {
            counters.bytes.add(bytes[wire.rawValue], ordering: .relaxed)
            sent?.add(bytes[wire.rawValue], by: wire.playback)
            bytes[wire.rawValue] = 0
        }
        if queued != 0 {
            counters.queued.add(queued, ordering: .relaxed)
            budget.queued.add(queued, ordering: .relaxed)
            queued = 0
        }
        cache.update(encoded.reduce(0) { $0 + $1.byteCount })
    }

    private func qualify(_ viewer: FeedViewer, now: MonotonicTime) {
        // A failed flush removes the viewer while it is being served.
        guard !viewer.isQualified, viewer.state == .flowing, let firstMedia = viewer.firstMedia else { return }
        guard now.nanoseconds - firstMedia.nanoseconds >= configuration.qualifyingTime.nanoseconds else { return }
        viewer.isQualified = true
        viewer.session?.record(.watched(since: firstMedia), at: now)
        viewer.session?.place?.release()
    }

    /// Closes every viewer, and every one that is added later.
    func end(_ reason: AudienceEvent.CloseReason, now: MonotonicTime) {
        endReason = reason
        dismiss(reason, now: now)
    }

    /// Closes the present viewers.
    ///
    /// - Parameter condition: Selects viewers by session id, recorded or not; nil for all viewers, mixers included.
    func dismiss(
        _ reason: AudienceEvent.CloseReason,
        where condition: ((_ sid: String) -> Bool)? = nil,
        now: MonotonicTime
    ) {
        for viewer in viewers.joined() {
            if let condition {
                guard let sid = viewer.sid, condition(sid) else { continue }
            }
            remove(viewer, reason: reason, now: now)
            viewer.output.end(reason)
        }
    }
}
