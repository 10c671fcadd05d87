import Media
import NIOCore
import NIOPosix
import RTMP
import Synchronization

/// An RTMP server that takes one stream key and keeps what comes.
final class ReceivingServer: RTMPServerDelegate {
    /// What one connection sent, and how it ended.
    struct Visit: Sendable {
        var key: String
        var packets: [MediaPacket] = []
        var end: RTMPEndReason?
    }

    private let key: String
    private let taken = Mutex<[Visit]>([])
    private let listener = Mutex<RTMPServer?>(nil)

    private init(key: String) {
        self.key = key
    }

    static func start(key: String) async throws -> ReceivingServer {
        let receiver = ReceivingServer(key: key)
        let server = try await RTMPServer.start(
            host: "127.0.0.1",
            port: 0,
            group: MultiThreadedEventLoopGroup.singleton,
            delegate: receiver
        )
        receiver.listener.withLock { $0 = server }
        return receiver
    }

    func stop() async {
        await listener.withLock { $0 }?.shutdown()
    }

    var port: Int { listener.withLock { $0 }?.port ?? 0 }

    var visits: [Visit] { taken.withLock { $0 } }

    func publish(_ request: PublishRequest, on connection: RTMPConnection) -> EventLoopFuture<PublishVerdict> {
        let index = taken.withLock { visits in
            visits.append(Visit(key: request.name))
            return visits.count - 1
        }
        let verdict: PublishVerdict =
            request.name == key ? .accept(Receiver(self, index)) : .refuse(.publishBadName("No such key."))
        return connection.eventLoop.makeSucceededFuture(verdict)
    }

    func play(_ request: PlayRequest, on connection: RTMPConnection) -> EventLoopFuture<PlayVerdict> {
        connection.eventLoop.makeSucceededFuture(.refuse(.playStreamNotFound("Nothing is played here.")))
    }

    private final class Receiver: PublishReceiver {
        private let server: ReceivingServer
        private let index: Int

        init(_ server: ReceivingServer, _ index: Int) {
            self.server = server
            self.index = index
        }

        func receive(_ packet: MediaPacket) {
            server.taken.withLock { $0[index].packets.append(packet) }
        }

        func ended(_ reason: RTMPEndReason) {
            server.taken.withLock { $0[index].end = reason }
        }
    }
}
