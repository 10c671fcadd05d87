public import NIOCore
import Synchronization

/// Counts the connections that listeners have accepted, and refuses those that there are no descriptors for.
///
/// All connections together have a limit, and those of viewers a lower one: what lies between is for hosts and for peers
/// that have not said yet what they want. The listeners of strangers share one gate. Any thread.
public final class ConnectionGate: Sendable {
    /// What a listener accepts connections for.
    public enum Purpose: Sendable {
        /// HTTP: each connection is a viewer's as long as it is open.
        case viewers
        /// RTMP: a connection is a viewer's from the moment at which it plays.
        case undecided
    }

    /// Refused connections that may wait for their descriptors to be closed before nothing more is accepted.
    private static let slack = 16

    /// The most connections at a time.
    public let limit: Int
    /// The most connections of viewers at a time.
    public let viewerLimit: Int
    private let openCount = Atomic<Int>(0)
    private let viewerCount = Atomic<Int>(0)
    private let refusals = Atomic<UInt64>(0)
    private let isShut = Atomic<Bool>(false)

    /// Makes a gate.
    ///
    /// - Parameters:
    ///   - limit: The most connections at a time.
    ///   - viewers: The most connections of viewers among them.
    public init(limit: Int, viewers: Int) {
        self.limit = limit
        viewerLimit = viewers
    }

    /// Connections whose descriptors are open, those included that were refused a moment ago.
    public var connections: Int { openCount.load(ordering: .relaxed) }

    /// Connections of viewers.
    public var viewers: Int { viewerCount.load(ordering: .relaxed) }

    /// Connections that were closed, and players that were refused, because there was no room.
    public var refused: UInt64 { refusals.load(ordering: .relaxed) }

    /// Whether the next viewer is refused.
    public var isFull: Bool { viewers >= viewerLimit || connections >= limit || isShut.load(ordering: .relaxed) }

    /// Refuses every connection from now on, or no longer, whatever the counts say.
    public func shut(_ isShut: Bool) {
        self.isShut.store(isShut, ordering: .relaxed)
    }

    /// Takes a viewer's place.
    ///
    /// - Returns: Whether there was one; it is given back by `viewerLeft`.
    public func admitsViewer() -> Bool {
        guard viewerCount.add(1, ordering: .relaxed).newValue <= viewerLimit else {
            viewerCount.subtract(1, ordering: .relaxed)
            refusals.add(1, ordering: .relaxed)
            return false
        }
        return true
    }

    /// Gives a viewer's place back.
    public func viewerLeft() {
        viewerCount.subtract(1, ordering: .relaxed)
    }

    /// Counts a connection that was just accepted until it is closed.
    ///
    /// - Returns: Whether there is room for it; the caller closes one without.
    func admits(_ channel: any Channel, for purpose: Purpose) -> Bool {
        let open = openCount.add(1, ordering: .relaxed).newValue
        var isIn = open <= limit && !isShut.load(ordering: .relaxed)
        if !isIn { refusals.add(1, ordering: .relaxed) }
        if isIn, purpose == .viewers { isIn = admitsViewer() }
        let takesViewerPlace = isIn && purpose == .viewers
        channel.closeFuture.whenComplete { [self] _ in
            openCount.subtract(1, ordering: .relaxed)
            if takesViewerPlace { viewerLeft() }
        }
        return isIn
    }

    /// Whether refused connections pile up faster than they are closed.
    fileprivate var isOverrun: Bool { connections - Self.slack > limit }
}

/// Asks a `ConnectionGate` about each connection that a listener accepts, and closes what there is no room for.
///
/// It stands first in the pipeline of the listening channel, so that a connection without room costs its descriptor for
/// a moment only.
public final class ConnectionGateHandler: ChannelDuplexHandler {
    /// Accepted connections.
    public typealias InboundIn = any Channel
    /// Those of them that there is room for.
    public typealias InboundOut = any Channel
    /// Nothing is written to a listener.
    public typealias OutboundIn = Never
    /// Nothing is written to a listener.
    public typealias OutboundOut = Never

    /// From one look whether the listener may accept again to the next.
    private static let pause = TimeAmount.milliseconds(20)

    private let gate: ConnectionGate
    private let purpose: ConnectionGate.Purpose
    private var isHeld = false

    /// Makes one for a listener.
    public init(_ gate: ConnectionGate, for purpose: ConnectionGate.Purpose) {
        self.gate = gate
        self.purpose = purpose
    }

    /// Passes a connection on, or closes it.
    public func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let channel = unwrapInboundIn(data)
        guard gate.admits(channel, for: purpose) else {
            channel.close(promise: nil)
            return
        }
        context.fireChannelRead(data)
    }

    /// Accepts more, or waits while what was refused is still being closed.
    public func read(context: ChannelHandlerContext) {
        guard gate.isOverrun else { return context.read() }
        guard !isHeld else { return }
        isHeld = true
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: Self.pause) {
            let (handler, context) = bound.value
            handler.isHeld = false
            if context.channel.isActive { handler.read(context: context) }
        }
    }
}
