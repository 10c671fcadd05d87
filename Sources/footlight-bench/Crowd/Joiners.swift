import FootlightTesting
import Media
import NIOPosix
import Synchronization

/// Viewers that come one after the other and leave with their first key picture.
final class Joiners: Sendable {
    private let waits = Mutex(Samples())

    /// Mean milliseconds between two of them; each gap is drawn anew, so that they meet all parts of a group of pictures.
    private static let pause = 80.0

    /// Lets `count` viewers come.
    ///
    /// - Returns: Milliseconds from the first byte of the TCP connection to the last byte of the first key picture.
    func join(_ server: MediaServer, count: Int, group: MultiThreadedEventLoopGroup) async throws -> Samples {
        for _ in 0..<count {
            join(server, group: group)
            try await Task.sleep(for: .milliseconds(Self.pause * Double.random(in: 0.25...1.75)))
        }
        guard try await eventually(within: .seconds(5), { self.waits.withLock { $0.values.count } == count }) else {
            let came = waits.withLock { $0.values.count }
            throw ToolFailure("\(server.name): only \(came) of \(count) viewers saw a key picture")
        }
        return waits.withLock { $0 }
    }

    private func join(_ server: MediaServer, group: MultiThreadedEventLoopGroup) {
        // The player lives until it has ended: whoever plays is held by its connection.
        let slot = PlayerSlot()
        let start = MonotonicTime.now()
        let player = server.player(group: group) { [self] packet, arrival in
            guard packet.isKeyPicture, let player = slot.take() else { return }
            waits.withLock { $0.add(arrival.seconds(since: start) * 1000) }
            player.stop()
        } onEnd: {
            _ = slot.take()
        }
        slot.put(player)
        player.start()
    }
}

/// Holds one player until somebody takes it.
private final class PlayerSlot: Sendable {
    private let player = Mutex<(any StreamPlayer)?>(nil)

    func put(_ player: any StreamPlayer) {
        self.player.withLock { $0 = player }
    }

    func take() -> (any StreamPlayer)? {
        player.withLock { player in
            defer { player = nil }
            return player
        }
    }
}
