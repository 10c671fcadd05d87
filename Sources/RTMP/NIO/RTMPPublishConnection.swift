public import NIOCore
import NIOPosix
import Synchronization

/// Publishes one stream by RTMP or RTMPS, over one connection; whoever wants another after it makes a new value.
public final class RTMPPublishConnection: Sendable {
    private enum State {
        case idle
        /// Finished before it was started; told when it is.
        case finishedEarly
        case connecting
        case connected(NIOLoopBound<RTMPPublisherHandler>)
        case ended
    }

    private let url: String
    private let trust: RTMPTrust
    private let eventLoop: any EventLoop
    private let source: any RTMPPublishSource
    // Taken when the connection starts and ends, and to find the handler.
    private let state = Mutex(State.idle)

    /// What may wait in the kernel unsent: little, for nothing can be dropped there any more.
    private static let unsentBytes: Int32 = 32 * 1024

    /// Makes a connection that does nothing before `start`.
    ///
    /// - Parameters:
    ///   - url: `rtmp://host:port/app/name?query`, or `rtmps`.
    ///   - trust: Whom to believe by RTMPS.
    ///   - source: Gives the packets; held until the connection is over.
    ///   - group: One of its event loops is used; those of the process when nil.
    public init(
        url: String,
        trust: RTMPTrust = .system,
        source: any RTMPPublishSource,
        group: (any EventLoopGroup)? = nil
    ) {
        self.url = url
        self.trust = trust
        self.source = source
        eventLoop = (group ?? MultiThreadedEventLoopGroup.singleton).next()
    }

    /// Connects and asks to publish; a second call does nothing.
    public func start() {
        let isFirst = state.withLock { state in
            switch state {
            case .idle:
                state = .connecting
                return true
            case .finishedEarly:
                state = .connecting
                eventLoop.execute { self.ended(RTMPPublishEnd("finished before it began", isFinished: true)) }
                return false
            case .connecting, .connected, .ended:
                return false
            }
        }
        guard isFirst else { return }
        guard let address = RTMPAddress(url) else {
            eventLoop.execute { self.ended(RTMPPublishEnd(.connectRejected("This is not an RTMP address."))) }
            return
        }
        RTMPDial(address: address, eventLoop: eventLoop, trust: trust, unsentBytes: Self.unsentBytes)
            .connect { [eventLoop, source] in
                let handler = RTMPPublisherHandler(
                    session: PublishSession(address: address),
                    source: source,
                    onEnd: { self.ended($0) }
                )
                let isWanted = self.state.withLock { state in
                    guard case .connecting = state else { return false }
                    state = .connected(NIOLoopBound(handler, eventLoop: eventLoop))
                    return true
                }
                if !isWanted { handler.finish() }
                return handler
            }
            .whenFailure { self.ended(RTMPPublishEnd("cannot connect: \($0)")) }
    }

    /// Says that there are packets again; from any thread.
    public func wake() {
        guard let handler else { return }
        eventLoop.execute { handler.value.pump() }
    }

    /// Sends what waits, for two seconds at most, and ends the stream in an orderly way; from any thread.
    public func finish() {
        eventLoop.execute {
            guard let handler = self.handler else {
                self.ended(RTMPPublishEnd("finished before it began", isFinished: true))
                return
            }
            handler.value.finish()
        }
    }

    /// Gives the connection up at once, for a reason of the owner's; from any thread.
    public func abandon(_ reason: String) {
        guard let handler else { return }
        eventLoop.execute { handler.value.abandon(reason) }
    }

    private var handler: NIOLoopBound<RTMPPublisherHandler>? {
        state.withLock { state in
            if case .connected(let handler) = state { handler } else { nil }
        }
    }

    /// Tells the end once; a connection that never started has none.
    private func ended(_ end: RTMPPublishEnd) {
        let isFirst = state.withLock { state in
            switch state {
            case .idle, .finishedEarly:
                state = .finishedEarly
                return false
            case .ended:
                return false
            case .connecting, .connected:
                state = .ended
                return true
            }
        }
        if isFirst { source.publishingEnded(end) }
    }
}
