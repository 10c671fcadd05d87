import Assets
import CSeccomp
import Codecs
import ControlAPI
import Egress
import FanOut
import Foundation
import Hummingbird
import Logging
import MixerProcess
import NIOCore
import NIOPosix
import NIOSSL
import RTMP
import Recording
import Pages
import Persistence
import ServiceLifecycle
import Shows
import Stage
import UnixSignals
import Viewership
import Webhooks

/// Runs a whole gateway: listeners, rooms, fan-out, viewership and API.
public struct GatewayService: Sendable {
    private let configuration: GatewayConfiguration
    private let logger: Logger

    /// Seconds within which the rooms must be written to disk at shutdown.
    private static let persistTimeout = 2.0

    /// Prepares a gateway without opening anything.
    public init(_ configuration: GatewayConfiguration) {
        self.configuration = configuration
        var logger = Logger(label: "footlight")
        logger.logLevel = Logger.Level(rawValue: configuration.logLevel) ?? .info
        self.logger = logger
    }

    /// Makes the configured format and level those of all log messages of the process; call it once, before a service
    /// is made.
    public static func useLog(of configuration: GatewayConfiguration) {
        LogLevel.bootstrap(configuration)
    }

    /// Runs until SIGTERM or SIGINT.
    ///
    /// - Parameter reload: Reads the configuration again at SIGHUP.
    public func runUntilSignalled(reload: @escaping @Sendable () async throws -> GatewayConfiguration) async throws {
        try await run(reload: reload, whenListening: { _ in })
    }

