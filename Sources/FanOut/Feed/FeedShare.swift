import Media
import NIOCore
import RTMP
import Stage
import Synchronization

/// One event loop's part of a feed: its viewers, and the cache that new ones start from.
///
/// Everything here happens on that loop, so there is no lock and no reference count that two cores fight over. A batch
/// is turned into bytes once per form and loop; every viewer gets the same buffer. A viewer that has caught up, and
/// whose socket takes everything, is no more than its place in a `SocketRow`; all others are looked at one by one.
final class FeedShare {
    private let configuration: FanOutConfiguration
    /// Whether the feed leaves in ticks, each a small write to a viewer of a crowd.
    private let isTicking: Bool
    private let counters: FeedCounters
    private let budget: AudienceBudget
    private let cache: CacheAccount
    /// Where the bytes that viewers get are added up; nil for a feed that only our own programs take.
    private let sent: AudienceBytes?
    private var group: PacketGroup
    private var encoded: [EncodedGroup]
    private var viewers: [[Viewer]]
    /// For each viewer of each form the place through which it is served while nothing about it needs a look.
    private var rows: [SocketRow]
    /// Bytes of each form that a viewer was given who flowed all the time: nobody's own bytes are counted one by one.
    private var given: [Int]
    /// Bytes of the batch that is being handed out.
    private var inHand = 0
    /// Written since the counters were last told, by form.
    private var bytes: [UInt64]
    /// By how much more or less waits for viewers than the counters were told.
    private var queued = 0
    /// More waits for slow viewers than may.
    private var isPressed = false
    /// So many watch that their writes are worth saving; from then on until half of them are gone.
    private var isCrowd = false
    /// Why the feed is over; nil while it is not.
    private var endReason: AudienceEvent.CloseReason?

    /// A blocked viewer that takes at least this many bytes in `deadViewerTime` is slow, not dead.
    private static let leastTaken = 256 << 10

    /// - Parameters:
    ///   - tick: Least time between two batches of the feed; zero for none.
    ///   - budget: What the feed has in common with others.
    ///   - copies: Copies of its group of pictures that the feed has at most.
    ///   - sent: Where the bytes that viewers get are added up.
    ///   - startsAtSound: Who reads the feed starts at any sound, and need not wait for a keyframe.
    init(
        configuration: FanOutConfiguration,
        tick: TimeAmount,
        counters: FeedCounters,
        budget: AudienceBudget,
        copies: Int,
        sent: AudienceBytes? = nil,
        startsAtSound: Bool = false
    ) {
        self.configuration = configuration
        isTicking = tick > .zero
        self.counters = counters
        self.budget = budget
        self.sent = sent
        cache = CacheAccount(counters: counters, budget: budget, copies: copies)
        group = PacketGroup(limit: configuration.groupLimit, startsAtSound: startsAtSound)
        encoded = ViewerWire.allCases.map(EncodedGroup.init)
        viewers = ViewerWire.allCases.map { _ in [] }
        rows = ViewerWire.allCases.map { _ in SocketRow() }
        given = ViewerWire.allCases.map { _ in 0 }
        bytes = ViewerWire.allCases.map { _ in 0 }
    }

    /// A new viewer; it gets the present group of pictures at once, or waits for the next starting point.
    func add(_ viewer: Viewer, now: MonotonicTime) {
        if let endReason {
            // Let in at the moment at which the feed ended: nobody would ever end this viewer.
            viewer.state = .gone
            viewer.output.end(endReason)
            return
        }
        let wire = viewer.wire.rawValue
        viewer.index = viewers[wire].count
        viewers[wire].append(viewer)
        rows[wire].append()
        viewer.share = self
        viewer.writer.watcher = viewer
        counters.viewers.add(1, ordering: .relaxed)
        budget.viewers.add(1, ordering: .relaxed)
        viewer.session?.record(.opened, at: now)
        guard !group.packets.isEmpty else { return }
        encoded[wire].catchUp(with: group)
        start(viewer, with: encoded[wire].buffers, now: now)
        noteQueue(of: viewer)
        tellCounters()
    }

