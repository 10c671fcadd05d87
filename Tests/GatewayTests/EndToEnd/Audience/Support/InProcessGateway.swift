import Assets
import ControlAPI
import Egress
import FanOut
import FootlightTesting
import Foundation
import Logging
import Media
import NIOCore
import NIOPosix
import Persistence
import ServiceLifecycle
import Stage
import Synchronization
import TestSupport
import Viewership

@testable import Gateway

/// A gateway in the test's process: HTTP and access log on free ports, no mixer, a shiftable clock.
final class InProcessGateway: Sendable {
    private struct NoMixer: Error {}

    let pipeline: Pipeline
    let clock = ShiftedClock()
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let httpPort: Int
    let accessLogPort: Int

    let folder: TemporaryFolder
    private let services: ServiceGroup
    private let running: Task<Void, any Error>

    /// An operator's token.
    let token: String

    /// - Parameters:
    ///   - folder: The folder of the data.
    ///   - regions: A file in the MaxMind DB format.
    init(_ folder: TemporaryFolder, regions: [UInt8]) async throws {
        self.folder = folder
        var configuration = GatewayConfiguration()
        configuration.httpPort = 0
        configuration.accessLogPort = try FreePort.pick()
        accessLogPort = configuration.accessLogPort ?? 0
        // As the nginx configuration requires.
        configuration.trustedProxies = ["127.0.0.1"]
        configuration.regionDatabase = folder.file("regions.mmdb")
        try Data(regions).write(to: URL(fileURLWithPath: folder.file("regions.mmdb")))
        let secrets = try GatewaySecrets(DataDirectory(folder.file("data")))
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let tokens = await AccessTokens(signingKey: secrets.signingKey, kid: secrets.signingKeyName)
        token = try await tokens.issueOperator(expiresIn: 600)
        pipeline = Pipeline(
            configuration: configuration,
            group: group,
            secrets: secrets,
            tokens: tokens,
            database: folder.file("data/rooms.sqlite"),
            viewershipDatabase: folder.file("data/viewership.sqlite"),
            ticketDatabase: folder.file("data/tickets.sqlite"),
            showDatabase: folder.file("data/shows.sqlite"),
            assets: AssetStore(path: folder.file("data/assets")),
            clock: clock,
            launchMixer: { _, _, _ in throw NoMixer() },
            logger: logger
        )
        let ports = ListeningPorts { _ in }
        let web = try GatewayWeb(
            pipeline: pipeline,
            ports: ports,
            health: Health(logger: logger),
            configuration: configuration,
            directory: DataDirectory(folder.file("data")),
            logger: logger
        )
        let http = web.publicSite(group: group, logger: logger) { ports.set(\.http, $0) }
        let beats = AccessLogListener(
            host: configuration.host,
            port: accessLogPort,
            group: group,
            proxies: pipeline.proxies,
            viewership: pipeline.viewership,
            logger: logger
        )
        let services = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [.init(service: http), .init(service: beats)],
                logger: logger
            )
        )
        self.services = services
        running = Task { try await services.run() }
        _ = try await eventually { ports.current.http != nil }
        guard let port = ports.current.http else { throw ToolFailure("the gateway does not listen") }
        httpPort = port
    }

    func end() async throws {
        await services.triggerGracefulShutdown()
        try await running.value
        pipeline.livestreams.shutdown()
        await pipeline.roomStore.close(within: 5)
        await pipeline.history.close()
        try await group.shutdownGracefully()
    }

    /// Returns the present figures, with all timeouts applied.
    func report(_ room: String) -> RoomViewership {
        pipeline.viewership.advance(to: clock.now)
        return pipeline.viewership.report(room: room)
    }
}

/// The system's clock with an offset that a test can increase.
final class ShiftedClock: MonotonicClock {
    private let lead = Atomic<Int64>(0)