    /// Runs until SIGTERM or SIGINT, and calls back when every listener is open.
    ///
    /// - Parameters:
    ///   - companion: A service that runs beside the gateway. It is shut down first, and the gateway ends with it.
    ///   - reload: Reads the configuration again at SIGHUP; nil leaves the signal to the process.
    func run(
        reload: (@Sendable () async throws -> GatewayConfiguration)? = nil,
        beside companion: (any Service)? = nil,
        whenListening: @escaping @Sendable (Endpoints) -> Void
    ) async throws {
        for key in configuration.unknownKeys {
            logger.warning("unknown key in the configuration file", metadata: ["key": "\(key)"])
        }
        for warning in configuration.warnings { logger.warning("\(warning.text)") }
        if !configuration.writesCores { ProcessHardening.apply(logger) }
        let threads = configuration.resolvedThreads
        let plan = DescriptorPlan(limit: DescriptorLimit.raise(), threads: threads, configuration: configuration)
        if !plan.isEnough(for: configuration) {
            logger.warning(
                "the limit on open files is too low for the configured viewers and hosts",
                metadata: [
                    "allowed": "\(plan.limit)", "viewer_connections": "\(plan.viewers)", "hosts": "\(plan.hosts)",
                    "mixer_connections": "\(plan.mixers)",
                ]
            )
        }
        // New files, those of mixers included, are not world-readable; secrets and databases are for the owner only.
        umask(0o027)
        let directory = try DataDirectory(configuration.dataDirectory)
        let lock = try DataDirectoryLock(directory)
        defer { withExtendedLifetime(lock) {} }
        if let mode = directory.widerMode {
            logger.notice(
                "permissions of the data folder narrowed to its owner",
                metadata: ["mode": "\(String(mode, radix: 8))"]
            )
        }
        if let problem = try DataFormat.claim(directory) {
            logger.error("no copy of the data of before the upgrade could be made", metadata: ["reason": "\(problem)"])
        }
        // A file here is a leftover of a terminated process.
        directory.remove(Endpoints.fileName)
        let clusterConfiguration = try ClusterConfiguration(configuration)
        let secrets = try GatewaySecrets(directory)
        let tokenStore = TokenStore(path: directory.filePath("tokens.sqlite"), logger: logger)
        let tokens = await AccessTokens(
            signingKey: secrets.signingKey,
            kid: secrets.signingKeyName,
            retired: try RetiredKeys.load(from: configuration.resolvedRetiredKeys),
            revocations: TokenRevocations(tokenStore.load(), store: tokenStore)
        )
        let tokenOutcome = try await OperatorToken.ensure(in: directory, tokens: tokens)
        SigningKeyService.log(tokenOutcome, to: logger)
        EgressLibraries.initialise()

        let group = MultiThreadedEventLoopGroup(numberOfThreads: threads)
        let cluster = try clusterConfiguration.map { (settings) throws(ConfigurationError) in
            try ClusterParts(settings, forwards: plan.forwards, directory: directory, group: group, logger: logger)
        }
        let sockets = InheritedSockets(
            environment: ProcessInfo.processInfo.environment,
            pid: ProcessInfo.processInfo.processIdentifier
        )
        let manager = SystemdNotifier(
            environment: ProcessInfo.processInfo.environment,
            pid: ProcessInfo.processInfo.processIdentifier
        )
        let ports = ListeningPorts(hasHTTPS: configuration.httpsPort != nil) { [logger] ports in
            guard let rtmp = ports.rtmp, let http = ports.http, let admin = ports.admin else { return }
            let endpoints = Endpoints(
                rtmpPort: rtmp,
                httpPort: http,
                adminPort: admin,
                rtmpsPort: ports.rtmps,
                httpsPort: ports.https,
                pid: ProcessInfo.processInfo.processIdentifier
            )
            if tokenOutcome == .written { Self.welcome(configuration, endpoints, directory, logger) }
            do {
                try endpoints.write(to: directory)
            } catch {
                logger.error("could not write endpoints.json", metadata: ["error": "\(error)"])
            }
            manager?.ready()
            whenListening(endpoints)
        }
        let launcher = MixerLauncher(
            configuration: configuration,
            tokens: tokens,
            ports: ports,
            logger: logger
        )
        let plans = LivestreamPlans(directory, secret: secrets.pepper, logger: logger)
        let logins = SealedFile<[DashboardLogin]>(
            GatewayWeb.loginsFile,
            in: directory,
            secret: secrets.pepper,
            purpose: "footlight logins",
            empty: [],
            loss: "users of the dashboard must log in again",
            logger: logger
        )
        let pipeline = Pipeline(
            configuration: configuration,
            plan: plan,
            group: group,
            secrets: secrets,
            tokens: tokens,
            database: directory.filePath("rooms.sqlite"),
            viewershipDatabase: directory.filePath("viewership.sqlite"),
            ticketDatabase: directory.filePath("tickets.sqlite"),
            showDatabase: directory.filePath("shows.sqlite"),
            plans: plans,
            assets: AssetStore(path: directory.filePath("assets")),
            cluster: cluster?.membership,
            routing: cluster?.routing,
            launchMixer: launcher.launch,
            logger: logger
        )
        let salt = SaltService(viewership: pipeline.viewership, directory: directory, logger: logger)
        let gate = WebhookGuard(allowsPrivateAddresses: configuration.allowsPrivateWebhooks)
        do {
            let webhooks = WebhookDispatcher(
                WebhookConfiguration(configuration),
                store: OutboxStore(path: directory.filePath("webhooks.sqlite"), logger: logger),
                vet: { host, port, seconds in await gate.vet(host, port: port, within: seconds) },
                group: group,
                logger: logger
            )
            webhooks.load()
            // Webhooks of shows stay while one of the shows cannot be read.
            if pipeline.hasAllShows { await webhooks.removeEndpoints { (try? pipeline.shows.show($0)) == nil } }
            try salt.load()
            try await serve(
                pipeline,
                webhooks,
                salt: salt,
                behind: gate,
                within: plan,
                on: sockets,
                tokenStore: tokenStore,
                logins: logins,
                ports: ports,
                cluster: cluster,
                reload: reload,
                beside: companion,
                group: group,
                lock: lock,
                manager: manager
            )
        } catch {
            Endpoints.removeIfOwned(from: directory)
            await pipeline.roomStore.close(within: Self.persistTimeout)
            await cluster?.close()
            try? await group.shutdownGracefully()
            throw error
        }
        Endpoints.removeIfOwned(from: directory)
        await pipeline.roomStore.close(within: Self.persistTimeout)
        await pipeline.history.close()
        plans.flush()
        logins.flush()
        await cluster?.close()
        try await group.shutdownGracefully()
    }

