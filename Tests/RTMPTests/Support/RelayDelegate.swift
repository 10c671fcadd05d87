import Media
import NIOCore
import NIOPosix
import NIOSSL
import RTMP
import Synchronization
import TestSupport

/// A server delegate that plays published media to all players.
///
/// All connections share one event loop.
final class RelayDelegate: RTMPServerDelegate {
    let ended = ValueRecorder<RTMPEndReason>()
    let packets = ValueRecorder<MediaPacket>()
    let publishes = ValueRecorder<PublishRequest>()
    let plays = ValueRecorder<PlayRequest>()
    let refusal: RTMPStatus?
    let refusalDelay: TimeAmount
    let sid: String?
    /// The `sentBytes` of its players; nil for players that are not viewers.
    let sentBytes: Int?
    private let viewers = Mutex<[ObjectIdentifier: RTMPConnection]>([:])
    private let joinBuffer = Mutex<[MediaPacket]>([])
    private let connections = Mutex<[RTMPConnection]>([])
    private let sourceVerdict: @Sendable (MediaPacket) -> RTMPStatus?

    init(
        refusal: RTMPStatus? = nil,
        refusalDelay: TimeAmount = .zero,
        sid: String? = nil,
        sentBytes: Int? = nil,
        verdict: @escaping @Sendable (MediaPacket) -> RTMPStatus? = { _ in nil }
    ) {
        self.refusal = refusal
        self.refusalDelay = refusalDelay
        self.sid = sid
        self.sentBytes = sentBytes
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
        joinBuffer.withLock { packets in
            if packet.isKeyframe { packets.removeAll { !$0.isConfiguration } }
            packets.append(packet)
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

    /// Ends all players when the publisher ends.
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
        private let relay: RelayDelegate

        init(relay: RelayDelegate) {
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
        private let relay: RelayDelegate
        private let connection = Mutex<RTMPConnection?>(nil)

        init(relay: RelayDelegate) {
            self.relay = relay
        }

        func started(on connection: RTMPConnection) {
            self.connection.withLock { $0 = connection }
            relay.started(connection)
        }

        var sentBytes: Int? { relay.sentBytes }

        func ended(_ reason: RTMPEndReason) {
            relay.left(connection.withLock { $0 })
            relay.ended.append(reason)
        }
    }
}

/// Runs `body` with a server on a free port and one event loop.
func withServer(
    _ delegate: RelayDelegate,
    limits: RTMPLimits = RTMPLimits(),
    tls: NIOSSLContext? = nil,
    _ body: (RTMPServer, MultiThreadedEventLoopGroup) async throws -> Void
) async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let secure: (@Sendable () -> NIOSSLContext)? = if let tls { { tls } } else { nil }
    let server = try await RTMPServer.start(
        host: "127.0.0.1",
        port: 0,
        group: group,
        delegate: delegate,
        limits: limits,
        tls: secure
    )
    do {
        try await body(server, group)
    } catch {
        await server.shutdown()
        try await group.shutdownGracefully()
        throw error
    }
    await server.shutdown()
    try await group.shutdownGracefully()
}

/// A publish source that queues packets and records the callbacks.
final class QueuedPacketSource: RTMPPublishSource {
    let started = ValueRecorder<Bool>()
    let ends = ValueRecorder<RTMPPublishEnd>()
    let bytes = ValueRecorder<Int>()
    private let packets: Mutex<[MediaPacket]>

    init(_ packets: [MediaPacket] = []) {
        self.packets = Mutex(packets)
    }

    func put(_ packet: MediaPacket) {
        packets.withLock { $0.append(packet) }
    }

    var count: Int { packets.withLock { $0.count } }

    func publishingStarted() {
        started.append(true)
    }

    func nextPacket() -> MediaPacket? {
        packets.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    }

    func wrote(bytes count: Int) {
        bytes.append(count)
    }

    func publishingEnded(_ end: RTMPPublishEnd) {
        ends.append(end)
    }
}

extension TestCertificates {
    /// Returns the TLS context of a server with the certificate.
    func context(of name: String) throws -> NIOSSLContext {
        try NIOSSLContext(
            configuration: .makeServerConfiguration(
                certificateChain: NIOSSLCertificate.fromPEMFile(path("\(name).pem")).map { .certificate($0) },
                privateKey: .privateKey(NIOSSLPrivateKey(file: path("\(name).key"), format: .pem))
            )
        )
    }
}
