public import NIOCore
import Synchronization

/// Counts accepted connections and rejects those beyond the descriptor limits.
///
/// All connections share one limit; viewers have a lower one, which reserves descriptors for hosts and for undecided
/// connections. All public listeners share one gate. Thread-safe.
public final class ConnectionGate: Sendable {
    /// The use of a listener's connections.
    public enum Purpose: Sendable {
        /// HTTP: each connection counts as a viewer while it is open.
        case viewers
        /// RTMP: a connection counts as a viewer once it plays.
        case undecided
    }

    /// The number of rejected connections still closing beyond which accepting is suspended.
    private static let slack = 16

    /// The maximum number of connections.
    public let limit: Int
    /// The maximum number of viewer connections.
    public let viewerLimit: Int
    private let openCount = Atomic<Int>(0)
    private let viewerCount = Atomic<Int>(0)
    private let refusals = Atomic<UInt64>(0)
    private let isClosed = Atomic<Bool>(false)

    /// Creates a gate.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of connections.
    ///   - viewers: The maximum number of viewer connections among them.
    public init(limit: Int, viewers: Int) {
        self.limit = limit
        viewerLimit = viewers
    }

    /// The number of open connections, including those rejected but not closed yet.
    public var connections: Int { openCount.load(ordering: .relaxed) }

    /// The number of viewer connections.
    public var viewers: Int { viewerCount.load(ordering: .relaxed) }

    /// The number of connections and players rejected for lack of capacity.
    public var refused: UInt64 { refusals.load(ordering: .relaxed) }

    /// Whether the next viewer would be rejected.
    public var isFull: Bool { viewers >= viewerLimit || connections >= limit || isClosed.load(ordering: .relaxed) }

    /// Starts or stops rejecting every connection, regardless of the counts.
    public func setClosed(_ isClosed: Bool) {
        self.isClosed.store(isClosed, ordering: .relaxed)
    }

    /// Occupies a viewer slot.
    ///
    /// - Returns: Whether one was available; `viewerLeft` releases it.
    public func admitsViewer() -> Bool {
        guard viewerCount.add(1, ordering: .relaxed).newValue <= viewerLimit else {
            viewerCount.subtract(1, ordering: .relaxed)
            refusals.add(1, ordering: .relaxed)
            return false
        }
        return true
    }

    /// Releases a viewer slot.
    public func viewerLeft() {
        viewerCount.subtract(1, ordering: .relaxed)
    }

    /// Counts an accepted connection until it is closed.
    ///
    /// - Returns: Whether it is within the limits; the caller closes it otherwise.
    func admits(_ channel: any Channel, for purpose: Purpose) -> Bool {
        let open = openCount.add(1, ordering: .relaxed).newValue
        var isAdmitted = open <= limit && !isClosed.load(ordering: .relaxed)
        if !isAdmitted { refusals.add(1, ordering: .relaxed) }
        if isAdmitted, purpose == .viewers { isAdmitted = admitsViewer() }
        let occupiesSlot = isAdmitted && purpose == .viewers
        channel.closeFuture.whenComplete { [self] _ in
            openCount.subtract(1, ordering: .relaxed)
            if occupiesSlot { viewerLeft() }
        }
        return isAdmitted
    }

    /// Whether rejected connections accumulate faster than they close.
    fileprivate var isOverrun: Bool { connections - Self.slack > limit }
}

/// Checks each accepted connection with a `ConnectionGate` and closes those beyond the limits.
///
/// Placed first in the listening channel's pipeline, so that a rejected connection holds its descriptor only briefly.
public final class ConnectionGateHandler: ChannelDuplexHandler {
    /// Accepted connections.
    public typealias InboundIn = any Channel
    /// Connections within the limits.
    public typealias InboundOut = any Channel
    /// Listening channels have no outbound data.
    public typealias OutboundIn = Never
    /// Listening channels have no outbound data.
    public typealias OutboundOut = Never

    /// The interval between checks whether accepting may resume.
    private static let pause = TimeAmount.milliseconds(20)

    private let gate: ConnectionGate
    private let purpose: ConnectionGate.Purpose
    private var isReadSuspended = false

    /// Creates a handler for one listener.
    public init(_ gate: ConnectionGate, for purpose: ConnectionGate.Purpose) {
        self.gate = gate
        self.purpose = purpose
    }

    /// Forwards a connection or closes it.
    public func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let channel = unwrapInboundIn(data)
        guard gate.admits(channel, for: purpose) else {
            channel.close(promise: nil)
            return
        }
        context.fireChannelRead(data)
    }

    /// Accepts more connections, or waits while rejected ones are still closing.
    public func read(context: ChannelHandlerContext) {
        guard gate.isOverrun else { return context.read() }
        guard !isReadSuspended else { return }
        isReadSuspended = true
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: Self.pause) {
            let (handler, context) = bound.value
            handler.isReadSuspended = false
            if context.channel.isActive { handler.read(context: context) }
        }
    }
}
