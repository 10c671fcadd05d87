public import Media

/// The part of a node in the agreement on who owns which room: answers of the store in, requests to it out.
///
/// Has no clock, no connection and no thread. At most one request is under way. A turn is a write, which is the heartbeat,
/// then a read, then, if that shows something to do, a second write at once. The caller executes `nextAction` at
/// `nextActionAt`, and passes on the answer or its absence.
///
/// A node that is silent is fenced: another one writes over exactly the row that it saw unchanged for long enough. No
/// later write of the fenced process is accepted. Rooms are claimed in the same or a later write, each with a higher
/// fence; the store grants a claim only if the owner is over at that moment, so an outdated read never moves a room.
public struct ClusterMember: Sendable {
    /// A request to the store.
    public enum Action: Sendable, Hashable {
        /// Execute the write, and call `written` or `unanswered`.
        case write(NodeWrite)
        /// Read, and call `received` or `unanswered`.
        case read
    }

    /// A change of the rooms that this node owns.
    public enum Change: Sendable, Hashable {
        /// This node owns the room from now on.
        case gained(RoomTenure)
        /// This node no longer owns the room: another process took part under its name, or it was fenced.
        case lost(RoomTenure)
    }

    private enum Request: Sendable {
        case read
        case write(NodeWrite)
    }

    /// What the latest read suggests to write.
    private struct Plan: Sendable {
        var registration: NodeWrite.Condition?
        var fences: [NodeStatus] = []
        var claims: [NodeWrite.Claim] = []

        var isEmpty: Bool { registration == nil && fences.isEmpty && claims.isEmpty }
    }

    /// The maximum number of claims in one write; the others follow in the next.
    static let claimLimit = 1000
    /// The number of own earlier incarnations that are remembered.
    private static let predecessorLimit = 16

    /// What the heartbeats report.
    public var profile: NodeProfile
    /// The lease.
    public private(set) var lease: NodeLease
    private var tenures: [String: RoomTenure] = [:]
    private var requested: Set<String> = []
    /// The rooms that were given back, until the store has acknowledged it.
    private var releasing: [String: RoomTenure] = [:]
    /// The time at which each room was first read without an owner that is alive.
    private var orphans: [String: MonotonicTime] = [:]
    private var owners: [String: RoomTenure] = [:]
    private var peers = PeerMonitor()
    private var plan = Plan()
    private var pending: Request?
    private var readsNext = false
    private var dueAt: MonotonicTime
    private var predecessors: [UInt64]
    private var generator: any RandomNumberGenerator & Sendable
    private let takesOver: Bool
    private let rules: ClusterRules

    /// Makes the part of a node that starts now.
    ///
    /// - Parameters:
    ///   - node: The node's name.
    ///   - predecessors: The incarnations of earlier processes of this node that are certainly over; such a row is
    ///     replaced at once, any other only after it was unchanged for as long as a node may be silent.
    ///   - takesOver: Whether the node claims rooms of lost nodes by itself; without, it claims requested rooms only.
    ///   - generator: Draws incarnations.
    public init(
        node: String,
        predecessors: [UInt64] = [],
        profile: NodeProfile = .init(),
        configuration: LeaseConfiguration = .init(),
        takesOver: Bool = true,
        generator: any RandomNumberGenerator & Sendable,
        at now: MonotonicTime
    ) {
        self.init(
            node: node,
            predecessors: predecessors,
            profile: profile,
            configuration: configuration,
            takesOver: takesOver,
            generator: generator,
            rules: ClusterRules(),
            at: now
        )
    }

    package init(
        node: String,
        predecessors: [UInt64],
        profile: NodeProfile,
        configuration: LeaseConfiguration,
        takesOver: Bool = true,
        generator: any RandomNumberGenerator & Sendable,
        rules: ClusterRules,
        at now: MonotonicTime
    ) {
        self.profile = profile
        self.predecessors = predecessors
        self.takesOver = takesOver
        self.generator = generator
        self.rules = rules
        dueAt = now
        let identity = NodeIdentity(node: node, incarnation: self.generator.next() >> 1)
        lease = NodeLease(identity: identity, configuration: configuration, rules: rules)
    }

    // MARK: What this node owns

    /// Returns the fence of a room that this node owns at this time; nil if it does not, or cannot be sure.
    public func fence(of room: String, at now: MonotonicTime) -> UInt64? {
        guard lease.isHeld(at: now) else { return nil }
        return tenures[room]?.fence
    }

