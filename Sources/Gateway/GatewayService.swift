import Assets
import ControlAPI
import Codecs
import Egress
import FanOut
import Foundation
import Hummingbird
import Logging
import NIOCore
import NIOPosix
import NIOSSL
import RTMP
import RoomStore
import ServiceLifecycle
import Stage
import UnixSignals
import ViewershipStore
import Webhooks

/// A whole gateway: listeners, rooms, fan-out, counting and API, run until it is told to stop.
public struct GatewayService: Sendable {
    private let configuration: GatewayConfiguration
    private let logger: Logger

    /// Seconds that the rooms have at the end to get to disk.
    private static let keepingLimit = 2.0

    /// Prepares a gateway; nothing is opened before it runs.
    public init(_ configuration: GatewayConfiguration) {
        self.configuration = configuration
        var logger = Logger(label: "footlight")
        logger.logLevel = Logger.Level(rawValue: configuration.logLevel) ?? .info
        self.logger = logger
    }

    /// Runs until SIGTERM or SIGINT.
    public func runUntilSignalled() async throws {
        try await run(whenListening: { _ in })
    }

    /// Runs until SIGTERM or SIGINT, and says when every listener is open.
    ///
    /// - Parameter companion: Runs beside the gateway. It is told of the end before all else, and its own end is the
    ///   gateway's.
    func run(
        beside companion: (any Service)? = nil,
        whenListening: @escaping @Sendable (Endpoints) -> Void
    ) async throws {
        for key in configuration.unknownKeys {
            logger.warning("the configuration file has a key that is no setting", metadata: ["key": "\(key)"])
        }
        let descriptors = DescriptorLimit.raise()
        if descriptors < configuration.wantedDescriptors {
            logger.warning(
                "the system allows too few open files for as many viewers and hosts as the settings do",
                metadata: ["allowed": "\(descriptors)", "wanted": "\(configuration.wantedDescriptors)"]
            )
        }
        let directory = try DataDirectory(configuration.dataDirectory)
        directory.remove(Endpoints.fileName)
        let secrets = try GatewaySecrets(directory)
        let tokens = await AccessTokens(
            signingKey: secrets.signingKey,
            kid: secrets.signingKeyName,
            retired: try RetiredKeys.load(from: configuration.resolvedRetiredKeys)
        )
        try await OperatorToken.ensure(in: directory, tokens: tokens)
        EgressLibraries.initialise()

        let threads = configuration.threads == 0 ? System.coreCount : configuration.threads
        let group = MultiThreadedEventLoopGroup(numberOfThreads: threads)
        let ports = ListeningPorts { [logger] ports in
            guard let rtmp = ports.rtmp, let http = ports.http, let admin = ports.admin else { return }
            let endpoints = Endpoints(
                rtmpPort: rtmp,
                httpPort: http,
                adminPort: admin,
                rtmpsPort: ports.rtmps,
                pid: ProcessInfo.processInfo.processIdentifier
            )
            do {
                try endpoints.write(to: directory)
            } catch {
                logger.error("cannot write the endpoints", metadata: ["error": "\(error)"])
            }
            whenListening(endpoints)
        }
        let launcher = MixerLauncher(configuration: configuration, tokens: tokens, ports: ports)
        let pipeline = Pipeline(
            configuration: configuration,
            group: group,
            secrets: secrets,
            tokens: tokens,
            database: directory.filePath("rooms.sqlite"),
            viewershipDatabase: directory.filePath("viewership.sqlite"),
            assets: AssetStore(path: directory.filePath("assets")),
            launchMixer: launcher.launch,
            logger: logger
        )
        let salt = SaltKeeping(viewership: pipeline.viewership, directory: directory, logger: logger)
        let gate = WebhookGuard(allowsPrivateAddresses: configuration.resolvedAllowsPrivateWebhooks)
        do {
            let webhooks = try WebhookDispatcher(
                WebhookConfiguration(configuration, path: directory.filePath("webhooks.sqlite")),
                vet: { host, port, seconds in await gate.vet(host, port: port, within: seconds) },
                group: group,
                logger: logger
            )
            webhooks.load()
            try salt.load()
            try await serve(
                pipeline,
                webhooks,
                salt: salt,
                behind: gate,
                ports: ports,
                beside: companion,
                group: group
            )
        } catch {
            directory.remove(Endpoints.fileName)
            await pipeline.keeper.close(within: Self.keepingLimit)
            try? await group.shutdownGracefully()
            throw error
        }
        directory.remove(Endpoints.fileName)
        await pipeline.keeper.close(within: Self.keepingLimit)
        await pipeline.history.close()
        try await group.shutdownGracefully()
    }

