import Cluster
import FootlightModel
import Media
import Stage
import Synchronization

/// What this gateway knows of its cluster: its own lease and rooms, and where the rooms of others are.
///
/// A room has two tenures, under its name and under its sid, so that any gateway finds it by either. The name is
/// claimed before the room exists. `ClusterService` keeps the claimed rooms in line with those of the `RoomDirectory`.
///
/// Any thread. `location` is for event loops: it takes a lock that is held for moments only.
final class ClusterMembership: Sendable {
    /// Where a room is.
    enum Location: Sendable, Equatable {
        /// Here, or nowhere.
        case here
        /// At another gateway with this address.
        case node(String, address: String)
        /// At another gateway that has stopped, or cannot be reached.
        case lost(String)
    }

    fileprivate enum ClaimOutcome: Sendable {
        case granted
        case taken(by: String)
        case unavailable
    }

    fileprivate typealias Claimant = CheckedContinuation<ClaimOutcome, Never>

    /// A claim that waits for the store.
    fileprivate struct Claim {
        var room: String
        var deadline: MonotonicTime
        var claimant: Claimant
    }

    fileprivate struct State {
        var member: ClusterMember
        var claims: [Claim] = []
        /// The rooms that were claimed and may be created until a time.
        var reserved: [String: MonotonicTime] = [:]
        /// The rooms in use here that another gateway has, with the time at which that was first read.
        var conflicts: [String: MonotonicTime] = [:]
        /// The seconds that the latest write took.
        var latency: Double?
        var isClosed = false
    }

    /// Where the rooms of other gateways are, replaced as a whole.
    fileprivate struct RoomTable {
        /// The node of each room that is not here, by name and by sid.
        var nodes: [String: String] = [:]
        /// The address of each node; nil for one that cannot be reached.
        var addresses: [String: String?] = [:]
    }

    /// The figures of the metrics.
    struct Figures: Sendable {
        /// Seconds for which the lease still holds; 0 without one.
        var leaseSeconds: Double
        /// The rooms of this gateway.
        var rooms: Int
        /// The seconds that the latest write took; nil before the first.
        var latency: Double?
        /// The number of gateways by state.
        var nodes: [NodeState: Int]
    }

    /// Milliseconds within which the store must grant a claim.
    fileprivate static let claimTimeout: Int64 = 2000
    /// Milliseconds within which a claimed room must be created.
    fileprivate static let creationTimeout: Int64 = 10_000
    /// The maximum number of claims that wait.
    fileprivate static let claimLimit = 256
    /// The maximum number of milliseconds between two turns.
    private static let pauseLimit: Int64 = 1000

    /// The name of this gateway.
    let node: String
    /// The milliseconds from one read of the store to the next.
    let readInterval: Int64
    private let clock: any MonotonicClock
    private let state: Mutex<State>
    private let table = Mutex(RoomTable())
    private let signal = AsyncSignal()

    /// - Parameters:
    ///   - address: Where other gateways reach this one.
    ///   - predecessors: The incarnations of earlier processes with the same data folder.
    init(
        node: String,
        address: String,
        predecessors: [UInt64] = [],
        lease: LeaseConfiguration = LeaseConfiguration(),
        clock: any MonotonicClock = LeaseClock()
    ) {
        self.node = node
        self.clock = clock
        readInterval = lease.interval
        state = Mutex(
            State(
                member: ClusterMember(
                    node: node,
                    predecessors: predecessors,
                    profile: NodeProfile(address: address, version: Version.text),
                    configuration: lease,
                    // The settings of a room are stored at its gateway: no other could go on with it.
                    takesOver: false,
                    generator: SystemRandomNumberGenerator(),
                    at: clock.now
                )
            )
        )
    }

    // MARK: Rooms

    /// Returns where the room of a name or sid is, as of the latest read of the store.
    func location(of room: String) -> Location {
        table.withLock { table in
            guard let node = table.nodes[room] else { return .here }
            guard let address = table.addresses[node] ?? nil else { return .lost(node) }
            return .node(node, address: address)
        }
    }

    /// Returns where the room of a playback name is: that of a room, of its preview or of one of its renditions.
    func location(ofPlayed name: String) -> Location {
        let names = [name, PreviewFeedName(name)?.room, RenditionFeedName(played: name)?.room].compactMap { $0 }
        return names.lazy.map { self.location(of: $0) }.first { $0 != .here } ?? .here
    }

    /// Claims the name or sid of a room that is about to be created here.
    ///
    /// - Throws: 53113 if another gateway has it, 53443 if the store does not grant it in time.
    func claim(_ room: String) async throws(StageError) {
        let outcome = await withCheckedContinuation { (claimant: Claimant) in
            let settled = state.withLock { $0.begin(room, claimant, at: clock.now) }
            if let settled { claimant.resume(returning: settled) } else { signal.fire() }
        }
        switch outcome {
        case .granted: return
        case .taken(let node): throw .roomExists(at: node)
        case .unavailable: throw .clusterUnavailable
        }
    }

