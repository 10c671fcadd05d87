import Media
import Stage
import Synchronization

/// What a push's thread shares with those who feed, watch and stop it.
final class PushCore: Sendable {
    private static let never = Int64.max
    /// The packet that ends a time of gathering comes a little early or late; a wake by it is cheaper than one by time.
    private static let gatheringSlack = 0.005

    let name: String
    private let main: PushAddress
    private let spare: PushAddress?
    let policy: TargetPolicy
    let configuration: PushConfiguration
    let wake = WakeSignal()
    /// Ends the waits of the thread that looks at the spare address.
    let spareWake = WakeSignal()
    /// The thread is gone; nothing of the push is left but its numbers.
    let ended = Latch(false)

    private let onChange: @Sendable (OutputStatus) -> Void
    private let machine: Mutex<PushStateMachine>
    private let inbox: Mutex<PushInbox>
    private let announced = Mutex<OutputStatus?>(nil)
    /// The connection under way, for `stop` to end.
    private let guardian = Mutex<SocketGuard?>(nil)
    /// The same for a look at the spare address, of which nobody is told farewell.
    private let spareGuardian = Mutex<SocketGuard?>(nil)
    /// Nobody looks at the spare address.
    private let isSpareLeft = Latch(true)
    private let stopping = Atomic<Bool>(false)
    private let isHurried = Atomic<Bool>(false)
    /// From this moment (monotonic nanoseconds) on, whoever brings a packet that should go out wakes the thread.
    private let wakesFrom = Atomic<Int64>(never)
    private let sent = Atomic<UInt64>(0)
    private let cpu = Atomic<UInt64>(0)

    init(
        name: String,
        address: PushAddress,
        spare: PushAddress?,
        policy: TargetPolicy,
        configuration: PushConfiguration,
        onChange: @escaping @Sendable (OutputStatus) -> Void
    ) {
        self.name = name
        main = address
        self.spare = spare
        self.policy = policy
        self.configuration = configuration
        self.onChange = onChange
        machine = Mutex(PushStateMachine(configuration: configuration, hasSpare: spare != nil))
        inbox = Mutex(PushInbox(limits: configuration.queueWhileGathering))
    }

    /// The address in use, or to be tried next.
    var address: PushAddress { address(onSpare: machine.withLock { $0.isOnSpare }) }

    private func address(onSpare isOnSpare: Bool) -> PushAddress { isOnSpare ? spare ?? main : main }

    var isStopping: Bool { stopping.load(ordering: .acquiring) }

    var status: OutputStatus {
        let (dropped, queued) = inbox.withLock { ($0.dropped, $0.bytes) }
        return machine.withLock { machine in
            OutputStatus(
                name: name,
                url: main.masked,
                maskedStreamKey: address(onSpare: machine.isOnSpare).maskedStreamKey,
                state: machine.reported,
                bytesSent: sent.load(ordering: .relaxed),
                droppedFrames: dropped,
                reconnects: machine.reconnects,
                lastFault: machine.lastFault,
                spareURL: spare?.masked,
                isOnSpare: machine.isOnSpare,
                spareFault: machine.spareFault,
                reconnectReasons: machine.reconnectReasons,
                queuedBytes: queued,
                isSlow: machine.isSlow
            )
        }
    }

    /// Packets and bytes that wait.
    var backlog: (packets: Int, bytes: Int) { inbox.withLock { ($0.count, $0.bytes) } }

    /// CPU nanoseconds the thread has used, as of about a second ago.
    var cpuNanoseconds: UInt64 { cpu.load(ordering: .relaxed) }

    // MARK: - For the feed and the owner, any thread

    func receive(_ packet: MediaPacket) {
        // Sound alone does not wake the thread: it goes out with the next picture, or with the next few sounds.
        let (isUrgent, isFull) = inbox.withLock { inbox in
            inbox.receive(packet)
            return (packet.isVideo || inbox.count >= 4, inbox.bytes >= configuration.gatheredBytes)
        }
        guard isUrgent else { return }
        let moment = wakesFrom.load(ordering: .sequentiallyConsistent)
        guard moment != Self.never, isFull || moment == 0 || MonotonicTime.now().nanoseconds >= moment else { return }
        if wakesFrom.exchange(Self.never, ordering: .sequentiallyConsistent) != Self.never { wake.wake() }
    }

    /// Ends the push; true when its thread will still report that.
    func stop() {
        guard !stopping.exchange(true, ordering: .sequentiallyConsistent) else { return }
        _ = machine.withLock { $0.stop() }
        let farewell = MonotonicTime.now().advanced(seconds: configuration.farewell)
        guardian.withLock { $0?.endAll(at: farewell) }
        wake.wake()
        spareGuardian.withLock { $0?.shut() }
        spareWake.wake()
    }

    /// Ends the wait for the next try, if there is one under way.
    func hurry() {
        isHurried.store(true, ordering: .sequentiallyConsistent)
        wake.wake()
    }

    // MARK: - For the push's thread