    private func serve(
        _ pipeline: Pipeline,
        _ webhooks: WebhookDispatcher,
        salt: SaltKeeping,
        behind gate: WebhookGuard,
        ports: ListeningPorts,
        beside companion: (any Service)?,
        group: MultiThreadedEventLoopGroup
    ) async throws {
        @Sendable func opened(_ listener: String, port: Int) {
            self.opened(listener, port: port, of: pipeline)
            if let port = UInt16(exactly: port) { gate.refuse(ownPort: port) }
        }
        let rtmp = try await listen("RTMP", pipeline, port: configuration.rtmpPort, tls: nil, group: group)
        opened("RTMP", port: rtmp.port)
        var rtmps: RTMPServer?
        if let port = configuration.rtmpsPort {
            let server = try await listen("RTMPS", pipeline, port: port, tls: try tlsContext(), group: group)
            opened("RTMPS", port: server.port)
            ports.set(\.rtmps, server.port)
            rtmps = server
        }
        ports.set(\.rtmp, rtmp.port)
        let health = Health()
        let web = GatewayWeb(
            pipeline: pipeline,
            webhooks: webhooks,
            ports: ports,
            health: health,
            configuration: configuration,
            logger: logger
        )
        let news = WebhookNews(
            webhooks: webhooks,
            routes: web.routes,
            stage: pipeline.stage,
            viewership: pipeline.viewership,
            history: pipeline.history,
            thresholds: configuration.webhookThresholds,
            logger: logger
        )
        let http = web.publicSite(group: group, logger: logger) { port in
            opened("HTTP", port: port)
            ports.set(\.http, port)
        }
        let admin = web.adminSite(group: group, logger: logger) { port in
            opened("admin", port: port)
            ports.set(\.admin, port)
        }
        let beats = BeatListener(
            host: configuration.host,
            port: configuration.beatsPort,
            group: group,
            proxies: pipeline.proxies,
            viewership: pipeline.viewership,
            logger: logger
        )
        // Stopped in the reverse order: first the doors to the outside and everyone inside, then the mixers, then HTTP.
        let services: [any Service] = [
            news,
            Upkeep(pipeline: pipeline, news: news, web: web, health: health, logger: logger),
            salt,
            SessionKeyKeeping(viewership: pipeline.viewership, directory: salt.directory, logger: logger),
            RecordingUpkeep(recordings: pipeline.recordings),
            beats,
            admin,
            http,
            pipeline.mixers,
            Draining(pipeline: pipeline, servers: [rtmp, rtmps].compactMap { $0 }, health: health),
        ]
        var running = services.map { ServiceGroupConfiguration.ServiceConfiguration(service: $0) }
        if let companion {
            running.append(.init(service: companion, successTerminationBehavior: .gracefullyShutdownGroup))
        }
        var group = ServiceGroupConfiguration(
            services: running,
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger
        )
        group.maximumGracefulShutdownDuration = .seconds(20)
        group.maximumCancellationDuration = .seconds(5)
        try await ServiceGroup(configuration: group).run()
    }

    private func listen(
        _ name: String,
        _ pipeline: Pipeline,
        port: Int,
        tls: NIOSSLContext?,
        group: any EventLoopGroup
    ) async throws -> RTMPServer {
        do {
            return try await RTMPServer.start(
                host: configuration.host,
                port: port,
                group: group,
                delegate: pipeline.doors,
                limits: configuration.rtmpLimits,
                tls: tls
            )
        } catch {
            throw ListenError(name, host: configuration.host, port: port, error: error)
        }
    }

    private func tlsContext() throws -> NIOSSLContext {
        guard let certificate = configuration.tlsCertificate, let key = configuration.tlsKey else {
            throw ConfigurationError(key: "rtmps.port", problem: "needs tls.certificate and tls.key")
        }
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(certificate).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: key, format: .pem))
        )
        tls.minimumTLSVersion = .tlsv12
        return try NIOSSLContext(configuration: tls)
    }

    /// Says where we listen; a program that is pushed there would come round again.
    private func opened(_ listener: String, port: Int, of pipeline: Pipeline) {
        logger.info("listening", metadata: ["listener": "\(listener)", "port": "\(port)"])
        if let port = UInt16(exactly: port) { pipeline.livestreams.refuse(ownPort: port) }
    }
}
