import Media
import Stage
import Synchronization

/// The state that a push's thread shares with its feed, its owner and its monitors.
final class PushCore: Sendable {
    private static let never = Int64.max
    /// The tolerance of the gathering time in seconds: waking on a packet is cheaper than on a timer.
    private static let gatheringSlack = 0.005

    let name: String
    private let main: PushAddress
    private let spare: PushAddress?
    let policy: TargetPolicy
    let configuration: PushConfiguration
    let wake = WakeSignal()
    /// Wakes the thread that probes the backup address.
    let spareWake = WakeSignal()
    /// Whether the thread has ended.
    let ended = Latch(false)

    private let onChange: @Sendable (OutputStatus) -> Void
    private let machine: Mutex<PushStateMachine>
    private let inbox: Mutex<PushInbox>
    private let announced = Mutex<OutputStatus?>(nil)
    /// The current connection, for `stop` to end.
    private let socketGuard = Mutex<SocketGuard?>(nil)
    /// The current probe of the backup address, which ends without a farewell.
    private let backupGuard = Mutex<SocketGuard?>(nil)
    /// Whether no probe thread runs.
    private let isBackupProbeEnded = Latch(true)
    private let stopping = Atomic<Bool>(false)
    private let isRetryRequested = Atomic<Bool>(false)
    /// The time (monotonic nanoseconds) from which a packet wakes the thread.
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
    var address: PushAddress { address(onBackup: machine.withLock { $0.usesBackup }) }

    private func address(onBackup usesBackup: Bool) -> PushAddress { usesBackup ? spare ?? main : main }

    var isStopping: Bool { stopping.load(ordering: .acquiring) }

    var status: OutputStatus {
        let (dropped, queued) = inbox.withLock { ($0.dropped, $0.bytes) }
        return machine.withLock { machine in
            OutputStatus(
                name: name,
                url: main.masked,
                maskedStreamKey: address(onBackup: machine.usesBackup).maskedStreamKey,
                state: machine.reported,
                bytesSent: sent.load(ordering: .relaxed),
                droppedFrames: dropped,
                reconnects: machine.reconnects,
                lastFault: machine.lastFault,
                backupURL: spare?.masked,
                usesBackup: machine.usesBackup,
                backupFault: machine.backupFault,
                reconnectReasons: machine.reconnectReasons,
                queuedBytes: queued,
                isSlow: machine.isSlow
            )
        }
    }

    /// Packets and bytes in the queue.
    var backlog: (packets: Int, bytes: Int) { inbox.withLock { ($0.count, $0.bytes) } }

    /// CPU nanoseconds the thread has used, updated about once a second.
    var cpuNanoseconds: UInt64 { cpu.load(ordering: .relaxed) }

    // MARK: - For the feed and the owner, any thread

    func receive(_ packet: MediaPacket) {
        // Audio alone does not wake the thread: it is sent with the next frame, or after a few audio frames.
        let (isUrgent, isFull) = inbox.withLock { inbox in
            inbox.receive(packet)
            return (packet.isVideo || inbox.count >= 4, inbox.bytes >= configuration.gatheredBytes)
        }
        guard isUrgent else { return }
        let moment = wakesFrom.load(ordering: .sequentiallyConsistent)
        guard moment != Self.never, isFull || moment == 0 || MonotonicTime.now().nanoseconds >= moment else { return }
        if wakesFrom.exchange(Self.never, ordering: .sequentiallyConsistent) != Self.never { wake.wake() }
    }

    /// Ends the push.
    func stop() {
        guard !stopping.exchange(true, ordering: .sequentiallyConsistent) else { return }
        _ = machine.withLock { $0.stop() }
        let farewell = MonotonicTime.now().advanced(seconds: configuration.farewell)
        socketGuard.withLock { $0?.endAll(at: farewell) }
        wake.wake()
        backupGuard.withLock { $0?.shut() }
        spareWake.wake()
    }

    /// Ends the wait for the next attempt, if there is one.
    func requestRetry() {
        isRetryRequested.store(true, ordering: .sequentiallyConsistent)
        wake.wake()
    }

    // MARK: - For the push's thread

