import Egress
import FootlightTesting
import Media
import NIOCore
import Stage
import Synchronization
import TestSupport

/// The measured stream, published to a server, with the time at which each frame was sent.
final class PublishedStream: Sendable {
    private let push: RTMPPush
    private let sent: Sent
    private let feed: LiveFeed

    private final class Sent: Sendable {
        private let moments = Mutex<[ByteBuffer: MonotonicTime]>([:])
        private let byEnd = Mutex<[[UInt8]: MonotonicTime]>([:])

        func record(_ packet: MediaPacket) {
            guard case .video = packet.content else { return }
            let now = MonotonicTime.now()
            moments.withLock { $0[packet.body] = now }
            byEnd.withLock { $0[Array(packet.body.readableBytesView.suffix(Self.endLength))] = now }
        }

        func moment(of body: ByteBuffer) -> MonotonicTime? { moments.withLock { $0[body] } }

        func moment(ofFrameAtEndOf bytes: [UInt8]) -> MonotonicTime? {
            byEnd.withLock { $0[Array(bytes.suffix(Self.endLength))] }
        }

        /// Bytes at a frame's end that identify the frame within the clip.
        private static let endLength = 48
    }

    /// Publishes `clip` in a loop; returns when the server has accepted the stream.
    init(_ clip: Clip, to server: MediaServer) async throws {
        let push = RTMPPush(
            name: "publisher",
            address: server.target,
            policy: TargetPolicy(allowsPrivateAddresses: true)
        )
        let sent = Sent()
        push.start()
        feed = try LiveFeed(clip) { packet in
            sent.record(packet)
            push.receive(packet)
        }
        self.push = push
        self.sent = sent
        guard try await eventually(within: .seconds(10), { push.status.state == .connected }) else {
            feed.stop()
            push.stop()
            throw ToolFailure("\(server.name) does not accept the stream: \(push.status)")
        }
    }

    /// Returns milliseconds from sending a frame to `arrival`; nil for a packet that this stream did not send.
    ///
    /// Frames of a clip are identified by their bytes, which servers pass on unchanged.
    func delay(of packet: MediaPacket, arrival: MonotonicTime) -> Double? {
        guard case .video = packet.content else { return nil }
        return sent.moment(of: packet.body).map { arrival.seconds(since: $0) * 1000 }
    }

    /// Returns the same for the last frame of an HLS part; nil where the part ends with audio.
    func delay(ofLastFrameIn part: [UInt8], arrival: MonotonicTime) -> Double? {
        sent.moment(ofFrameAtEndOf: part).map { arrival.seconds(since: $0) * 1000 }
    }

    /// Stops the stream; called once.
    func stop() {
        feed.stop()
        push.stop()
    }
}
