public import Media
public import NIOCore
import Synchronization

/// Plays one stream by RTMP and hands out its packets as they come.
public final class RTMPPlayer: Sendable {
    private enum State {
        case idle
        case connecting
        case connected(any Channel)
        case ended
    }

    private let url: String
    private let eventLoop: any EventLoop
    private let onPacket: @Sendable (MediaPacket, MonotonicTime) -> Void
    private let onEnd: @Sendable (String) -> Void
    // Taken when the player starts and ends, not for media.
    private let state = Mutex(State.idle)

    /// Makes a player that does nothing before `start`.
    ///
    /// - Parameters:
    ///   - url: `rtmp://host:port/app/name?query`, or `rtmps` for a server that the machine trusts.
    ///   - group: One of its event loops is used.
    ///   - onPacket: Takes each packet and the moment its last byte was read; on the event loop, never blocking. The
    ///     packet's timestamp is the feed's own, unwrapped to 64 bits.
    ///   - onEnd: Says why it is over; called exactly once after `start`, on the event loop.
    public init(
        url: String,
        group: any EventLoopGroup,
        onPacket: @escaping @Sendable (MediaPacket, MonotonicTime) -> Void,
        onEnd: @escaping @Sendable (String) -> Void
    ) {
        self.url = url
        eventLoop = group.next()
        self.onPacket = onPacket
        self.onEnd = onEnd
    }

    /// Connects and begins to play; a second call does nothing.
    public func start() {
        let isFirst = state.withLock { state in
            guard case .idle = state else { return false }
            state = .connecting
            return true
        }
        guard isFirst else { return }
        guard let address = RTMPAddress(url) else {
            eventLoop.execute { self.finish("not an RTMP address") }
            return
        }
        RTMPDial(address: address, eventLoop: eventLoop)
            .connect {
                RTMPPlayerHandler(
                    session: PlaySession(address: address),
                    onPacket: self.onPacket,
                    onEnd: { self.finish($0) }
                )
            }
            .whenComplete { result in
                switch result {
                case .success(let channel): self.connected(channel)
                case .failure(let error): self.finish("cannot connect: \(error)")
                }
            }
    }

    /// Stops playing; from any thread.
    ///
    /// No packet comes after `onEnd`.
    public func stop() {
        let channel = state.withLock { state -> (any Channel)? in
            if case .connected(let channel) = state { channel } else { nil }
        }
        eventLoop.execute {
            self.finish("stopped")
            channel?.close(promise: nil)
        }
    }

    private func connected(_ channel: any Channel) {
        let isWanted = state.withLock { state in
            guard case .connecting = state else { return false }
            state = .connected(channel)
            return true
        }
        if !isWanted { channel.close(promise: nil) }
    }

    /// Reports the end once; a player that never started has none.
    private func finish(_ reason: String) {
        let isFirst = state.withLock { state in
            switch state {
            case .idle, .ended:
                state = .ended
                return false
            case .connecting, .connected:
                state = .ended
                return true
            }
        }
        if isFirst { onEnd(reason) }
    }
}
