import FootlightTesting
@testable import Ingest
import Logging
import Media
import NIOCore
import NIOPosix
import RTMP
import Stage
import Synchronization

/// A stage with the room `show`, its door behind a real RTMP server, and an encoder's file to publish.
final class HostDoorStand: Sendable {
    /// Seconds a wrong key waits for its answer.
    static let delay = 0.2

    let stage = RoomDirectory(pepper: [1, 2, 3])
    let door: HostDoor
    private let made: Made
    private let server: RTMPServer
    private let folder: TemporaryFolder
    private let children = Mutex<[ChildProcess]>([])

    /// The sinks that the door asked for, in order.
    private final class Made: Sendable {
        let sinks = Mutex<[HostSink]>([])
    }

    private struct Doors: RTMPServerDelegate {
        let door: HostDoor

        func publish(_ request: PublishRequest, on connection: RTMPConnection) -> EventLoopFuture<PublishVerdict> {
            connection.eventLoop.makeSucceededFuture(door.publish(request, on: connection))
        }

        func play(_ request: PlayRequest, on connection: RTMPConnection) -> EventLoopFuture<PlayVerdict> {
            connection.eventLoop.makeSucceededFuture(.refuse(.playFailed("hosts only")))
        }
    }

    private init(_ group: MultiThreadedEventLoopGroup, maximumPublishers: Int) async throws {
        _ = try stage.create(RoomSettings(name: "show"))
        let made = Made()
        self.made = made
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        door = HostDoor(
            stage: stage,
            configuration: IngestConfiguration(
                wrongKeyDelay: .milliseconds(Int64(Self.delay * 1_000)),
                wrongKeysPerMinute: 3,
                maximumPublishers: maximumPublishers
            ),
            logger: logger
        ) { _ in
            let sink = HostSink()
            made.sinks.withLock { $0.append(sink) }
            return sink
        }
        server = try await RTMPServer.start(host: "127.0.0.1", port: 0, group: group, delegate: Doors(door: door))
        folder = try TemporaryFolder("host-door")
        var picture = HostPicture(.red)
        (picture.width, picture.height) = (320, 180)
        try await FFmpeg.encode(
            HostScript(picture: picture, sound: .tone(440)),
            seconds: 4,
            to: folder.file("host.flv")
        )
    }

    /// Runs `body` with a stand, and leaves nothing behind.
    static func run(maximumPublishers: Int = 100, _ body: (HostDoorStand) async throws -> Void) async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
        let stand = try await HostDoorStand(group, maximumPublishers: maximumPublishers)
        var failure: (any Error)?
        do { try await body(stand) } catch { failure = error }
        for child in stand.children.withLock({ $0 }) { child.end() }
        await stand.server.shutdown()
        try await group.shutdownGracefully()
        if let failure { throw failure }
    }

    var sinks: [HostSink] { made.sinks.withLock { $0 } }

    /// Lets a host join, and gives its stream key.
    func join(_ identity: String, room: String = "show") throws -> String {
        let joined = try stage.join(room: room, JoinRequest(identity: identity, mode: .sendAndReceive))
        guard let credentials = joined.credentials else { throw ToolFailure("a host without a stream key") }
        return credentials.streamKey
    }

    /// Starts an encoder with that key; it ends with the stand at the latest.
    @discardableResult
    func publish(_ key: String) throws -> ChildProcess {
        keep(try FFmpeg.host(file: folder.file("host.flv"), to: address(key)))
    }

    /// Starts an encoder with that key and a video codec by ffmpeg's name.
    func publish(_ key: String, codec: String) throws -> ChildProcess {
        let source = ["-re", "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25"]
        let arguments = ["ffmpeg", "-hide_banner", "-nostdin"] + source + ["-c:v", codec, "-f", "flv", address(key)]
        return keep(try ChildProcess(arguments))
    }

    private func address(_ key: String) -> String {
        "rtmp://127.0.0.1:\(server.port)/live/\(key)"
    }

    private func keep(_ child: ChildProcess) -> ChildProcess {
        children.withLock { $0.append(child) }
        return child
    }
}

/// Keeps what one connection of a host sent.
final class HostSink: PacketSink {
    private let recording = RecordingSink()
    private let changes = Mutex(0)

    func receive(_ packet: MediaPacket) { recording.receive(packet) }

    func publisherChanged() { changes.withLock { $0 += 1 } }

    var packets: [MediaPacket] { recording.packets }
    var count: Int { recording.count }
    /// How often the connection took the feed over.
    var takeovers: Int { changes.withLock { $0 } }
}