    func advance(_ event: (inout PushStateMachine) -> PushStateMachine.Action) -> PushStateMachine.Action {
        let action = machine.withLock { event(&$0) }
        announce()
        return action
    }

    /// Whether somebody wants the next try now; said once.
    func takesHurry() -> Bool {
        isHurried.exchange(false, ordering: .sequentiallyConsistent)
    }

    func accepted(now: MonotonicTime) {
        machine.withLock { $0.accepted(now: now) }
        announce()
    }

    /// Tells the owner what changed since it was last told; numbers alone are no change.
    ///
    /// Any of the push's threads.
    func announce() {
        let news: OutputStatus? = announced.withLock { last in
            let status = status
            if let last, last.state == status.state, last.lastFault == status.lastFault,
                last.isOnSpare == status.isOnSpare, last.spareFault == status.spareFault,
                last.isSlow == status.isSlow
            {
                return nil
            }
            last = status
            return status
        }
        if let news { onChange(news) }
    }

    func watch(_ connection: SocketGuard?) {
        guardian.withLock { $0 = connection }
    }

    /// Has somebody look at the spare address, if there is one; without a thread to spare it is met unseen.
    func beginWatchingSpare() {
        guard let spare else { return }
        isSpareLeft.update { $0 = false }
        let isRunning = spawnThread(named: "spare-\(name)") { [self] in
            SpareRun(core: self, address: spare).run()
            isSpareLeft.update { $0 = true }
        }
        if !isRunning { isSpareLeft.update { $0 = true } }
    }

    /// Waits for the end of a look that is under way, which `stop` has cut short.
    func endWatchingSpare() {
        let deadline = MonotonicTime.now().advanced(seconds: configuration.farewell)
        _ = isSpareLeft.wait(until: deadline) { $0 ? true : nil }
    }

    /// What the next connection begins with, if it can begin.
    func begin(withoutVideo: Bool) -> [MediaPacket]? {
        inbox.withLock { $0.canBegin(withoutVideo: withoutVideo) ? $0.begin() : nil }
    }

    func endStreaming() {
        inbox.withLock { $0.end() }
    }

    /// See `PushInbox.take`; also whether none is left.
    func take(room: Int?, capacity: Int) -> (packets: [MediaPacket], isEmpty: Bool) {
        inbox.withLock { inbox in
            let packets = inbox.take(room: room, capacity: capacity)
            return (packets, inbox.count == 0)
        }
    }

    /// What besides the socket, the time and `stop` ends a sleep.
    enum Interest {
        /// Nothing else.
        case none
        /// The next packet.
        case packets
        /// A packet that comes when the sleep is nearly over, or many bytes; the time, if none of these.
        case gathered
    }

    /// Waits for packets, for the socket or for `stop`; true when the socket wants to be read.
    func sleep(socket: Int32, milliseconds: Int32, until interest: Interest) -> Bool {
        var milliseconds = milliseconds
        switch interest {
        case .none: break
        case .packets:
            wakesFrom.store(0, ordering: .sequentiallyConsistent)
            // A packet may have come between the last look and the flag.
            if backlog.packets > 0 { milliseconds = 0 }
        case .gathered:
            let moment = MonotonicTime.now().advanced(seconds: Double(milliseconds) / 1000 - Self.gatheringSlack)
            wakesFrom.store(moment.nanoseconds, ordering: .sequentiallyConsistent)
            if backlog.bytes >= configuration.gatheredBytes { milliseconds = 0 }
        }
        let ready = wake.wait(socket: socket, milliseconds: milliseconds)
        wakesFrom.store(Self.never, ordering: .relaxed)
        if ready.isWoken { wake.clear() }
        return ready.isReadable
    }

    /// Looks whether the target keeps up with the program; throws when it is to be left.
    func lookAtDrops(now: MonotonicTime) throws(PushError) {
        let pictures = inbox.withLock { $0.pictures }
        guard let change = machine.withLock({ $0.look(at: pictures, now: now) }) else { return }
        guard change == .isHopeless else { return announce() }
        let drops = configuration.drops
        let seconds = Int((drops.window * Double(drops.endurance)).rounded())
        throw PushError(.stalled, "the target is too slow: it took less than half of the pictures for \(seconds) s")
    }

    func countSent(_ bytes: Int) {
        sent.wrappingAdd(UInt64(bytes), ordering: .relaxed)
    }

    func setCPU(_ nanoseconds: UInt64) {
        cpu.store(nanoseconds, ordering: .relaxed)
    }

    // MARK: - For the thread that looks at the spare address

    func spareStep(now: MonotonicTime) -> SpareWatch.Step {
        machine.withLock { $0.spareStep(now: now) }
    }

    func spareLooked(_ error: PushError?, now: MonotonicTime, chance: Double) {
        machine.withLock { $0.spareLooked(error, now: now, chance: chance) }
        announce()
    }

    func watchSpare(_ connection: SocketGuard?) {
        spareGuardian.withLock { $0 = connection }
    }
}