    /// The viewer is gone, whoever ended it.
    func remove(_ viewer: Viewer, reason: AudienceEvent.CloseReason, now: MonotonicTime) {
        let wire = viewer.wire.rawValue
        guard viewer.index < viewers[wire].count, viewers[wire][viewer.index] === viewer else { return }
        viewers[wire].swapAt(viewer.index, viewers[wire].count - 1)
        viewers[wire].removeLast()
        rows[wire].remove(at: viewer.index)
        if viewer.index < viewers[wire].count { viewers[wire][viewer.index].index = viewer.index }
        endFlow(of: viewer)
        let bytes = max(0, viewer.givenBytes - viewer.queuedBytes)
        viewer.state = .gone
        viewer.share = nil
        viewer.writer.watcher = nil
        queued -= viewer.queuedBytes
        viewer.queuedBytes = 0
        tellCounters()
        counters.viewers.subtract(1, ordering: .relaxed)
        budget.viewers.subtract(1, ordering: .relaxed)
        viewer.session?.record(.closed(reason), at: now, bytes: bytes)
        viewer.session?.place?.giveBack()
    }

    /// Lets the system gather the small writes of a crowd, and of a small audience no longer.
    private func lookAtAudience() {
        guard isTicking else { return }
        let limit = isCrowd ? configuration.promptAudience / 2 : configuration.promptAudience
        guard (counters.viewers.load(ordering: .relaxed) > limit) != isCrowd else { return }
        isCrowd.toggle()
        guard group.videoConfiguration != nil else { return }
        for viewer in viewers.joined() where viewer.firstMedia != nil { viewer.writer.gather(isCrowd) }
    }

