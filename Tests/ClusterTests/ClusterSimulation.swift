import Cluster
import Media
import TestSupport

/// A random schedule of two or three processes and a store, on one simulated time line.
///
/// Times are milliseconds on a coarse grid, so that events coincide often. Each process has a clock of its own rate,
/// within the margin of the lease, and starts anywhere. Nothing here waits: a schedule of ten seconds takes microseconds.
struct ClusterSimulation {
    /// The fault that a schedule may have at some time.
    enum Fault: CaseIterable {
        /// A process is stopped (SIGSTOP), and goes on later as if nothing had happened.
        case stop
        /// A process is killed, and another one of the node starts later.
        case crash
        /// Requests of one process, or the answers to it, are lost.
        case cut
        /// The store answers nobody.
        case outage
        /// A former primary comes back: it answers reads with old rows, and with writes that were never acknowledged.
        case formerPrimary
        /// Reads are answered by a server that lags behind.
        case lag
        /// The store is replaced by a backup of an earlier state, after an outage.
        case restore
        /// A second process with the name of the first node starts on another machine.
        case doubleName
    }

    /// A violation of what must never happen.
    enum Violation: String, Hashable {
        case fenceNotHigher = "a fence is not higher than all before"
        case twoOwners = "two processes own one room at one time"
        case healthyFenced = "a process without a fault of its own is fenced"
        case takenInOutage = "a room is taken over because the store was silent"
        case noOwner = "a room has no owner long after the last fault"
    }

    private final class Process {
        var member: ClusterMember
        var node: Int
        /// Twentieths of the true rate.
        var rate: Int64
        var offset: Int64
        var wakeAt: Int64 = -1
        var isStopped = false
        var isDead = false
        var isCut = false
        var usesFormerPrimary = false
        /// The number of the request under way; an answer to another one is too late.
        var request = 0
        var lastFault: Int64 = .min / 2
        /// The events that arrived while the process was stopped.
        var delayed: [Event] = []

        init(member: ClusterMember, node: Int, rate: Int64, offset: Int64) {
            self.member = member
            self.node = node
            self.rate = rate
            self.offset = offset
        }

        func local(_ time: Int64) -> MonotonicTime {
            MonotonicTime(nanoseconds: (time + offset) * 50_000 * rate)
        }
    }

    private indirect enum Event {
        case wake(Int)
        case timeout(Int, request: Int)
        case arrival(Int, request: Int, ClusterMember.Action, sentAt: Int64)
        case written(Int, request: Int, NodeWriteResult)
        case received(Int, request: Int, ClusterSnapshot)
        case begin(Fault, process: Int)
        case end(Fault, process: Int)
    }

    private static let names = ["a", "b", "c"]
    private static let configuration = LeaseConfiguration(timeToLive: 2000)
    private static let grid: Int64 = 50

    private let rules: ClusterRules
    private var random: SeededGenerator
    private var now: Int64 = 0
    private var order = 0
    private var queue: [(time: Int64, order: Int, event: Event)] = []
    private var processes: [Process] = []
    private var store = ClusterState()
    /// Whether a fault needs earlier states.
    private let hasHistory: Bool
    private var history: [(time: Int64, state: ClusterState)] = []
    private var formerPrimary: ClusterState?
    private var outages = 0
    private var lastOutage: (begin: Int64, end: Int64) = (.min / 2, .min / 2)
    private var lagSince: Int64?
    private var restorePoint: ClusterState?
    private var lastFault: Int64 = 0
    private let isPrompt: Bool
    /// Whether the wall clocks of all machines show 1970, which must matter only if the store is restored.
    private let hasClock: Bool
    private var highest: [String: UInt64] = [:]
    private var delivered: [String: UInt64] = [:]
    private let rooms: [String]

    /// What went wrong.
    private(set) var violations: Set<Violation> = []
    /// The number of rooms that one process took from another.
    private(set) var takeovers = 0