    private func serve(
        _ pipeline: Pipeline,
        _ webhooks: WebhookDispatcher,
        salt: SaltService,
        behind gate: WebhookGuard,
        within plan: DescriptorPlan,
        on sockets: InheritedSockets,
        tokenStore: TokenStore,
        logins: SealedFile<[DashboardLogin]>,
        ports: ListeningPorts,
        cluster: ClusterParts?,
        reload: (@Sendable () async throws -> GatewayConfiguration)?,
        beside companion: (any Service)?,
        group: MultiThreadedEventLoopGroup,
        lock: DataDirectoryLock,
        manager: SystemdNotifier?
    ) async throws {
        @Sendable func opened(_ listener: String, port: Int) {
            self.opened(listener, port: port, of: pipeline)
            if let port = UInt16(exactly: port) { gate.refuse(ownPort: port) }
        }
        let (connections, mixerConnections) = (plan.gate, plan.mixerGate)
        var limits = configuration.rtmpLimits(plan)
        limits.isProxy = { [proxies = pipeline.proxies] in proxies.include($0) }
        func listen(_ name: String, port: Int, tls: (@Sendable () -> NIOSSLContext)? = nil) async throws -> RTMPServer {
            do {
                return try await RTMPServer.start(
                    host: configuration.host,
                    port: port,
                    group: group,
                    delegate: pipeline.router,
                    limits: limits,
                    tls: tls,
                    gate: connections,
                    socket: sockets.socket(for: port)
                )
            } catch {
                throw ListenError(name, host: configuration.host, port: port, error: error)
            }
        }
        let rtmp = try await listen("RTMP", port: configuration.rtmpPort)
        opened("RTMP", port: rtmp.port)
        let mixerRTMP = try await listenToMixers(pipeline, gate: mixerConnections, group: group)
        opened("mixer RTMP", port: mixerRTMP.port)
        ports.set(\.mixerRTMP, mixerRTMP.port)
        var rtmps: RTMPServer?
        let needsCertificate = configuration.rtmpsPort != nil || configuration.httpsPort != nil
        let certificate = try needsCertificate ? CertificatePaths(configuration).map(ServerCertificate.init) : nil
        if let port = configuration.rtmpsPort, let certificate {
            let server = try await listen("RTMPS", port: port, tls: { certificate.rtmps })
            opened("RTMPS", port: server.port)
            ports.set(\.rtmps, server.port)
            rtmps = server
        }
        ports.set(\.rtmp, rtmp.port)
        let health = Health(logger: logger)
        let servers = [rtmp, rtmps].compactMap { $0 }
        let web = GatewayWeb(
            pipeline: pipeline,
            webhooks: webhooks,
            ports: ports,
            health: health,
            configuration: configuration,
            directory: salt.directory,
            gate: connections,
            servers: servers,
            certificate: certificate,
            issuedTokens: tokenStore,
            logins: logins,
            adminConnections: plan.admin,
            cluster: cluster?.controller,
            logger: logger
        )
        let webhookEvents = WebhookEventService(
            webhooks: webhooks,
            builder: web.routes.webhookEvents,
            stage: pipeline.stage,
            viewership: pipeline.viewership,
            history: pipeline.history,
            thresholds: configuration.webhookThresholds,
            logger: logger
        )
        let httpSocket = sockets.socket(for: configuration.httpPort)
        let http = web.publicSite(socket: httpSocket, group: group, logger: logger) { port in
            opened("HTTP", port: port)
            ports.set(\.http, port)
        }
        var secureServices: [any Service] = []
        if let certificate {
            secureServices.append(
                CertificateService(certificate: certificate, directory: salt.directory, logger: logger)
            )
        }
        if let port = configuration.httpsPort, let certificate {
            let socket = sockets.socket(for: port)
            secureServices.append(
                web.secureSite(port: port, certificate: certificate, socket: socket, group: group, logger: logger) {
                    opened("HTTPS", port: $0)
                    ports.set(\.https, $0)
                }
            )
        }
        let mixerHTTP = web.mixerSite(gate: mixerConnections, group: group, logger: logger) { port in
            opened("mixer HTTP", port: port)
            ports.set(\.mixerHTTP, port)
        }
        let adminSocket = sockets.socket(for: configuration.adminPort, isLoopback: true)
        let admin = web.adminSite(socket: adminSocket, group: group, logger: logger) { port in
            opened("admin", port: port)
            ports.set(\.admin, port)
        }
        sockets.closeOthers(logger)
        let accessLog = AccessLogListener(
            host: configuration.host,
            port: configuration.accessLogPort,
            group: group,
            proxies: pipeline.proxies,
            viewership: pipeline.viewership,
            logger: logger
        )
        var parts: [LivenessMonitor.Part] = [
            .store("rooms") { [roomStore = pipeline.roomStore] answer in roomStore.probe(answer) },
            .store("viewership") { [pipeline] answer in pipeline.history.probe(pipeline.viewership, answer) },
            .store("webhooks") { answer in webhooks.probe(answer) },
            .store("tokens") { [revocations = pipeline.tokens.revocations] answer in
                tokenStore.probe({ revocations.all(with: $0) }, answer)
            },
            .store("tickets") { [tickets = pipeline.tickets] answer in tickets.probe(answer) },
            .store("shows") { [shows = pipeline.showStore] answer in shows.probe(answer) },
            .mixers(pipeline.mixers),
        ]
        parts += LivenessMonitor.Part.loops(of: group)
        parts += LivenessMonitor.Part.folder(salt.directory, lock: lock)
        let monitor = LivenessMonitor(parts: parts, health: health, manager: manager)
        // Stopped in reverse order: listeners, hosts and viewers first, then mixers, then HTTP.
        var services: [any Service] =
            [
                monitor,
                webhookEvents,
                MaintenanceService(
                    pipeline: pipeline,
                    webhookEvents: webhookEvents,
                    web: web,
                    health: health,
                    logger: logger
                ),
                ConnectionMonitor(gate: connections, mixers: mixerConnections, health: health, logger: logger),
                salt,
                SessionKeyService(viewership: pipeline.viewership, directory: salt.directory, logger: logger),
                SigningKeyService(
                    tokens: pipeline.tokens,
                    directory: salt.directory,
                    retiredKeys: configuration.resolvedRetiredKeys,
                    logger: logger
                ),
                RetentionService(recordings: pipeline.recordings),
                accessLog,
                admin,
                http,
            ] + secureServices + [
                mixerHTTP,
                pipeline.mixers,
                DrainService(
                    pipeline: pipeline,
                    servers: servers + [mixerRTMP],
                    health: health,
                    forwarder: cluster?.controller.forwarder
                ),
            ]
        let reloading = reload.map { load in
            ConfigurationReload(load: load, initial: configuration, logger: logger) { new in
                if let certificate, let paths = CertificatePaths(new) {
                    certificate.use(paths)
                    _ = try await salt.directory.onQueue { try certificate.reload() }
                }
                if let level = Logger.Level(rawValue: new.logLevel) { LogLevel.current = level }
                let limits = new.rtmpLimits(plan)
                for server in servers {
                    server.setClientLimits(
                        players: limits.playersPerClient,
                        waiting: limits.preAuthConnectionsPerClient
                    )
                }
                pipeline.apply(new, plan)
                web.setStreamLimit(new.clientStreams)
                web.system.use(new)
                gate.setAllowsPrivateAddresses(new.allowsPrivateWebhooks)
                webhooks.setAllowsPlainHTTP(new.allowsPlainWebhooks)
            }
        }
        // Holds its lease until everything else has stopped.
        if let cluster { services.insert(cluster.service(for: pipeline.stage), at: 0) }
        if let reloading { services.insert(reloading, at: 0) }
        var running = services.map { ServiceGroupConfiguration.ServiceConfiguration(service: $0) }
        if let companion {
            running.append(.init(service: companion, successTerminationBehavior: .gracefullyShutdownGroup))
        }
        var serviceGroup = ServiceGroupConfiguration(
            services: running,
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger
        )
        serviceGroup.maximumGracefulShutdownDuration = .seconds(20)
        serviceGroup.maximumCancellationDuration = .seconds(5)
        try await ServiceGroup(configuration: serviceGroup).run()
    }

