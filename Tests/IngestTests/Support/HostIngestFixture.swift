@testable import Ingest
import Logging
import Media
import NIOCore
import NIOPosix
import RTMP
import Stage
import Synchronization
import TestSupport

/// A stage with the room `show`, host ingest behind an RTMP server, and an encoded file to publish.
final class HostIngestFixture: Sendable {
    /// The delay in seconds before a wrong key is refused.
    static let delay = 0.2

    let stage = RoomDirectory(pepper: [1, 2, 3])
    let ingest: HostIngest
    private let sinkList: SinkList
    private let server: RTMPServer
    private let folder: TemporaryFolder
    private let children = Mutex<[ChildProcess]>([])

    /// The sinks created so far, in order.
    private final class SinkList: Sendable {
        let sinks = Mutex<[HostSink]>([])
    }

    private struct IngestDelegate: RTMPServerDelegate {
        let ingest: HostIngest

        func publish(_ request: PublishRequest, on connection: RTMPConnection) -> EventLoopFuture<PublishVerdict> {
            connection.eventLoop.makeSucceededFuture(ingest.publish(request, on: connection))
        }

        func play(_ request: PlayRequest, on connection: RTMPConnection) -> EventLoopFuture<PlayVerdict> {
            connection.eventLoop.makeSucceededFuture(.refuse(.playFailed("hosts only")))
        }
    }

    private init(_ group: MultiThreadedEventLoopGroup, maximumPublishers: Int) async throws {
        _ = try stage.create(RoomSettings(name: "show"))
        let sinkList = SinkList()
        self.sinkList = sinkList
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        ingest = HostIngest(
            stage: stage,
            configuration: IngestConfiguration(
                wrongKeyDelay: .milliseconds(Int64(Self.delay * 1_000)),
                wrongKeysPerMinute: 3,
                maximumPublishers: maximumPublishers
            ),
            logger: logger
        ) { _ in
            let sink = HostSink()
            sinkList.sinks.withLock { $0.append(sink) }
            return sink
        }
        let delegate = IngestDelegate(ingest: ingest)
        server = try await RTMPServer.start(host: "127.0.0.1", port: 0, group: group, delegate: delegate)
        folder = try TemporaryFolder("host-ingest")
        var video = HostVideoScript(.red)
        (video.width, video.height) = (320, 180)
        try await FFmpeg.encode(
            HostScript(video: video, audio: .tone(440)),
            seconds: 4,
            to: folder.file("host.flv")
        )
    }

    /// Runs `body` with a fixture and cleans up.
    static func run(maximumPublishers: Int = 100, _ body: (HostIngestFixture) async throws -> Void) async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
        let fixture = try await HostIngestFixture(group, maximumPublishers: maximumPublishers)
        var failure: (any Error)?
        do { try await body(fixture) } catch { failure = error }
        for child in fixture.children.withLock({ $0 }) { child.end() }
        await fixture.server.shutdown()
        try await group.shutdownGracefully()
        if let failure { throw failure }
    }

    var sinks: [HostSink] { sinkList.sinks.withLock { $0 } }

    /// Joins a host and returns its stream key.
    func join(_ identity: String, room: String = "show") throws -> String {
        let joined = try stage.join(room: room, JoinRequest(identity: identity, mode: .sendAndReceive))
        guard let credentials = joined.credentials else { throw ToolFailure("a host without a stream key") }
        return credentials.streamKey
    }

    /// Starts an encoder with this key, which ends with the fixture at the latest.
    @discardableResult
    func publish(_ key: String) throws -> ChildProcess {
        register(try FFmpeg.host(file: folder.file("host.flv"), to: address(key)))
    }

    /// Starts an encoder with this key and a video codec by its ffmpeg name.
    func publish(_ key: String, codec: String) throws -> ChildProcess {
        let source = ["-re", "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25"]
        let arguments = ["ffmpeg", "-hide_banner", "-nostdin"] + source + ["-c:v", codec, "-f", "flv", address(key)]
        return register(try ChildProcess(arguments))
    }

    private func address(_ key: String) -> String {
        "rtmp://127.0.0.1:\(server.port)/live/\(key)"
    }

    private func register(_ child: ChildProcess) -> ChildProcess {
        children.withLock { $0.append(child) }
        return child
    }
}

/// Records the packets of one host connection.
final class HostSink: PacketSink {
    private let recording = RecordingSink()
    private let changes = Mutex(0)

    func receive(_ packet: MediaPacket) { recording.receive(packet) }

    func publisherChanged() { changes.withLock { $0 += 1 } }

    var packets: [MediaPacket] { recording.packets }
    var count: Int { recording.count }
    /// The number of calls of `publisherChanged`.
    var takeovers: Int { changes.withLock { $0 } }
}
