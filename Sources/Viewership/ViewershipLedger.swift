import Foundation
public import Media
public import Stage
import Synchronization

/// Who watches: takes what the fan-out sees, and says how many they are.
///
/// Sixteen shards, each behind its own lock, hold the sessions; a session's id says which one is its. `record` and
/// `accepts` are called on event loops: they touch one shard for a moment, and no queue lies between, so nothing is
/// ever dropped. Reports hold all the locks for as long as they add the figures up, and so are one consistent cut.
public final class ViewershipLedger: Sendable, AudienceObserving {
    /// One shard with its lock.
    ///
    /// Locks are taken in the order of the shards, then the book's.
    final class Owner: Sendable {
        let shard: Mutex<AudienceShard>

        init(_ shard: AudienceShard) {
            self.shard = Mutex(shard)
        }
    }

    /// How many timers of a shard may fire before its event loops get a turn.
    private static let timersPerTurn = 512

    let configuration: ViewershipConfiguration
    let clock: any MonotonicClock
    let owners: [Owner]
    let book = Mutex(RoomBook())
    /// The wall clock, read once; from then on the monotonic clock carries it.
    private let startDate: Date
    let startTime: MonotonicTime
    private let keys: Mutex<SessionKeys>
    private let lastAdvance: Atomic<Int64>
    let refusedCodes = Atomic<Int>(0)
    let refusedForms = Atomic<Int>(0)

    /// - Parameters:
    ///   - keys: sign the session ids; ids stay valid over a restart as long as one of the keys does.
    ///   - clock: moves the time-outs; events bring their own moment, of the same clock.
    public convenience init(
        keys: SessionKeys,
        clock: any MonotonicClock = SystemClock(),
        configuration: ViewershipConfiguration = .init()
    ) {
        self.init(keys: keys, clock: clock, configuration: configuration, startDate: Date())
    }

    init(keys: SessionKeys, clock: any MonotonicClock, configuration: ViewershipConfiguration, startDate: Date) {
        let start = clock.now
        self.keys = Mutex(keys)
        self.clock = clock
        self.configuration = configuration
        self.startDate = startDate
        startTime = start
        lastAdvance = Atomic(start.milliseconds)
        let second = UInt32(clamping: Int64(startDate.timeIntervalSince1970))
        owners = (0..<SessionID.shardCount).map { _ in
            Owner(AudienceShard(configuration: configuration, now: start.milliseconds, startSecond: second))
        }
    }

    // MARK: Session ids

    /// A new session id for an anonymous viewer of `room`; it counts from its first proven watching.
    public func makeSession(room: String) -> String {
        makeID(room: room, shard: UInt8.random(in: 0..<UInt8(SessionID.shardCount))).text
    }

    /// A new session id for a player of the participant `identity`, whose token it presented: the two count once.
    public func makeSession(room: String, identity: String) -> String {
        let id = makeID(room: room, shard: UInt8(Self.shard(room: room, identity: identity)))
        _ = attribute(id, room: room, identity: identity)
        return id.text
    }

    /// Says that the player with the id `sid` presented the token of the participant `identity`.
    ///
    /// - Returns: false when `sid` was not made for this participant; the player then needs a new one.
    public func attribute(sid: String, room: String, identity: String) -> Bool {
        guard accepts(sid: sid, room: room), let id = SessionID(sid) else { return false }
        guard id.shard == Self.shard(room: room, identity: identity) else { return false }
        return attribute(id, room: room, identity: identity)
    }

    /// Whether `sid` was signed for `room` by a key in force; a refusal is counted.
    public func accepts(sid: String, room: String) -> Bool {
        guard let id = SessionID(sid) else {
            refusedForms.add(1, ordering: .relaxed)
            return false
        }
        if owners[id.shard].shard.withLock({ $0.place(of: id, room: room) != nil }) { return true }
        guard verify(id, room: room) else {
            refusedCodes.add(1, ordering: .relaxed)
            return false
        }
        return true
    }

    /// Signs with `key` from now on; ids of the key before it stay valid until the next rotation.
    public func rotate(to key: SessionKey) {
        keys.withLock { $0 = $0.rotated(to: key) }
    }

    // MARK: What happens