    /// Opens the RTMP port to which mixers publish, and from which they play hosts' feeds.
    private func listenToMixers(
        _ pipeline: Pipeline,
        gate: ConnectionGate,
        group: any EventLoopGroup
    ) async throws -> RTMPServer {
        var router = pipeline.router
        router.isForMixers = true
        var limits = RTMPLimits()
        limits.connections = gate.limit
        limits.preAuthConnections = gate.limit
        // All mixers connect from this machine.
        limits.isProxy = { _ in true }
        let host = GatewayConfiguration.mixerHost
        do {
            return try await RTMPServer.start(
                host: host,
                port: 0,
                group: group,
                delegate: router,
                limits: limits,
                gate: gate
            )
        } catch {
            throw ListenError("mixer RTMP", host: host, port: 0, error: error)
        }
    }

    /// Says at the first start where the dashboard is, and how to log in.
    private static func welcome(
        _ configuration: GatewayConfiguration,
        _ endpoints: Endpoints,
        _ directory: DataDirectory,
        _ logger: Logger
    ) {
        let address = configuration.publicURL ?? "http://\(configuration.dashboardHost):\(endpoints.httpPort)"
        guard let code = try? LoginCode.make(in: directory) else { return }
        logger.notice(
            "first start: open the dashboard and enter the code, which is good for ten minutes",
            metadata: [
                "dashboard": "\(address)/dashboard", "code": .stringConvertible(LogSecret(description: code)),
                "later": "footlight login",
            ]
        )
    }

