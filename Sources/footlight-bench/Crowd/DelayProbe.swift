import Media
import NIOPosix
import Synchronization

/// One prompt viewer in the crowd, who notes how long each picture was under way.
final class DelayProbe: Sendable {
    private let delays = Mutex(Samples())
    private let player = Mutex<(any StreamPlayer)?>(nil)

    init(_ server: MediaServer, of stream: PublishedStream, group: MultiThreadedEventLoopGroup) {
        let player = server.player(group: group) { [self] packet, arrival in
            guard let delay = stream.delay(of: packet, arrival: arrival) else { return }
            delays.withLock { $0.add(delay) }
        } onEnd: {
        }
        self.player.withLock { $0 = player }
        player.start()
    }

    /// Forgets what came so far, the old pictures of the start among it.
    func reset() {
        delays.withLock { $0 = Samples() }
    }

    /// Leaves; returns milliseconds from publisher to viewer.
    func stop() -> Samples {
        player.withLock { player in
            player?.stop()
            player = nil
        }
        return delays.withLock { $0 }
    }
}