    /// Refuses the name of a room that this gateway may not create, because it has not claimed it.
    func check(_ name: String) throws(StageError) {
        let now = clock.now
        try state.withLock { (state) throws(StageError) in
            guard state.member.fence(of: name, at: now) == nil else { return }
            if let other = state.otherOwner(of: name) { throw .roomExists(at: other) }
            throw .clusterUnavailable
        }
    }

    /// Returns an epoch for the mixers of a room that is higher than those of all earlier owners.
    ///
    /// - Parameter seconds: The wall clock, in seconds since 1970; it counts for a room that is not claimed again yet
    ///   after a restart.
    func firstEpoch(of room: String, at seconds: Double) -> UInt64 {
        let now = clock.now
        let fence = state.withLock { $0.member.fence(of: room, at: now) } ?? RoomEpoch.fenceFloor(seconds: seconds)
        return RoomEpoch.epoch(fence: fence, start: 0) ?? 0
    }

    // MARK: Nodes

    /// All gateways that the store knows, by name.
    var nodes: [NodeResource] {
        let now = clock.now
        return state.withLock { state in
            let member = state.member
            var rooms: [String: Int] = [:]
            for tenure in member.knownTenures where StageIdentifier.isValid(tenure.room, "RM") {
                if let owner = tenure.owner { rooms[owner.node, default: 0] += 1 }
            }
            return member.knownNodes.map { status, since in
                let isSelf = status.identity.node == node
                let end =
                    isSelf
                    ? member.lease.validUntil : since.advanced(milliseconds: member.lease.configuration.timeToLive)
                let seconds = status.isFenced ? 0 : max(0, end?.seconds(since: now) ?? 0)
                return NodeResource(
                    name: status.identity.node,
                    state: .known(NodeState(status, hasLease: seconds > 0)),
                    address: status.profile.address,
                    version: status.profile.version,
                    rooms: rooms[status.identity.node] ?? 0,
                    leaseSeconds: seconds,
                    isSelf: isSelf
                )
            }.sorted { $0.name < $1.name }
        }
    }

    /// The other gateways that can be reached, with their addresses, and those with rooms that cannot.
    var others: (reachable: [(node: String, address: String)], lost: [String]) {
        table.withLock { table in
            let reachable = table.addresses.compactMap { node, address in address.map { (node: node, address: $0) } }
            let owners = Set(table.nodes.values)
            return (reachable, table.addresses.filter { $0.value == nil && owners.contains($0.key) }.map(\.key))
        }
    }

    /// The figures of the metrics.
    var figures: Figures {
        let nodes = nodes
        return Figures(
            leaseSeconds: nodes.first(where: \.isSelf)?.leaseSeconds ?? 0,
            rooms: nodes.first(where: \.isSelf)?.rooms ?? 0,
            latency: state.withLock { $0.latency },
            nodes: nodes.reduce(into: [:]) { counts, node in
                if let state = node.state.value { counts[state, default: 0] += 1 }
            }
        )
    }

    /// The process that holds the lease at present; nil without a lease.
    var identity: NodeIdentity? {
        let now = clock.now
        return state.withLock { $0.member.lease.isHeld(at: now) ? $0.member.lease.identity : nil }
    }

    // MARK: Turns, for `ClusterService`

    /// Requests and releases rooms so that those in use here are those of this gateway.
    ///
    /// - Parameter inUse: The names and sids in use.
    /// - Returns: Those that another gateway has since a later claim, so that they must end here.
    func reconcile(_ inUse: Set<String>) -> [String] {
        let now = clock.now
        return change { $0.reconcile(inUse, at: now) }
    }

    /// Returns the next request to the store; nil if none is due.
    func nextAction(wallSeconds: Double) -> ClusterMember.Action? {
        let now = clock.now
        return state.withLock { $0.member.nextAction(at: now, wallSeconds: wallSeconds) }
    }

    /// Waits until the next request is due, or a room is claimed.
    func waitForTurn() async {
        let now = clock.now
        let pause = state.withLock { state in
            let next = state.member.nextActionAt ?? now.advanced(milliseconds: Self.pauseLimit)
            let deadlines = state.claims.map(\.deadline)
            return min(next, deadlines.min() ?? next, now.advanced(milliseconds: Self.pauseLimit))
        }
        if pause > now { await signal.wait(atMost: pause.seconds(since: now)) }
    }

    /// Applies the answer to a write.
    ///
    /// - Parameter seconds: How long it took.
    func written(_ result: NodeWriteResult, seconds: Double) -> [ClusterMember.Change] {
        let now = clock.now
        return change { state in
            state.latency = seconds
            return state.member.written(result, at: now)
        }
    }

    /// Applies the answer to a read.
    func received(_ snapshot: ClusterSnapshot) {
        let now = clock.now
        change { $0.member.received(snapshot, at: now) }
    }

    /// Records that a request was not answered.
    func unanswered() {
        let now = clock.now
        change { $0.member.unanswered(at: now) }
    }

    /// Refuses all claims from now on.
    func close() {
        change { $0.isClosed = true }
    }