    /// Hands the next packets to every viewer.
    func deliver(_ batch: [MediaPacket], now: MonotonicTime) {
        lookAtAudience()
        let start = group.startingPoint(in: batch)
        let split = start ?? batch.endIndex
        group.append(batch, start: start, most: cache.largestGroup)
        isPressed =
            budget.isQueueFull || counters.queued.load(ordering: .relaxed) > configuration.queueLimit.feed
        defer { tellCounters() }
        for wire in ViewerWire.allCases {
            let index = wire.rawValue
            // Also when the group outgrew its limits: what is kept of it is of no use to anybody.
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
    ///   - all: For those who have what came before.
    ///   - fromStart: For those who have not; nil when they cannot start yet.
    private func deliver(_ all: ByteBuffer, fromStart: ByteBuffer?, to wire: Int, now: MonotonicTime) {
        inHand = all.readableBytes
        defer {
            given[wire] += inHand
            inHand = 0
        }
        // Backwards, because ending a viewer takes it out of the list and puts the last one in its place.
        var index = viewers[wire].count
        while index > 0 {
            let stop = rows[wire].send(all, below: index, now: now)
            bytes[wire] += UInt64(all.readableBytes * (index - 1 - (stop?.index ?? -1)))
            guard let stop, stop.index < viewers[wire].count else { return }
            index = stop.index
            let viewer = viewers[wire][index]
            var rest = all
            rest.moveReaderIndex(forwardBy: stop.sent)
            bytes[wire] += UInt64(stop.sent)
            serve(viewer, rest, fromStart: fromStart, now: now)
            noteQueue(of: viewer)
            openPlace(of: viewer)
        }
    }

    /// One viewer's turn, whatever state it is in.
    private func serve(_ viewer: Viewer, _ bytes: ByteBuffer, fromStart: ByteBuffer?, now: MonotonicTime) {
        if let since = viewer.blockedSince, isGivenUp(viewer, since: since, now: now) { return }
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

    /// Lets a viewer be served through its place, if there is nothing about it to look at.
    private func openPlace(of viewer: Viewer) {
        guard viewer.state == .flowing, viewer.blockedSince == nil, let socket = viewer.writer.straightSocket else {
            return
        }
        var end: MonotonicTime?
        if !viewer.isQualified, let firstMedia = viewer.firstMedia {
            end = firstMedia.advanced(seconds: Double(configuration.qualifyingTime.nanoseconds) / 1e9)
        }
        rows[viewer.wire.rawValue].open(viewer.index, socket: socket, until: end)
    }

    /// The viewer is to be looked at when its turn comes again.
    func lookAt(_ viewer: Viewer) {
        rows[viewer.wire.rawValue].close(viewer.index)
    }

    /// Ends or skips a viewer whose socket takes nothing; true when it gets nothing now.
    private func isGivenUp(_ viewer: Viewer, since: MonotonicTime, now: MonotonicTime) -> Bool {
        let limit = configuration.slowViewerLimit
        let blocked = now.nanoseconds - since.nanoseconds
        if viewer.blockedBytes - viewer.queuedBytes >= Self.leastTaken, viewer.state == .waiting {
            // It has been skipped already and gets through what waits for it.
            viewer.blockedSince = now
            viewer.blockedBytes = viewer.queuedBytes
        } else if blocked > (isPressed ? limit.time : configuration.deadViewerTime).nanoseconds {
            remove(viewer, reason: .tooSlow, now: now)
            viewer.output.end(.tooSlow)
            counters.closedSlow.add(1, ordering: .relaxed)
            return true
        }
        let isSlow = isPressed || blocked > limit.time.nanoseconds || viewer.queuedBytes > limit.bytes
        if viewer.state == .flowing, isSlow {
            endFlow(of: viewer)
            viewer.state = .waiting
            viewer.blockedBytes = viewer.queuedBytes
            counters.skips.add(1, ordering: .relaxed)
        }
        return false
    }

    private func start(_ viewer: Viewer, with media: [ByteBuffer], now: MonotonicTime) {
        viewer.state = .flowing
        let buffers = [encoded[viewer.wire.rawValue].preamble(of: group)] + media
        let opening = buffers.reduce(0) { $0 + $1.readableBytes }
        bytes[viewer.wire.rawValue] += UInt64(opening)
        viewer.givenBytes += opening
        // What it begins with holds its part of the batch.
        viewer.flowBegan = given[viewer.wire.rawValue] + inHand
        viewer.writer.send(contentsOf: buffers)
        guard viewer.firstMedia == nil else { return }
        viewer.firstMedia = now
        // Only now, so that nothing of what a newcomer waits for is held back.
        if isCrowd, group.videoConfiguration != nil { viewer.writer.gather(true) }
    }

    /// Notes what a viewer was given while it flowed; to be called before it is in another state.
    private func endFlow(of viewer: Viewer) {
        guard viewer.state == .flowing else { return }
        viewer.givenBytes += given[viewer.wire.rawValue] - viewer.flowBegan
        viewer.flowBegan = given[viewer.wire.rawValue]
    }

    /// Bytes that a viewer was given and that the system has taken for it.
    func taken(by viewer: Viewer) -> Int {
        let flow = viewer.state == .flowing ? given[viewer.wire.rawValue] - viewer.flowBegan : 0
        return max(0, viewer.givenBytes + flow - viewer.writer.waitingBytes)
    }

    /// Takes note of what waits for a viewer now; those served through their places have nothing waiting.
    private func noteQueue(of viewer: Viewer) {
        let waiting = viewer.state == .gone ? 0 : viewer.writer.waitingBytes
        queued += waiting - viewer.queuedBytes
        viewer.queuedBytes = waiting
    }

    private func tellCounters() {
        for wire in ViewerWire.allCases where bytes[wire.rawValue] > 0 {
            counters.bytes.add(bytes[wire.rawValue], ordering: .relaxed)
            sent?.add(bytes[wire.rawValue], by: wire.playback)
            bytes[wire.rawValue] = 0
        }
        if queued != 0 {
            counters.queued.add(queued, ordering: .relaxed)
            budget.queued.add(queued, ordering: .relaxed)
            queued = 0
        }
        cache.note(encoded.reduce(0) { $0 + $1.byteCount })
    }

    private func qualify(_ viewer: Viewer, now: MonotonicTime) {
        // A flush that fails takes the viewer away while it is being served.
        guard !viewer.isQualified, viewer.state == .flowing, let firstMedia = viewer.firstMedia else { return }
        guard now.nanoseconds - firstMedia.nanoseconds >= configuration.qualifyingTime.nanoseconds else { return }
        viewer.isQualified = true
        viewer.session?.record(.watched(since: firstMedia), at: now)
        viewer.session?.place?.giveBack()
    }

    /// Ends every viewer, and whoever still comes.
    func end(_ reason: AudienceEvent.CloseReason, now: MonotonicTime) {
        endReason = reason
        dismiss(reason, now: now)
    }

    /// Ends every viewer there is.
    func dismiss(_ reason: AudienceEvent.CloseReason, now: MonotonicTime) {
        for viewer in viewers.joined() {
            remove(viewer, reason: reason, now: now)
            viewer.output.end(reason)
        }
    }
}
