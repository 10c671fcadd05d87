import Egress
import FootlightTesting
import Media
import NIOCore
import Stage
import Synchronization

/// The stream under measurement on its way into a server, with the moment each picture was sent.
final class PublishedStream: Sendable {
    private let push: RTMPPush
    private let sent: Sent
    private let feed: LiveFeed

    private final class Sent: Sendable {
        private let moments = Mutex<[ByteBuffer: MonotonicTime]>([:])
        private let byEnd = Mutex<[[UInt8]: MonotonicTime]>([:])

        func note(_ packet: MediaPacket) {
            guard case .picture = packet.content else { return }
            let now = MonotonicTime.now()
            moments.withLock { $0[packet.body] = now }
            byEnd.withLock { $0[Array(packet.body.readableBytesView.suffix(Self.endLength))] = now }
        }

        func moment(of body: ByteBuffer) -> MonotonicTime? { moments.withLock { $0[body] } }

        func moment(ofPictureAtEndOf bytes: [UInt8]) -> MonotonicTime? {
            byEnd.withLock { $0[Array(bytes.suffix(Self.endLength))] }
        }

        /// Bytes at a picture's end by which pictures of a clip are told apart.
        private static let endLength = 48
    }

    /// Publishes `clip`, round and round; returns when the server has taken it.
    init(_ clip: Clip, to server: MediaServer) async throws {
        let push = RTMPPush(
            name: "publisher",
            address: server.target,
            policy: TargetPolicy(allowsPrivateAddresses: true)
        )
        let sent = Sent()
        push.start()
        feed = try LiveFeed(clip) { packet in
            sent.note(packet)
            push.receive(packet)
        }
        self.push = push
        self.sent = sent
        guard try await eventually(within: .seconds(10), { push.status.state == .connected }) else {
            feed.stop()
            push.stop()
            throw ToolFailure("\(server.name) does not take the stream: \(push.status)")
        }
    }

    /// Milliseconds from sending a picture to `arrival`; nil for a packet that was not sent from here.
    ///
    /// The pictures of a clip are told apart by their bytes, which servers pass on as they are.
    func delay(of packet: MediaPacket, arrival: MonotonicTime) -> Double? {
        guard case .picture = packet.content else { return nil }
        return sent.moment(of: packet.body).map { arrival.seconds(since: $0) * 1000 }
    }

    /// The same of the picture that a part of HLS ends with; nil where it ends with sound.
    func delay(ofLastPictureIn part: [UInt8], arrival: MonotonicTime) -> Double? {
        sent.moment(ofPictureAtEndOf: part).map { arrival.seconds(since: $0) * 1000 }
    }

    /// Ends the stream; called once.
    func stop() {
        feed.stop()
        push.stop()
    }
}
