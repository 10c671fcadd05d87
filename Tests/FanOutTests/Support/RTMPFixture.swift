@testable import FanOut
import Media
import NIOCore
import NIOPosix
import RTMP
import Stage
import Synchronization

/// Feeds behind a real RTMP port.
struct RTMPFixture {
    let feeds: FeedDirectory
    let audience = RecordingAudience()
    let server: RTMPServer
    let group: MultiThreadedEventLoopGroup

    init(
        _ group: MultiThreadedEventLoopGroup,
        maximumViewers: Int = 100,
        configuration: FanOutConfiguration? = nil,
        highWaterMark: Int = MediaWriter.highWaterMark
    ) async throws {
        self.group = group
        var limits = RTMPLimits()
        limits.highWaterMark = highWaterMark
        // All players of a test have one address.
        limits.playersPerClient = nil
        limits.preAuthConnectionsPerClient = nil
        feeds = FeedDirectory(
            group: group,
            configuration: configuration ?? FanOutConfiguration(tick: .zero, maximumViewers: maximumViewers)
        )
        server = try await RTMPServer.start(
            host: "127.0.0.1",
            port: 0,
            group: group,
            delegate: PlayOnlyDelegate(
                audience: RTMPPlayService(
                    feeds: feeds,
                    audience: audience,
                    trust: ClientTrustPolicy(usesDeviceIDs: true)
                )
            ),
            limits: limits
        )
    }

    func play(_ name: String, on group: MultiThreadedEventLoopGroup? = nil) -> RTMPFixturePlayer {
        RTMPFixturePlayer("rtmp://127.0.0.1:\(server.port)/live/\(name)", group: group ?? self.group)
    }
}

/// Admits players to the feeds; a `mixer` is not recorded.
private struct PlayOnlyDelegate: RTMPServerDelegate {
    let audience: RTMPPlayService

    func publish(_ request: PublishRequest, on connection: RTMPConnection) -> EventLoopFuture<PublishVerdict> {
        connection.eventLoop.makeSucceededFuture(.refuse(.publishDenied("players only")))
    }

    func play(_ request: PlayRequest, on connection: RTMPConnection) -> EventLoopFuture<PlayVerdict> {
        let isMixer = request.query["mixer"] != nil
        let bearer = ViewerBearer(
            identity: request.query["identity"],
            role: request.query["monitor"] != nil ? .monitor : .viewer
        )
        return connection.eventLoop.makeSucceededFuture(
            isMixer ? audience.playUncounted(request.name) : audience.watch(request, bearer: bearer)
        )
    }
}

/// One player and the packets it received.
final class RTMPFixturePlayer: Sendable {
    private let packets = Mutex<[MediaPacket]>([])
    private let ends = Mutex<[String]>([])
    private let player: Mutex<RTMPPlayer?> = Mutex(nil)

    init(_ url: String, group: any EventLoopGroup) {
        let made = RTMPPlayer(
            url: url,
            group: group,
            onPacket: { packet, _ in self.packets.withLock { $0.append(packet) } },
            onEnd: { reason in self.ends.withLock { $0.append(reason) } }
        )
        player.withLock { $0 = made }
        made.start()
    }

    var got: [MediaPacket] { packets.withLock { $0 } }
    var end: [String] { ends.withLock { $0 } }
    func stop() { player.withLock { $0.take() }?.stop() }
}