    /// Draws a schedule.
    ///
    /// - Parameter faults: The faults that may occur.
    init(seed: Int, faults: [Fault] = Fault.allCases, rules: ClusterRules) {
        var random = SeededGenerator(seed: seed)
        isPrompt = Bool.random(using: &random)
        let drawn = (0..<Int.random(in: 1...3, using: &random)).compactMap { _ in faults.randomElement(using: &random) }
        hasHistory = drawn.contains(.restore) || drawn.contains(.lag)
        hasClock = drawn.contains(.restore) || Bool.random(using: &random)
        rooms = Bool.random(using: &random) ? ["r"] : ["r", "s"]
        self.rules = rules
        self.random = random
        let count = Int.random(in: 2...3, using: &self.random)
        for node in 0..<count { addProcess(of: node, at: Self.grid * Int64(node)) }
        schedule(drawn)
    }

    // MARK: Schedule

    private mutating func addProcess(of node: Int, at time: Int64, predecessors: [UInt64] = []) {
        // The slowest and the fastest clock that the margin allows, more often than what is between.
        let rate = [20, 20, 23, 23, Int64.random(in: 20...23, using: &random)].randomElement(using: &random) ?? 20
        let offset = Self.grid * Int64.random(in: 1...1000, using: &random)
        let process = Process(
            member: ClusterMember(
                node: Self.names[node],
                predecessors: predecessors,
                profile: NodeProfile(),
                configuration: Self.configuration,
                generator: SeededGenerator(seed: Int64(truncatingIfNeeded: random.next())),
                rules: rules,
                at: MonotonicTime(nanoseconds: 0)
            ),
            node: node,
            rate: rate,
            offset: offset
        )
        if node == 0 || Bool.random(using: &random) { for room in rooms { process.member.request(room) } }
        process.lastFault = time
        processes.append(process)
        add(.wake(processes.count - 1), at: time)
    }

    private mutating func schedule(_ faults: [Fault]) {
        for fault in faults {
            let process = Int.random(in: 0..<processes.count, using: &random)
            let begin = Self.grid * .random(in: 10...100, using: &random)
            // A restored store was away for longer than any lease holds.
            let shortest = fault == .restore ? 60 : 4
            let end = begin + Self.grid * Int64(Int.random(in: shortest...110, using: &random))
            add(.begin(fault, process: process), at: begin)
            add(.end(fault, process: process), at: end)
            lastFault = max(lastFault, end)
        }
    }

    private mutating func add(_ event: Event, at time: Int64) {
        order += 1
        queue.append((time, order, event))
    }

    /// The milliseconds that a message is under way.
    private mutating func delay() -> Int64 {
        if now > lastFault { return Self.grid * .random(in: 0...1, using: &random) }
        if isPrompt { return random.next() % 16 == 0 ? Self.grid * .random(in: 1...8, using: &random) : 0 }
        return random.next() % 3 == 0 ? Self.grid * .random(in: 0...12, using: &random) : 0
    }

    /// Runs the schedule to its end, or to the first violation.
    mutating func run() {
        // Others need that long to take over rooms after the last fault; most schedules end earlier.
        let checksProgress = random.next() % 4 == 0
        let end = lastFault + (checksProgress ? 8000 : 3000)
        while violations.isEmpty {
            var first = 0
            for index in queue.indices.dropFirst()
            where (queue[index].time, queue[index].order) < (queue[first].time, queue[first].order) { first = index }
            guard !queue.isEmpty, queue[first].time <= end else { break }
            let entry = queue[first]
            queue[first] = queue[queue.count - 1]
            queue.removeLast()
            now = entry.time
            handle(entry.event)
        }
        if violations.isEmpty, checksProgress { checkProgress() }
    }

    // MARK: Events

    private mutating func handle(_ event: Event) {
        switch event {
        case .wake(let index), .timeout(let index, _), .written(let index, _, _), .received(let index, _, _):
            guard !processes[index].isDead else { return }
            if processes[index].isStopped {
                processes[index].delayed.append(event)
            } else {
                deliver(event, to: index)
                act(index)
            }
        case .arrival(let index, let request, let action, let sentAt):
            execute(action, of: index, request: request, sentAt: sentAt)
        case .begin(let fault, let index): begin(fault, of: index)
        case .end(let fault, let index): end(fault, of: index)
        }
    }

