import Assets
import ControlAPI
import Egress
import FanOut
import FootlightTesting
import Foundation
@testable import Gateway
import Logging
import Media
import NIOCore
import NIOPosix
import RoomStore
import ServiceLifecycle
import Stage
import Viewership
import ViewershipStore

/// A gateway in this process: HTTP and beats on free ports, no mixer, and the audience's clock in the test's hand.
final class WiredGateway: Sendable {
    private struct NoMixer: Error {}

    let pipeline: Pipeline
    let clock = MovedClock()
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let httpPort: Int
    let beatsPort: Int

    let folder: TemporaryFolder
    private let services: ServiceGroup
    private let running: Task<Void, any Error>

    /// An operator's.
    let token: String

    /// - Parameters:
    ///   - folder: Where its data is.
    ///   - regions: What of addresses tells where they are, as a file in the MaxMind DB format.
    init(_ folder: TemporaryFolder, regions: [UInt8]) async throws {
        self.folder = folder
        var configuration = GatewayConfiguration()
        configuration.httpPort = 0
        configuration.beatsPort = try FreePort.pick()
        beatsPort = configuration.beatsPort ?? 0
        // As the configuration of nginx asks for it.
        configuration.trustedProxies = ["127.0.0.1"]
        configuration.regionDatabase = folder.file("regions.mmdb")
        try Data(regions).write(to: URL(fileURLWithPath: folder.file("regions.mmdb")))
        let secrets = try GatewaySecrets(DataDirectory(folder.file("data")))
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let tokens = await AccessTokens(signingKey: secrets.signingKey, kid: secrets.signingKeyName)
        token = try await tokens.mintOperator(expiresIn: 600)
        pipeline = Pipeline(
            configuration: configuration,
            group: group,
            secrets: secrets,
            tokens: tokens,
            database: folder.file("data/rooms.sqlite"),
            viewershipDatabase: folder.file("data/viewership.sqlite"),
            assets: AssetStore(path: folder.file("data/assets")),
            clock: clock,
            launchMixer: { _, _, _ in throw NoMixer() },
            logger: logger
        )
        let ports = ListeningPorts { _ in }
        let web = GatewayWeb(
            pipeline: pipeline,
            ports: ports,
            health: Health(logger: logger),
            configuration: configuration,
            logger: logger
        )
        let http = web.publicSite(group: group, logger: logger) { ports.set(\.http, $0) }
        let beats = BeatListener(
            host: configuration.host,
            port: beatsPort,
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
        await pipeline.keeper.close(within: 5)
        await pipeline.history.close()
        try await group.shutdownGracefully()
    }

    /// What is counted now, every time-out up to now considered.
    func report(_ room: String) -> RoomViewership {
        pipeline.viewership.advance(to: clock.now)
        return pipeline.viewership.report(room: room)
    }
}
