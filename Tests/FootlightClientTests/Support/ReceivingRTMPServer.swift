import Foundation
import Media
import NIOCore
import NIOPosix
import RTMP
import Synchronization

/// An RTMP server that accepts one stream key and records what it receives.
final class ReceivingRTMPServer: RTMPServerDelegate {
    /// A published stream: its packets and its end.
    struct ReceivedStream: Sendable {
        var key: String
        var packets: [MediaPacket] = []
        var end: RTMPEndReason?
    }

    private let key: String
    private let received = Mutex<[ReceivedStream]>([])
    private let listener = Mutex<RTMPServer?>(nil)

    private init(key: String) {
        self.key = key
    }

    static func start(key: String) async throws -> ReceivingRTMPServer {
        let receiver = ReceivingRTMPServer(key: key)
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

    var receivedStreams: [ReceivedStream] { received.withLock { $0 } }

    func publish(_ request: PublishRequest, on connection: RTMPConnection) -> EventLoopFuture<PublishVerdict> {
        let index = received.withLock { receivedStreams in
            receivedStreams.append(ReceivedStream(key: request.name))
            return receivedStreams.count - 1
        }
        let verdict: PublishVerdict =
            request.name == key ? .accept(Receiver(self, index)) : .refuse(.publishBadName("No such key."))
        return connection.eventLoop.makeSucceededFuture(verdict)
    }

    func play(_ request: PlayRequest, on connection: RTMPConnection) -> EventLoopFuture<PlayVerdict> {
        connection.eventLoop.makeSucceededFuture(.refuse(.playStreamNotFound("Nothing is played here.")))
    }

    private final class Receiver: PublishReceiver {
        private let server: ReceivingRTMPServer
        private let index: Int

        init(_ server: ReceivingRTMPServer, _ index: Int) {
            self.server = server
            self.index = index
        }

        func receive(_ packet: MediaPacket) {
            server.received.withLock { $0[index].packets.append(packet) }
        }

        func ended(_ reason: RTMPEndReason) {
            server.received.withLock { $0[index].end = reason }
        }
    }
}

/// Writes packets as an FLV file.
struct FLVFileBytes {
    private var buffer = FLVTagWriter.header(hasAudio: true, hasVideo: true)

    mutating func append(_ packet: MediaPacket) {
        FLVTagWriter.write(packet, timestamp: packet.timestamp, to: &buffer)
    }

    var data: Data { Data(buffer.readableBytesView) }
}