    /// Takes one event, on whatever thread it happened.
    ///
    /// An event of an unknown id is taken if the id proves itself, and otherwise counted as rejected.
    public func record(_ event: AudienceEvent) {
        guard let id = SessionID(event.sid) else {
            refusedForms.add(1, ordering: .relaxed)
            return
        }
        withShard(id.shard) { shard in
            shard.record(event, id: id) { verify(id, room: event.room) }
        }
    }

    /// The RECV_ONLY participant `identity` is in the room; it counts as `sdk` unless a player of its own does.
    public func participantWatching(room: String, identity: String) {
        let now = clock.now.milliseconds
        withShard(Self.shard(room: room, identity: identity)) {
            $0.participantWatching(room: room, identity: identity, at: now)
        }
    }

    /// The participant left, or is RECV_ONLY no longer.
    public func participantLeft(room: String, identity: String) {
        let now = clock.now.milliseconds
        withShard(Self.shard(room: room, identity: identity)) {
            $0.participantLeft(room: room, identity: identity, at: now)
        }
    }

    /// A room's broadcast begins: what `report` still said of an earlier one under the same name is forgotten.
    public func roomBegan(_ room: String) {
        book.withLock { $0.begin(room) }
    }

    /// The room's broadcast is over: every session is closed, the live count is 0, and the figures are final.
    ///
    /// `report` goes on to give them until somebody watches a room of this name again.
    public func roomEnded(_ room: String) {
        finish(room, at: clock.now)
    }

    // MARK: Time

    /// Moves time once a second until the task is cancelled.
    public func run() async {
        while !Task.isCancelled {
            do {
                try await Task.sleep(for: .seconds(1))
            } catch {
                // Cancelled: the one way in which a sleep fails.
                return
            }
            advance(to: clock.now)
        }
    }

    /// Lets everything time out that is due at `now`, to the second.
    public func advance(to now: MonotonicTime) {
        for index in owners.indices {
            var isBehind = true
            while isBehind {
                isBehind = withShard(index) { $0.advance(to: now.milliseconds, limit: Self.timersPerTurn) }
            }
        }
        lastAdvance.store(now.milliseconds, ordering: .relaxed)
        let limit = now.advanced(seconds: -configuration.retention).milliseconds
        for room in book.withLock({ $0.removeRooms(endedBefore: limit) }) {
            for index in owners.indices { withShard(index) { $0.forget(room: room) } }
        }
    }

    /// Milliseconds since time was last moved.
    func staleness(at now: MonotonicTime) -> Int {
        max(0, Int(now.milliseconds - lastAdvance.load(ordering: .relaxed)))
    }

    func date(of moment: MonotonicTime) -> Date {
        startDate.addingTimeInterval(moment.seconds(since: startTime))
    }

    // MARK: Inside

    private func makeID(room: String, shard: UInt8) -> SessionID {
        let second = UInt32(clamping: Int64(date(of: clock.now).timeIntervalSince1970))
        let keys = keys.withLock { $0 }
        return keys.makeID(room: room, shard: shard, issuedAt: second, nonce: .random(in: 0...UInt64.max))
    }

    private func verify(_ id: SessionID, room: String) -> Bool {
        let keys = keys.withLock { $0 }
        return keys.verify(id, room: room)
    }

    private func attribute(_ id: SessionID, room: String, identity: String) -> Bool {
        let now = clock.now.milliseconds
        return withShard(id.shard) { $0.attribute(id, room: room, identity: identity, at: now) }
    }

    /// A participant's shard, the same in every process.
    private static func shard(room: String, identity: String) -> Int {
        Int(SessionID.stableHash(room, identity)) % SessionID.shardCount
    }

    /// One turn in a shard; what it did to the live counts goes to the book before the next turn of any shard can.
    private func withShard<Result: Sendable>(_ index: Int, _ body: (inout AudienceShard) -> Result) -> Result {
        owners[index].shard.withLock { shard in
            let result = body(&shard)
            publishChanges(of: &shard)
            return result
        }
    }

    func publishChanges(of shard: inout AudienceShard) {
        guard !shard.changes.isEmpty else { return }
        book.withLock { $0.apply(shard.changes) }
        shard.changes.removeAll(keepingCapacity: true)
    }
}