    private mutating func deliver(_ event: Event, to index: Int) {
        let local = processes[index].local(now)
        switch event {
        case .timeout(_, let request) where request == processes[index].request:
            processes[index].member.unanswered(at: local)
            processes[index].request += 1
        case .written(_, let request, let result) where request == processes[index].request:
            processes[index].request += 1
            for change in processes[index].member.written(result, at: local) {
                guard case .gained(let tenure) = change else { continue }
                delivered[tenure.room] = max(delivered[tenure.room] ?? 0, tenure.fence)
            }
            checkOwners(with: index)
        case .received(_, let request, let snapshot) where request == processes[index].request:
            processes[index].request += 1
            processes[index].member.received(snapshot, at: local)
            if rules.holdsByRead { checkOwners(with: index) }
        default: break
        }
    }

    /// Sends the next request of a process, or has it woken when the next one is due.
    private mutating func act(_ index: Int) {
        let local = processes[index].local(now)
        // The wall clocks of the machines are up to a second apart.
        let wall = !hasClock ? 0 : 1_000_000 + Double(now) / 1000 + Double(processes[index].rate - 20) / 3
        guard let action = processes[index].member.nextAction(at: local, wallSeconds: wall) else {
            guard let due = processes[index].member.nextActionAt else { return }
            let wait = (due.nanoseconds - local.nanoseconds) / (50_000 * processes[index].rate)
            let late = random.next() % 4 == 0 ? Self.grid * Int64.random(in: 1...4, using: &random) : 0
            let time = (now + max(wait, 1) + Self.grid - 1) / Self.grid * Self.grid + late
            guard processes[index].wakeAt != time else { return }
            processes[index].wakeAt = time
            return add(.wake(index), at: time)
        }
        let request = processes[index].request
        let timeout = Self.configuration.requestTimeout * 20 / processes[index].rate
        add(.timeout(index, request: request), at: (now + timeout) / Self.grid * Self.grid)
        guard !isLost(index) else { return }
        // A few requests arrive long after they were given up.
        let late: Int64 =
            now < lastFault && random.next() % 64 == 0 ? Self.grid * .random(in: 15...80, using: &random) : delay()
        if late > 200 { processes[index].lastFault = now + late }
        add(.arrival(index, request: request, action, sentAt: now), at: now + late)
    }

    /// Whether a message of or for a process is lost.
    private mutating func isLost(_ index: Int) -> Bool {
        guard processes[index].isCut || (now < lastFault && random.next() % 64 == 0) else { return false }
        processes[index].lastFault = now
        return true
    }

    private mutating func execute(_ action: ClusterMember.Action, of index: Int, request: Int, sentAt: Int64) {
        guard outages == 0 else { return }
        if processes[index].usesFormerPrimary, formerPrimary != nil {
            return executeOnFormerPrimary(action, of: index, request: request)
        }
        switch action {
        case .read:
            let snapshot = readable(by: index)
            guard !isLost(index) else { return }
            add(.received(index, request: request, snapshot), at: now + delay())
        case .write(let write):
            let before = write.fences.isEmpty && write.claims.isEmpty ? nil : store
            let result = store.apply(write, rules: rules)
            if case .accepted = result {
                if let before { checkCommit(of: write, by: index, sentAt: sentAt, before: before) }
                if hasHistory { history.append((now, store)) }
            }
            guard !isLost(index) else { return }
            let late = delay()
            if late > 200 { processes[index].lastFault = now + late }
            add(.written(index, request: request, result), at: now + late)
        }
    }

    /// The former primary executes writes, and acknowledges none: no standby confirms them.
    private mutating func executeOnFormerPrimary(_ action: ClusterMember.Action, of index: Int, request: Int) {
        processes[index].lastFault = now
        switch action {
        case .read:
            guard let snapshot = formerPrimary?.snapshot else { return }
            add(.received(index, request: request, snapshot), at: now + delay())
        case .write(let write):
            guard let result = formerPrimary?.apply(write, rules: rules) else { return }
            guard result == .rejected || rules.acknowledgesAlone else { return }
            add(.written(index, request: request, result), at: now + delay())
        }
    }

    private mutating func readable(by index: Int) -> ClusterSnapshot {
        guard let lagSince else { return store.snapshot }
        processes[index].lastFault = now
        let bound = max(lagSince, now - Self.grid * .random(in: 0...40, using: &random))
        return (history.last { $0.time <= bound }?.state ?? store).snapshot
    }

    // MARK: Faults