    /// The rooms of this node as far as it knows; those to act on only while the lease holds.
    public var ownedRooms: [RoomTenure] { Array(tenures.values) }

    /// Returns the owner of a room as of the latest read, which may be outdated.
    public func owner(of room: String) -> NodeIdentity? {
        (tenures[room] ?? owners[room])?.owner
    }

    /// All tenures as of the latest read, which may be outdated.
    public var knownTenures: [RoomTenure] { Array(owners.values) }

    /// All nodes as of the latest read, each with the time since which its row is unchanged.
    public var knownNodes: [(status: NodeStatus, since: MonotonicTime)] { peers.all }

    /// Whether a process is known to be over, as of the latest read.
    public func isOver(_ identity: NodeIdentity) -> Bool { peers.isOver(identity) }

    /// Returns the nodes that wrote within the time for which a lease holds.
    public func liveNodes(at now: MonotonicTime) -> [NodeStatus] {
        peers.live(within: lease.configuration.timeToLive, at: now)
    }

    /// Requests a room that no node owns, or whose owner is over.
    ///
    /// The request ends when this node gets the room, or is seen to belong to another one.
    public mutating func request(_ room: String) {
        guard tenures[room] == nil, requested.insert(room).inserted else { return }
        if lease.isRegistered { readsNext = true }
    }

    /// The rooms whose request has not ended.
    public var requestedRooms: Set<String> { requested }

    /// Gives up a room or a request for one.
    public mutating func release(_ room: String) {
        requested.remove(room)
        guard let tenure = tenures.removeValue(forKey: room) else { return }
        releasing[room] = tenure
        dueAt = MonotonicTime(nanoseconds: .min)
    }

    // MARK: Requests

    /// The time of the next action; nil while a request is under way.
    public var nextActionAt: MonotonicTime? {
        guard pending == nil else { return nil }
        return readsNext || !plan.isEmpty ? MonotonicTime(nanoseconds: .min) : dueAt
    }

    /// Returns the next request, if one is due.
    ///
    /// - Parameter wallSeconds: The time of the wall clock, in seconds since 1970: new fences do not begin below it.
    public mutating func nextAction(at now: MonotonicTime, wallSeconds: Double) -> Action? {
        guard let time = nextActionAt, time <= now else { return nil }
        let isReading = readsNext || (plan.isEmpty && !lease.isRegistered)
        if !readsNext { dueAt = now.advanced(milliseconds: lease.configuration.interval) }
        guard !isReading else {
            readsNext = false
            pending = .read
            return .read
        }
        let floor = rules.ignoresFloor ? 0 : RoomEpoch.fenceFloor(seconds: wallSeconds)
        let write = makeWrite(floor: floor, at: now)
        pending = .write(write)
        return .write(write)
    }

    private mutating func makeWrite(floor: UInt64, at now: MonotonicTime) -> NodeWrite {
        let acknowledged = rules.ignoresLostWrites ? 0 : lease.acknowledged
        var write = NodeWrite(
            identity: lease.identity,
            count: lease.nextCount(at: now),
            condition: plan.registration ?? .acknowledged(acknowledged),
            profile: profile
        )
        write.fences = plan.fences
        write.claims = plan.claims
        write.fenceFloor = floor
        if plan.registration == nil { write.releases = Array(releasing.values) }
        plan = Plan()
        return write
    }

    // MARK: Answers

    /// Applies the answer to the write that is under way.
    public mutating func written(_ result: NodeWriteResult, at now: MonotonicTime) -> [Change] {
        guard case .write(let write) = pending else { return [] }
        pending = nil
        switch result {
        case .accepted(let granted):
            lease.accepted(at: now)
            for tenure in write.releases where releasing[tenure.room] == tenure { releasing[tenure.room] = nil }
            // The second write of a turn is not followed by a second read.
            if write.fences.isEmpty, write.claims.isEmpty { readsNext = true }
            return granted.map { tenure in
                tenures[tenure.room] = tenure
                requested.remove(tenure.room)
                orphans[tenure.room] = nil
                return .gained(tenure)
            }
        case .rejected:
            guard case .acknowledged = write.condition else { return [] }
            return end()
        }
    }