    var now: MonotonicTime {
        MonotonicTime(nanoseconds: MonotonicTime.now().nanoseconds + lead.load(ordering: .relaxed))
    }

    func advance(seconds: Double) {
        lead.add(Int64(seconds * 1e9), ordering: .relaxed)
    }
}

/// A room's program, made of a looped clip without real-time pacing.
struct LoopedProgram {
    private let packets: [MediaPacket]
    private let feed: Feed
    private let publisher: FeedPublisher
    private var rounds: Int64 = 0

    /// The length of the clip in milliseconds.
    private static let length: Int64 = 4000

    /// Encodes the clip and becomes the publisher of the room's feed.
    init(room: String, on gateway: InProcessGateway) async throws {
        let path = gateway.folder.file("program.flv")
        try await FFmpeg.encode(HostScript(.red, tone: 440), seconds: Double(Self.length) / 1000, to: path)
        packets = try FLVFile(path: path).packets
        guard let feed = gateway.pipeline.feeds.feed(room) else { throw ToolFailure("there is no room \(room)") }
        self.feed = feed
        publisher = feed.makePublisher()
        publisher.publisherChanged()
    }

    /// Publishes four seconds of media, and waits until the feed has them.
    mutating func publishNext() async throws {
        for var packet in packets {
            if rounds > 0, packet.isConfiguration { continue }
            packet.timestamp += rounds * Self.length
            publisher.receive(packet)
        }
        rounds += 1
        try await feed.ownerLoop.submit {}.get()
    }
}

/// Makes files in the MaxMind DB format with IPv4 networks of 16 bits.
enum RegionFile {
    /// - Parameter countries: ISO codes by the first two bytes of an address.
    static func bytes(_ countries: [(first: UInt8, second: UInt8, code: String)]) -> [UInt8] {
        // A node has two records: nil, a node, or the data of an entry.
        enum Target {
            case node(Int)
            case entry(Int)
        }
        // IPv4 addresses are IPv6 addresses with 96 leading zeros.
        var nodes: [[Target?]] = (0..<96).map { [Target.node($0 + 1), nil] }
        nodes.append([nil, nil])
        for (index, country) in countries.enumerated() {
            var node = 96
            for step in 0..<16 {
                let byte = step < 8 ? country.first : country.second
                let bit = Int(byte >> UInt8(7 - step % 8) & 1)
                if step == 15 {
                    nodes[node][bit] = .entry(index)
                } else if case .node(let next) = nodes[node][bit] {
                    node = next
                } else {
                    nodes.append([nil, nil])
                    nodes[node][bit] = .node(nodes.count - 1)
                    node = nodes.count - 1
                }
            }
        }
        let entries = countries.map { map([("country", map([("iso_code", text($0.code))]))]) }
        let tree = nodes.joined().flatMap { target -> [UInt8] in
            let value =
                switch target {
                case nil: nodes.count
                case .node(let number): number
                case .entry(let index): nodes.count + 16 + entries[..<index].reduce(0) { $0 + $1.count }
                }
            return [UInt8(value >> 16 & 255), UInt8(value >> 8 & 255), UInt8(value & 255)]
        }
        let metadata = map([
            ("node_count", [0xC2, UInt8(nodes.count >> 8), UInt8(nodes.count & 255)]),
            ("record_size", [0xA1, 24]),
            ("ip_version", [0xA1, 6]),
        ])
        var file = tree
        file += [UInt8](repeating: 0, count: 16)
        for entry in entries { file += entry }
        file += [0xAB, 0xCD, 0xEF]
        file += Array("MaxMind.com".utf8)
        return file + metadata
    }

    private static func text(_ text: String) -> [UInt8] { [0x40 | UInt8(text.utf8.count)] + Array(text.utf8) }

    private static func map(_ entries: [(String, [UInt8])]) -> [UInt8] {
        [0xE0 | UInt8(entries.count)] + entries.flatMap { text($0.0) + $0.1 }
    }
}
