public import Media
public import Stage
import Synchronization

/// Pushes one program to one RTMP target, and keeps at it until stopped.
///
/// It owns one thread, on which librtmp's blocking calls happen; nothing a target does is felt by whoever feeds it.
/// `receive` only puts a packet into a bounded queue. A connection begins with metadata, configuration and the last
/// key picture, at timestamp 0. Faults lead to new tries with growing, jittered delays.
public final class RTMPPush: Sendable, PacketSink {
    private let core: PushCore
    private let wasStarted = Mutex(false)

    /// A push that does nothing until `start`.
    ///
    /// - Parameters:
    ///   - name: The operator's name for the output; also names the thread.
    ///   - spare: Where to go when `address` loses the stream, or fails again and again, and back from there likewise; a
    ///     connection begins there as it would at `address`. It is looked at from time to time before it is needed.
    ///   - onChange: Called on a thread of the push's own when the state, the last error or what is known of the spare
    ///     changes; must return soon.
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

    /// Begins to connect; packets may have been received before.
    ///
    /// Later calls do nothing.
    public func start() {
        let isFirst = wasStarted.withLock { started in
            defer { started = true }
            return !started
        }
        guard isFirst else { return }
        let core = core
        guard spawnThread(named: "push-\(core.name)", { PushRun(core: core).run() }) else {
            _ = core.advance { $0.start(now: .now()) }
            _ = core.advance { $0.failed(PushError(.local, "no thread left"), now: .now(), chance: 0) }
            core.ended.update { $0 = true }
            return
        }
    }

    /// Takes one packet of the program.
    ///
    /// Never blocks, on any thread.
    public func receive(_ packet: MediaPacket) {
        core.receive(packet)
    }

    /// Makes the next try now rather than when it is due; does nothing while the target has the stream.
    public func retry() {
        core.hurry()
    }

    /// Ends the push for good; returns at once.
    ///
    /// A connected target is told, within half a second, in the background.
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

    /// Waits until a stopped push has let go of its connection; false when `deadline` came first.
    public func waitUntilEnded(deadline: MonotonicTime) -> Bool {
        core.ended.wait(until: deadline) { $0 ? true : nil } ?? false
    }

    /// How the output is doing now.
    public var status: OutputStatus { core.status }

    /// Packets and body bytes that wait to be sent.
    public var backlog: (packets: Int, bytes: Int) { core.backlog }

    /// CPU seconds the push's thread has used, up to a second old; for benchmarks.
    public var cpuSeconds: Double { Double(core.cpuNanoseconds) / 1e9 }
}
