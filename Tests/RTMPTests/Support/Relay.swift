import Media
import NIOCore
import RTMP
import Synchronization

/// A server delegate of one stage: what is published is played to everyone.
///
/// Everything is on one event loop.
final class Relay: RTMPServerDelegate {
    let ended = Recorder<RTMPEndReason>()
    let packets = Recorder<MediaPacket>()
    let publishes = Recorder<PublishRequest>()
    let plays = Recorder<PlayRequest>()
    let refusal: RTMPStatus?
    let refusalDelay: TimeAmount
    let sid: String?
    /// What its players say they have taken; nil for players that are no viewers.
    let taken: Int?
    private let viewers = Mutex<[ObjectIdentifier: RTMPConnection]>([:])
    private let joinBuffer = Mutex<[MediaPacket]>([])
    private let connections = Mutex<[RTMPConnection]>([])
    private let sourceVerdict: @Sendable (MediaPacket) -> RTMPStatus?

    init(
        refusal: RTMPStatus? = nil,
        refusalDelay: TimeAmount = .zero,
        sid: String? = nil,
        taken: Int? = nil,
        verdict: @escaping @Sendable (MediaPacket) -> RTMPStatus? = { _ in nil }
    ) {
        self.refusal = refusal
        self.refusalDelay = refusalDelay
        self.sid = sid
        self.taken = taken
        sourceVerdict = verdict
    }

    var publisherConnections: [RTMPConnection] { connections.withLock { $0 } }

    func publish(_ request: PublishRequest, on connection: RTMPConnection) -> EventLoopFuture<PublishVerdict> {
        publishes.append(request)
        connections.withLock { $0.append(connection) }
        let verdict: PublishVerdict =
            if let refusal { .refuse(refusal, after: refusalDelay) } else { .accept(Source(relay: self)) }
        return connection.eventLoop.makeSucceededFuture(verdict)
    }

    func play(_ request: PlayRequest, on connection: RTMPConnection) -> EventLoopFuture<PlayVerdict> {
        plays.append(request)
        let verdict: PlayVerdict =
            if let refusal { .refuse(refusal) } else { .accept(Viewer(relay: self), sid: sid) }
        return connection.eventLoop.makeSucceededFuture(verdict)
    }

    fileprivate func receive(_ packet: MediaPacket) throws(RTMPStatus) {
        if let status = sourceVerdict(packet) { throw status }
        packets.append(packet)
        joinBuffer.withLock { kept in
            if packet.isKeyPicture { kept.removeAll { !$0.isConfiguration } }
            kept.append(packet)
        }
        var chunks = ByteBuffer()
        ViewerChunks.write(packet, to: &chunks)
        for viewer in viewers.withLock({ $0.values }) {
            viewer.media.send(chunks)
        }
    }

    fileprivate func started(_ connection: RTMPConnection) {
        var chunks = ByteBuffer()
        for packet in joinBuffer.withLock({ $0 }) {
            ViewerChunks.write(packet, to: &chunks)
        }
        connection.media.send(chunks)
        viewers.withLock { $0[ObjectIdentifier(connection)] = connection }
    }

    /// The publisher is gone: so is the program.
    fileprivate func finish() {
        for viewer in viewers.withLock({ Array($0.values) }) {
            viewer.end(.playUnpublishNotify, reason: .shutdown)
        }
    }

    fileprivate func left(_ connection: RTMPConnection?) {
        guard let connection else { return }
        viewers.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(connection)) }
    }

    private final class Source: PublishReceiver {
        private let relay: Relay

        init(relay: Relay) {
            self.relay = relay
        }

        func receive(_ packet: MediaPacket) throws(RTMPStatus) {
            try relay.receive(packet)
        }

        func ended(_ reason: RTMPEndReason) {
            relay.ended.append(reason)
            relay.finish()
        }
    }

    private final class Viewer: PlayReceiver {
        private let relay: Relay
        private let connection = Mutex<RTMPConnection?>(nil)

        init(relay: Relay) {
            self.relay = relay
        }

        func started(on connection: RTMPConnection) {
            self.connection.withLock { $0 = connection }
            relay.started(connection)
        }

        var taken: Int? { relay.taken }

        func ended(_ reason: RTMPEndReason) {
            relay.left(connection.withLock { $0 })
            relay.ended.append(reason)
        }
    }
}