    /// Changes the state, answers the claims that are settled by it, and publishes where rooms are.
    private func change<Outcome: Sendable>(_ body: (inout State) -> Outcome) -> Outcome {
        let now = clock.now
        let (outcome, settled, rooms) = state.withLock { state in
            let outcome = body(&state)
            return (outcome, state.settle(at: now), state.roomTable())
        }
        table.withLock { $0 = rooms }
        for (claimant, outcome) in settled { claimant.resume(returning: outcome) }
        return outcome
    }
}

extension ClusterMembership.State {
    /// Returns the node that has a room, if that is another one which is not over.
    func otherOwner(of room: String) -> String? {
        guard let owner = member.owner(of: room), owner.node != member.lease.identity.node, !member.isOver(owner) else {
            return nil
        }
        return owner.node
    }

    /// Begins a claim.
    ///
    /// - Returns: Its outcome, if that is known already.
    fileprivate mutating func begin(
        _ room: String,
        _ claimant: ClusterMembership.Claimant,
        at now: MonotonicTime
    ) -> ClusterMembership.ClaimOutcome? {
        guard !isClosed, member.lease.isHeld(at: now) else { return .unavailable }
        if member.fence(of: room, at: now) != nil {
            reserved[room] = now.advanced(milliseconds: ClusterMembership.creationTimeout)
            return .granted
        }
        guard claims.count < ClusterMembership.claimLimit else { return .unavailable }
        member.request(room)
        let deadline = now.advanced(milliseconds: ClusterMembership.claimTimeout)
        claims.append(ClusterMembership.Claim(room: room, deadline: deadline, claimant: claimant))
        return nil
    }

    /// Removes the claims whose outcome is known.
    fileprivate mutating func settle(
        at now: MonotonicTime
    ) -> [(ClusterMembership.Claimant, ClusterMembership.ClaimOutcome)] {
        var settled: [(ClusterMembership.Claimant, ClusterMembership.ClaimOutcome)] = []
        let waiting = claims
        claims = []
        for claim in waiting {
            if member.fence(of: claim.room, at: now) != nil {
                reserved[claim.room] = now.advanced(milliseconds: ClusterMembership.creationTimeout)
                settled.append((claim.claimant, .granted))
            } else if !member.requestedRooms.contains(claim.room), let other = otherOwner(of: claim.room) {
                settled.append((claim.claimant, .taken(by: other)))
            } else if isClosed || claim.deadline <= now {
                settled.append((claim.claimant, .unavailable))
            } else {
                claims.append(claim)
            }
        }
        return settled
    }

    /// Requests and releases rooms, and returns those in use here that another node has.
    fileprivate mutating func reconcile(_ inUse: Set<String>, at now: MonotonicTime) -> [String] {
        reserved = reserved.filter { $0.value > now && !inUse.contains($0.key) }
        let claimed = Set(claims.map(\.room))
        let owned = Set(member.ownedRooms.map(\.room))
        for room in owned where !inUse.contains(room) && reserved[room] == nil && !claimed.contains(room) {
            member.release(room)
        }
        var elsewhere: Set<String> = []
        for room in inUse where !owned.contains(room) {
            if otherOwner(of: room) == nil { member.request(room) } else { elsewhere.insert(room) }
        }
        for room in member.requestedRooms where !inUse.contains(room) && !claimed.contains(room) {
            member.release(room)
        }
        conflicts = conflicts.filter { elsewhere.contains($0.key) }
        guard member.lease.isHeld(at: now), let acknowledgedAt = member.lease.acknowledgedAt else { return [] }
        // A read may come from a server that was replaced. One that also acknowledges a later write was not.
        for room in elsewhere where conflicts[room] == nil { conflicts[room] = now }
        return conflicts.filter { acknowledgedAt > $0.value }.map(\.key)
    }

    fileprivate func roomTable() -> ClusterMembership.RoomTable {
        var table = ClusterMembership.RoomTable()
        let own = member.lease.identity.node
        for (status, _) in member.knownNodes where status.identity.node != own {
            // One that is silent may still answer: after an outage of the store, rows are as old as the outage.
            let isUsable = !status.isFenced && !status.profile.address.isEmpty
            table.addresses.updateValue(isUsable ? status.profile.address : nil, forKey: status.identity.node)
        }
        let owned = Set(member.ownedRooms.map(\.room))
        for tenure in member.knownTenures where !owned.contains(tenure.room) {
            if let owner = tenure.owner, owner.node != own { table.nodes[tenure.room] = owner.node }
        }
        return table
    }
}

extension NodeState {
    /// - Parameter hasLease: Whether the node wrote within the time for which a lease holds.
    fileprivate init(_ status: NodeStatus, hasLease: Bool) {
        if status.isFenced {
            self = .lost
        } else if !hasLease {
            self = .silent
        } else {
            self = status.profile.acceptsRooms ? .up : .draining
        }
    }
}

/// The machine's clock that goes on while the machine is suspended, as a lease does for the other nodes.
struct LeaseClock: MonotonicClock {
    private static let origin = ContinuousClock.now

    /// The time since the first use.
    var now: MonotonicTime {
        let (seconds, attoseconds) = Self.origin.duration(to: .now).components
        return MonotonicTime(nanoseconds: seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}