    /// Logs an open listener, and excludes its port from outputs to prevent loops.
    private func opened(_ listener: String, port: Int, of pipeline: Pipeline) {
        logger.info("listening", metadata: ["listener": "\(listener)", "port": "\(port)"])
        if let port = UInt16(exactly: port) { pipeline.livestreams.refuse(ownPort: port) }
    }
}

/// Deletes recorded files whose retention has expired.
struct RetentionService: Service {
    let recordings: RecordingController

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                recordings.sweep()
                // Cancellation ends the sleep and, with it, the loop.
                try? await Task.sleep(for: .seconds(60))
            }
        }
    }
}

/// Waits for shutdown, then closes connections and feeds from the outside in.
struct DrainService: Service {
    let pipeline: Pipeline
    let servers: [RTMPServer]
    let health: Health
    /// What forwards requests to other gateways; nil for a gateway that runs alone.
    let forwarder: NodeForwarder?

    func run() async throws {
        try? await gracefulShutdown()
        health.set(.draining, "the gateway is being stopped")
        pipeline.stage.drain()
        pipeline.livestreams.shutdown()
        pipeline.recordings.shutdown()
        for feed in pipeline.feeds.all { feed.end(.shutdown) }
        pipeline.stage.endReaders()
        // The clients of the streams that it forwards connect again, to another gateway.
        await forwarder?.shutdown()
        for server in servers { await server.shutdown() }
        // The last recorded packets may still be in the write queue.
        for _ in 0..<40 where !pipeline.recordings.isIdle { try? await Task.sleep(for: .milliseconds(50)) }
    }
}

/// A listener that could not be opened.
struct ListenError: Error, CustomStringConvertible {
    let listener: String
    let host: String
    let port: Int
    let problem: String

    init(_ listener: String, host: String, port: Int, error: any Error) {
        self.listener = listener
        self.host = host
        self.port = port
        problem = (error as? IOError)?.errnoCode.text ?? String(describing: error)
    }

    var description: String { "\(listener) cannot listen on \(host):\(port): \(problem)" }
}

extension CInt {
    /// The system's message for this errno.
    fileprivate var text: String { String(cString: strerror(self)) }
}

/// Protects this process's memory, which holds keys.
enum ProcessHardening {
    /// Disables core files, and access to memory and environment by other processes of the same user.
    static func apply(_ logger: Logger) {
        let results = [footlight_limit(Int32(FOOTLIGHT_LIMIT_CORE), 0), footlight_not_dumpable()]
        guard let failure = results.first(where: { $0 < 0 }) else { return }
        logger.warning("could not protect this process's memory", metadata: ["errno": "\(-failure)"])
    }
}