    /// Applies the answer to the read that is under way.
    public mutating func received(_ snapshot: ClusterSnapshot, at now: MonotonicTime) {
        guard case .read = pending else { return }
        pending = nil
        plan = Plan()
        peers.observe(snapshot.nodes, at: now)
        owners.removeAll(keepingCapacity: true)
        for tenure in snapshot.tenures { owners[tenure.room] = tenure }
        guard lease.isRegistered else { return planRegistration(at: now) }
        if let own = peers.row(of: lease.identity.node) { lease.extendByRead(of: own.status) }
        guard lease.isHeld(at: now) else { return }
        planFences(at: now)
        planClaims(snapshot.tenures, at: now)
    }

    /// Records that the request under way was given up without an answer; whether the store executed it is unknown.
    public mutating func unanswered(at now: MonotonicTime) {
        guard let request = pending else { return }
        pending = nil
        lease.unanswered()
        if rules.holdsByRead, case .write = request { readsNext = true }
    }

    /// Ends this incarnation, and takes part again as another one.
    private mutating func end() -> [Change] {
        let lost = tenures.values.map { Change.lost($0) }
        predecessors = (predecessors + [lease.identity.incarnation]).suffix(Self.predecessorLimit)
        lease.end(next: generator.next() >> 1)
        (tenures, releasing, orphans, plan) = ([:], [:], [:], Plan())
        readsNext = true
        return lost
    }

    // MARK: Plans

    private mutating func planRegistration(at now: MonotonicTime) {
        guard let row = peers.row(of: lease.identity.node) else {
            plan.registration = .replacing(nil)
            return
        }
        if row.status.identity == lease.identity {
            lease.registrationFound()
            dueAt = now
            return
        }
        let isOver = row.status.isFenced || predecessors.contains(row.status.identity.incarnation)
        let waited = now.nanoseconds - row.since.nanoseconds
        if isOver || waited > lease.configuration.silence * 1_000_000 { plan.registration = .replacing(row.status) }
    }

    private mutating func planFences(at now: MonotonicTime) {
        plan.fences = peers.statuses { status, since in
            status.identity.node != lease.identity.node && !status.isFenced && lease.hasWaited(since: since, at: now)
        }
    }

    private mutating func planClaims(_ stored: [RoomTenure], at now: MonotonicTime) {
        let fenced = plan.fences.map(\.identity)
        // Most reads have no use for the live nodes.
        lazy var live = liveNodes(at: now)
        var orphaned: [String: MonotonicTime] = [:]
        for tenure in stored {
            guard tenures[tenure.room] == nil, releasing[tenure.room] == nil else { continue }
            guard let owner = tenure.owner else {
                if requested.contains(tenure.room) { claim(tenure.room, over: tenure.fence) }
                continue
            }
            if owner == lease.identity {
                // An own claim whose answer was lost. Only the answer to another one makes this node the owner.
                claim(tenure.room, over: tenure.fence)
            } else if peers.isOver(owner) || fenced.contains(owner) {
                let isRequested = requested.contains(tenure.room)
                // Not before all owners had time for a heartbeat, if the store was away. An own earlier process that is
                // certainly over need not be waited for; another one of the same name may run elsewhere.
                let isOwn =
                    isRequested && owner.node == lease.identity.node && predecessors.contains(owner.incarnation)
                guard isOwn || lease.hasWaited(since: MonotonicTime(nanoseconds: 0), at: now) else { continue }
                let since = orphans[tenure.room] ?? now
                orphaned[tenure.room] = since
                if isRequested || takesOver && mayClaim(tenure.room, orphanedSince: since, among: live, at: now) {
                    claim(tenure.room, over: tenure.fence)
                }
            } else {
                requested.remove(tenure.room)
            }
        }
        orphans = orphaned
        for room in requested where owners[room] == nil { claim(room, over: nil) }
    }

    private mutating func claim(_ room: String, over fence: UInt64?) {
        guard plan.claims.count < Self.claimLimit else { return }
        plan.claims.append(NodeWrite.Claim(room: room, expected: fence))
    }

    /// Whether it is this node's turn to take over a room: the first one in the room's order at once, each further one
    /// after a delay in which those before it have not.
    private func mayClaim(
        _ room: String,
        orphanedSince: MonotonicTime,
        among live: [NodeStatus],
        at now: MonotonicTime
    ) -> Bool {
        guard profile.acceptsRooms else { return false }
        let position = RoomPlacement.position(of: lease.identity.node, for: room, among: live)
        let delay = Int64(position) * lease.configuration.candidateDelay
        return now >= orphanedSince.advanced(milliseconds: delay)
    }
}