    func advance(_ event: (inout PushStateMachine) -> PushStateMachine.Action) -> PushStateMachine.Action {
        let action = machine.withLock { event(&$0) }
        announce()
        return action
    }

    /// Returns whether an immediate retry was requested, and clears the request.
    func consumeRetryRequest() -> Bool {
        isRetryRequested.exchange(false, ordering: .sequentiallyConsistent)
    }

    func accepted(now: MonotonicTime) {
        machine.withLock { $0.accepted(now: now) }
        announce()
    }

    /// Reports the status to the owner unless only counters have changed.
    ///
    /// Called on any of the push's threads.
    func announce() {
        let news: OutputStatus? = announced.withLock { last in
            let status = status
            if let last, last.state == status.state, last.lastFault == status.lastFault,
                last.usesBackup == status.usesBackup, last.backupFault == status.backupFault,
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
        socketGuard.withLock { $0 = connection }
    }

    /// Starts the thread that probes the backup address, if there is one; without a thread it is not probed.
    func startBackupProbe() {
        guard let spare else { return }
        isBackupProbeEnded.update { $0 = false }
        let thread = WorkerThread(name: "spare-\(name)", stackSize: WorkerThread.smallStack) { [self] in
            BackupProbe(core: self, address: spare).run()
            isBackupProbeEnded.update { $0 = true }
        }
        if !thread.hasStarted { isBackupProbeEnded.update { $0 = true } }
    }

    /// Waits for the end of the probe thread, which `stop` has interrupted.
    func waitForBackupProbe() {
        let deadline = MonotonicTime.now().advanced(seconds: configuration.farewell)
        _ = isBackupProbeEnded.wait(until: deadline) { $0 ? true : nil }
    }

    /// Returns the first packets of a connection, if it can begin.
    func begin(withoutVideo: Bool) -> [MediaPacket]? {
        inbox.withLock { $0.canBegin(withoutVideo: withoutVideo) ? $0.begin() : nil }
    }

    func endStreaming() {
        inbox.withLock { $0.end() }
    }

    /// Calls `PushInbox.take` and returns whether the queue is empty afterwards.
    func popFirst(room: Int?, capacity: Int) -> (packets: [MediaPacket], isEmpty: Bool) {
        inbox.withLock { inbox in
            let packets = inbox.popFirst(room: room, capacity: capacity)
            return (packets, inbox.count == 0)
        }
    }

    /// The events that end a sleep, in addition to the socket, the timeout and `stop`.
    enum Interest {
        /// No further event.
        case none
        /// The next packet.
        case packets
        /// A packet near the end of the sleep, or enough bytes.
        case gathered
    }

    /// Waits for packets, the socket or `stop`; returns whether the socket is readable.
    func sleep(socket: Int32, milliseconds: Int32, until interest: Interest) -> Bool {
        var milliseconds = milliseconds
        switch interest {
        case .none: break
        case .packets:
            wakesFrom.store(0, ordering: .sequentiallyConsistent)
            // A packet may have arrived before the flag was set.
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

    /// Checks whether the target keeps up with the program; throws when the connection should be closed.
    func updateDropMonitor(now: MonotonicTime) throws(PushError) {
        let frames = inbox.withLock { $0.frames }
        guard let change = machine.withLock({ $0.update(with: frames, now: now) }) else { return }
        guard change == .isFailing else { return announce() }
        let drops = configuration.drops
        let seconds = Int((drops.window * Double(drops.endurance)).rounded())
        throw PushError(.stalled, "the target is too slow: it accepted less than half of the frames for \(seconds) s")
    }

    func countSent(_ bytes: Int) {
        sent.wrappingAdd(UInt64(bytes), ordering: .relaxed)
    }

    func setCPU(_ nanoseconds: UInt64) {
        cpu.store(nanoseconds, ordering: .relaxed)
    }

    // MARK: - For the thread that looks at the spare address

    func backupStep(now: MonotonicTime) -> BackupState.Step {
        machine.withLock { $0.backupStep(now: now) }
    }

    func backupProbed(_ error: PushError?, now: MonotonicTime, chance: Double) {
        machine.withLock { $0.backupProbed(error, now: now, chance: chance) }
        announce()
    }

    func watchSpare(_ connection: SocketGuard?) {
        backupGuard.withLock { $0 = connection }
    }
}
