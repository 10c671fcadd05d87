import Dispatch
import Glibc
import Media
import NIOCore
import RTMP
import Synchronization

/// Reads how busy the machine and the gateway's processes are.
///
/// Everything is read on a queue of its own, at most once per second however many ask. Without readers only the gateway's
/// own counters of bytes are read, every few seconds, so that the first reader learns their rates.
final class SystemMonitor: Sendable {
    /// What the gateway itself counts.
    struct Counters: Sendable {
        /// The mixers' process ids by room.
        var mixers: [String: Int32] = [:]
        /// Bytes sent to viewers by source, such as a room's feed; a source may end or begin again from 0.
        var sent: [String: UInt64] = [:]
        /// Bytes sent to outputs, likewise.
        var pushed: [String: UInt64] = [:]
    }

    /// One reading.
    struct Sample: Sendable {
        var time: MonotonicTime
        var machine: ProcessorTimes?
        var gateway: ProcessTimes?
        var mixers: [String: Mixer] = [:]

        struct Mixer: Sendable {
            var pid: Int32
            var times: ProcessTimes?
        }
    }

    /// The seconds for which a reading is returned again.
    static let cacheSeconds = 1.0
    /// The age in seconds beyond which a reading says too little of the present to begin with it.
    private static let longestSpan = 15.0
    /// The seconds between two readings when there is no recent one.
    private static let shortestSpan = 0.25
    /// The seconds after which a disk counts as not answering.
    private static let diskTimeout = 0.5

    private struct State {
        var last: Sample?
        var figures: SystemFigures?
        var disks: [DiskSpace] = []
        var isReadingDisks = false
        var sent = TransferRate()
        var pushed = TransferRate()
    }

    private let counters: @Sendable () -> Counters
    private let clock: any MonotonicClock
    private let folders: [(name: String, path: String)]
    private let queue = DispatchQueue(label: "footlight.system", qos: .utility)
    /// Apart, because a disk may hang, which the other figures must survive.
    private let diskQueue = DispatchQueue(label: "footlight.system.disk", qos: .utility)
    private let state = Mutex(State())

    /// - Parameters:
    ///   - folders: The folders whose disks are read, with what they hold.
    ///   - clock: The clock of the transfer rates.
    ///   - counters: Returns what the gateway itself counts.
    init(
        folders: [(name: String, path: String)],
        clock: any MonotonicClock = SystemClock(),
        counters: @escaping @Sendable () -> Counters
    ) {
        self.folders = folders
        self.clock = clock
        self.counters = counters
    }

    /// Reads the counters of sent bytes; to be called every few seconds.
    func measureTransfers() {
        _ = transferRates(counters())
    }

    /// Returns the bytes per second to viewers and to outputs; nil where unknown.
    private func transferRates(_ counters: Counters) -> (sent: Double?, pushed: Double?) {
        state.withLock { state in
            let now = clock.now
            return (state.sent.add(counters.sent, at: now), state.pushed.add(counters.pushed, at: now))
        }
    }

    /// Returns the present figures; takes a quarter of a second if nobody has asked for a while.
    func figures() async -> SystemFigures {
        await withCheckedContinuation { done in
            queue.async { done.resume(returning: self.read()) }
        }
    }

    /// Reads on the queue, or returns what was read within the last second.
    private func read() -> SystemFigures {
        let (last, cached) = state.withLock { ($0.last, $0.figures) }
        let now = MonotonicTime.now()
        let age = last.map { now.seconds(since: $0.time) } ?? .infinity
        if let cached, age < Self.cacheSeconds { return cached }
        let earlier: Sample
        if let last, age <= Self.longestSpan {
            earlier = last
        } else {
            earlier = sample(counters())
            usleep(UInt32(Self.shortestSpan * 1e6))
        }
        let counters = counters()
        let sample = sample(counters)
        var figures = SystemFigures(from: earlier, to: sample, cores: System.coreCount)
        (figures.sent, figures.pushed) = transferRates(counters)
        figures.memory = MemoryUsage.current()
        figures.descriptors = OpenDescriptors.count()
        figures.descriptorLimit = DescriptorLimit.current
        (figures.disks, figures.isDiskLate) = readDisks()
        state.withLock { state in
            state.last = sample
            state.figures = figures
        }
        return figures
    }

    private func sample(_ counters: Counters) -> Sample {
        func times(_ process: String) -> ProcessTimes? {
            MemoryUsage.text("/proc/\(process)/stat").flatMap { ProcessTimes(stat: $0) }
        }
        return Sample(
            time: .now(),
            machine: MemoryUsage.text("/proc/stat").flatMap { ProcessorTimes(stat: $0) },
            gateway: times("self"),
            mixers: counters.mixers.mapValues { Sample.Mixer(pid: $0, times: times("\($0)")) }
        )
    }

    /// Returns the space of the disks, and whether a disk does not answer; that space is then of an earlier reading.
    private func readDisks() -> (disks: [DiskSpace], isLate: Bool) {
        let mayRead = state.withLock { state in
            defer { state.isReadingDisks = true }
            return !state.isReadingDisks
        }
        if mayRead {
            let done = DispatchSemaphore(value: 0)
            diskQueue.async { [self] in
                let disks = DiskSpace.read(folders)
                state.withLock { state in
                    state.disks = disks
                    state.isReadingDisks = false
                }
                done.signal()
            }
            _ = done.wait(timeout: .now() + Self.diskTimeout)
        }
        return state.withLock { ($0.disks, $0.isReadingDisks) }
    }
}

/// How busy the machine and the gateway's processes are.
struct SystemFigures: Sendable {
    /// A mixer process.
    struct Mixer: Sendable, Equatable {
        var room: String
        var pid: Int32
        /// The cores in use; nil if unknown.
        var cores: Double?
        /// The memory in use in bytes; nil if unknown.
        var memory: Int?
    }

    var cores: Int
    /// The part of all cores that is in use, from 0 to 1; nil if unknown.
    var machine: Double?
    /// The part of all cores that the gateway's process uses.
    var gateway: Double?
    /// The memory of the gateway's process in bytes.
    var gatewayMemory: Int?
    /// Bytes per second to viewers; nil if unknown.
    var sent: Double?
    /// Bytes per second to outputs; nil if unknown.
    var pushed: Double?
    /// Sorted by room.
    var mixers: [Mixer]
    var memory: MemoryUsage?
    var descriptors: Int?
    var descriptorLimit = 0
    var disks: [DiskSpace] = []
    /// Whether a disk does not answer.
    var isDiskLate = false

    /// Computes the figures of the time between two readings.
    init(from earlier: SystemMonitor.Sample, to later: SystemMonitor.Sample, cores: Int) {
        let seconds = later.time.seconds(since: earlier.time)
        self.cores = cores
        machine = earlier.machine.flatMap { before in later.machine.flatMap { $0.use(since: before) } }
        gateway = earlier.gateway.flatMap { before in
            later.gateway?.cores(since: before, seconds: seconds).map { min($0 / Double(max(cores, 1)), 1) }
        }
        gatewayMemory = later.gateway?.bytes
        mixers = later.mixers.sorted { $0.key < $1.key }.map { room, mixer in
            // A restarted mixer begins to count anew.
            let before = earlier.mixers[room].flatMap { $0.pid == mixer.pid ? $0.times : nil }
            return Mixer(
                room: room,
                pid: mixer.pid,
                cores: before.flatMap { mixer.times?.cores(since: $0, seconds: seconds) },
                memory: mixer.times?.bytes
            )
        }
    }
}
