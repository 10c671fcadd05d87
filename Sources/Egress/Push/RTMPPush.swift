public import Media
public import Stage
import Synchronization

/// Pushes one program to one RTMP target and reconnects until stopped.
///
/// librtmp's blocking calls run on the push's own thread, so a target never delays the feed: `receive` only appends to
/// a bounded queue. A connection begins with metadata, configuration and the last keyframe, at timestamp 0. Failed
/// connections are retried with exponential backoff and jitter.
public final class RTMPPush: Sendable, PacketSink {
    private let core: PushCore
    private let wasStarted = Mutex(false)

    /// Makes a push that does nothing until `start`.
    ///
    /// - Parameters:
    ///   - name: The operator's name for the output; also names the thread.
    ///   - spare: The backup address, used when `address` loses the stream or fails repeatedly, and the reverse. It is
    ///     probed periodically before it is needed.
    ///   - onChange: Called on a thread of the push when the state, the last error or the backup's state changes; must
    ///     return soon.
    public init(
        name: String,
        address: PushAddress,
        spare: PushAddress? = nil,
        policy: TargetPolicy,
        configuration: PushConfiguration = .init(),
        onChange: @escaping @Sendable (OutputStatus) -> Void = { _ in }
    ) {
        EgressLibraries.initialise()
        core = PushCore(
            name: name,
            address: address,
            spare: spare,
            policy: policy,
            configuration: configuration,
            onChange: onChange
        )
    }

    deinit { stop() }

    /// Starts connecting; packets may be received before.
    ///
    /// Later calls do nothing.
    public func start() {
        let isFirst = wasStarted.withLock { started in
            defer { started = true }
            return !started
        }
        guard isFirst else { return }
        let core = core
        let thread = WorkerThread(name: "push-\(core.name)", stackSize: WorkerThread.smallStack) {
            PushRun(core: core).run()
        }
        guard thread.hasStarted else {
            _ = core.advance { $0.start(now: .now()) }
            _ = core.advance { $0.failed(PushError(.local, "no thread left"), now: .now(), chance: 0) }
            core.ended.update { $0 = true }
            return
        }
    }

    /// Receives one packet of the program.
    ///
    /// Never blocks, on any thread.
    public func receive(_ packet: MediaPacket) {
        core.receive(packet)
    }

    /// Retries now instead of after the backoff; does nothing while connected.
    public func retry() {
        core.requestRetry()
    }

    /// Ends the push permanently; returns at once.
    ///
    /// A connected target receives the closing messages within half a second, in the background.
    public func stop() {
        core.stop()
        let neverRan = wasStarted.withLock { started in
            defer { started = true }
            return !started
        }
        guard neverRan else { return }
        core.announce()
        core.ended.update { $0 = true }
    }

    /// Waits until a stopped push has closed its connection; returns false when `deadline` passed first.
    public func waitUntilEnded(deadline: MonotonicTime) -> Bool {
        core.ended.wait(until: deadline) { $0 ? true : nil } ?? false
    }

    /// The current status of the output.
    public var status: OutputStatus { core.status }

    /// Queued packets and body bytes.
    public var backlog: (packets: Int, bytes: Int) { core.backlog }

    /// CPU seconds the push's thread has used, up to a second old; for benchmarks.
    public var cpuSeconds: Double { Double(core.cpuNanoseconds) / 1e9 }
}