    private mutating func begin(_ fault: Fault, of index: Int) {
        switch fault {
        case .stop: processes[index].isStopped = true
        case .crash: processes[index].isDead = true
        case .cut: processes[index].isCut = true
        case .outage: beginOutage()
        case .formerPrimary:
            formerPrimary = store
            for index in processes.indices where Bool.random(using: &random) {
                processes[index].usesFormerPrimary = true
                processes[index].lastFault = now
            }
        case .lag: lagSince = now - 2000
        case .restore:
            restorePoint = history.last { $0.time <= now - Self.grid * .random(in: 0...60, using: &random) }?.state
            beginOutage()
        case .doubleName:
            addProcess(of: 0, at: now)
        }
        processes[index].lastFault = now
    }

    private mutating func end(_ fault: Fault, of index: Int) {
        switch fault {
        case .stop:
            processes[index].isStopped = false
            for event in processes[index].delayed.shuffled(using: &random) { add(event, at: now) }
            processes[index].delayed = []
        case .crash:
            let old = processes[index].member.lease.identity.incarnation
            addProcess(of: processes[index].node, at: now, predecessors: [old])
        case .cut: processes[index].isCut = false
        case .outage: endOutage()
        case .formerPrimary:
            formerPrimary = nil
            for index in processes.indices { processes[index].usesFormerPrimary = false }
        case .lag: lagSince = nil
        case .restore:
            endOutage()
            guard let restorePoint else { break }
            store = restorePoint
            history = [(now, store)]
            highest = Dictionary(uniqueKeysWithValues: store.tenures.map { ($0.room, $0.fence) })
        case .doubleName:
            processes[processes.count - 1].isDead = true
        }
        processes[index].lastFault = now
    }

    private mutating func beginOutage() {
        if outages == 0 { lastOutage = (now, .max) }
        outages += 1
    }

    private mutating func endOutage() {
        outages -= 1
        if outages == 0 { lastOutage.end = now }
    }

    // MARK: Invariants

    private mutating func checkCommit(of write: NodeWrite, by index: Int, sentAt: Int64, before: ClusterState) {
        for (position, status) in store.nodes.enumerated() where position < before.nodes.count {
            guard status.isFenced, !before.nodes[position].isFenced,
                let victim = processes.firstIndex(where: { $0.member.lease.identity == status.identity && !$0.isDead })
            else { continue }
            if now - processes[victim].lastFault > 6000 { violations.insert(.healthyFenced) }
        }
        for tenure in store.tenures {
            let old = before.tenures.first { $0.room == tenure.room }
            guard tenure != old, tenure.owner == write.identity else { continue }
            let bound = max(highest[tenure.room] ?? 0, delivered[tenure.room] ?? 0)
            let given = rules.forgetsFence ? max((old?.fence ?? 0) + 1, write.fenceFloor) : tenure.fence
            if given <= bound { violations.insert(.fenceNotHigher) }
            highest[tenure.room] = max(highest[tenure.room] ?? 0, given)
            guard let owner = old?.owner, owner != write.identity else { continue }
            takeovers += 1
            // An earlier process of the same node that does not run any more needs no wait.
            let isRunning = processes.contains { !$0.isDead && $0.member.lease.identity == owner }
            if owner.node == write.identity.node, !isRunning { continue }
            // A node with the fastest clock waits for 2 s, in which a silence of this length cannot escape it.
            let silence = min(lastOutage.end, sentAt) - max(lastOutage.begin, sentAt - 2000)
            if silence > 1200 { violations.insert(.takenInOutage) }
        }
    }

    /// Checks whether another process owns a room of this one now.
    private mutating func checkOwners(with index: Int) {
        for room in rooms where processes[index].member.fence(of: room, at: processes[index].local(now)) != nil {
            for other in processes.indices where other != index && !processes[other].isDead {
                guard processes[other].member.fence(of: room, at: processes[other].local(now)) != nil else { continue }
                violations.insert(.twoOwners)
            }
        }
    }

    /// Every room has an owner at the end if any process runs; the messages of the last seconds are lost at random only.
    private mutating func checkProgress() {
        guard processes.contains(where: { !$0.isDead }) else { return }
        for room in rooms {
            let isOwned = processes.contains { $0.member.fence(of: room, at: $0.local(now)) != nil && !$0.isDead }
            if !isOwned, store.tenures.contains(where: { $0.room == room && $0.owner != nil }) {
                violations.insert(.noOwner)
            }
        }
    }
}
