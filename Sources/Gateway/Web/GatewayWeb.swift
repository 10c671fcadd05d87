import Admission
import ControlAPI
import FanOut
import FootlightModel
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import Media
import NIOCore
import NIOSSL
import Pages
import RTMP
import Persistence
import ServiceLifecycle
import Shows
import Stage
import Viewership
import Webhooks

/// The gateway's HTTP services: the public port with media, pages and API, the port for mixers, and the admin port.
struct GatewayWeb: Sendable {
    private let pipeline: Pipeline
    private let configuration: GatewayConfiguration
    private let gate: ConnectionGate
    private let logger: Logger
    private let adminConnections: Int
    private let ports: ListeningPorts
    /// Limits the event streams of each client.
    private let streams: ClientLimiter
    /// The pages, whose sessions and limits are those of both public ports.
    private let pages: PageSite
    /// The routes of the control API.
    let routes: ControlRoutes
    /// How the gateway and its machine are doing.
    let system: SystemReporter

    /// The file with the logins of the dashboard.
    static let loginsFile = "logins.sealed"
    /// The most bytes of a request's header, of which tokens are the longest part.
    private static let headerLimit = 16 * 1024
    /// The most pending snapshots of one client.
    private static let snapshotsPerClient = 16

    /// Seconds for which a command waits until its room is on disk.
    private static let persistTimeout = 2.0

    init(
        pipeline: Pipeline,
        webhooks: WebhookDispatcher? = nil,
        ports: ListeningPorts,
        health: Health,
        configuration: GatewayConfiguration,
        directory: DataDirectory,
        gate: ConnectionGate = ConnectionGate(limit: .max, viewers: .max),
        servers: [RTMPServer] = [],
        certificate: ServerCertificate? = nil,
        issuedTokens: (any IssuedTokenStoring)? = nil,
        logins: SealedFile<[DashboardLogin]>? = nil,
        adminConnections: Int = 256,
        cluster: ClusterController? = nil,
        logger: Logger
    ) {
        self.pipeline = pipeline
        self.configuration = configuration
        self.logger = logger
        self.gate = gate
        self.adminConnections = adminConnections
        self.ports = ports
        pages = Self.makePages(of: pipeline, configuration, directory, logins, cluster, logger: logger)
        streams = ClientLimiter(limit: configuration.clientStreams == 0 ? nil : configuration.clientStreams)
        let snapshots = ClientLimiter(limit: Self.snapshotsPerClient)
        let metrics = GatewayMetrics(
            viewership: pipeline.viewership,
            audienceGate: pipeline.gate,
            history: pipeline.history,
            stage: pipeline.stage,
            hosts: pipeline.hosts,
            feeds: pipeline.feeds,
            livestreams: pipeline.livestreams,
            supervisor: pipeline.mixers,
            recordings: pipeline.recordings,
            webhooks: webhooks,
            hls: pipeline.hls,
            logs: pipeline.logs,
            service: pipeline.service,
            gate: gate,
            health: health,
            servers: servers,
            certificate: certificate,
            streams: streams,
            snapshots: snapshots,
            degradation: pipeline.degradation,
            cluster: cluster
        )
        system = SystemReporter(
            pipeline: pipeline,
            webhooks: webhooks,
            health: health,
            certificate: certificate,
            configuration: configuration
        )
        let roomStore = pipeline.roomStore
        let assetFetches = AssetFetchService(
            allowsPrivateAddresses: configuration.allowsPrivateAssets,
            ports: ports,
            logger: logger
        )
        var auditLogger = Logger(label: "footlight.audit")
        auditLogger.logLevel = logger.logLevel
        var services = ControlServices(
            directory: pipeline.stage,
            tokens: pipeline.tokens,
            livestreams: pipeline.livestreams,
            viewership: pipeline.viewership,
            gate: pipeline.gate,
            shows: pipeline.shows,
            assets: pipeline.assets,
            addresses: {
                let current = ports.current
                return PlaybackAddresses(
                    host: configuration.host,
                    httpPort: current.http ?? 0,
                    rtmpPort: current.rtmp ?? 0,
                    httpsPort: current.https,
                    rtmpsPort: current.rtmps,
                    publicURL: configuration.publicURL
                )
            },
            readiness: { health.readiness },
            metrics: { metrics.text() }
        )
        services.hls = pipeline.playlists
        services.recordings = pipeline.recordings
        services.history = pipeline.history
        services.logs = CDNLogIngest(logs: pipeline.logs)
        services.reporter = ClientTrustPolicy.reporter
        services.client = ClientTrustPolicy.client
        services.logout = pages.logoutCheck
        services.clientStreams = streams
        services.clientSnapshots = snapshots
        services.fetch = assetFetches.fetch
        services.webhooks = webhooks
        services.issuedTokens = issuedTokens
        services.system = system
        services.cluster = cluster
        services.openMetrics = { metrics.openMetricsText() }
        services.allowedOrigins = Set(configuration.allowedOrigins)
        services.ignoresUnknownFields = configuration.ignoresUnknownFields
        services.admission = { health.acceptsWork ? nil : .serverBusy(retryAfter: Health.retryAfter) }
        services.mixerReported = { [mixers = pipeline.mixers] room in mixers.reported(room: room) }
        services.isPreviewWatched = { [previews = pipeline.previews] room in previews.isWatched(room: room) }
        services.persist = { room in
            // Repeated here, because the event of the change may still be under way on another thread.
            roomStore.markChanged(room: room)
            guard await roomStore.flush(room: room, within: Self.persistTimeout) else { throw RoomsNotPersisted() }
        }
        services.auditLogger = auditLogger
        routes = ControlRoutes(services)
    }

    /// Changes the limit on event streams of one client; 0 for none.
    func setStreamLimit(_ limit: Int) {
        streams.setLimit(limit == 0 ? nil : limit)
    }

    /// Rooms could not be written to disk in time.
    private struct RoomsNotPersisted: Error {}

    /// Records the viewer totals for event streams that resume; called once per second.
    func recordTotals() {
        routes.recordTotals()
    }

    /// Media, served on the event loops, with the pages and the API.
    ///
    /// - Parameter socket: A listening socket for the port; nil opens one.
    func publicSite(
        socket: CInt? = nil,
        group: any EventLoopGroup,
        logger: Logger,
        whenListening: @escaping @Sendable (Int) -> Void
    ) -> some Service {
        var service = pipeline.service
        if configuration.redirectsToHTTPS {
            service.secureLocation = { [ports] request in
                // The client proves by an answer in clear that it owns the name.
                guard !ACMEChallenges.owns(path: request.path ?? "") else { return nil }
                return ports.current.https.flatMap { request.location(overTLSAt: $0) }
            }
        }
        return publicServer(
            "HTTP",
            port: configuration.httpPort,
            socket: socket,
            service: service,
            group: group,
            logger: logger,
            whenListening: whenListening
        )
    }

    /// What the public site serves, by HTTPS.
    ///
    /// - Parameter socket: A listening socket for the port; nil opens one.
    func secureSite(
        port: Int,
        certificate: ServerCertificate,
        socket: CInt? = nil,
        group: any EventLoopGroup,
        logger: Logger,
        whenListening: @escaping @Sendable (Int) -> Void
    ) -> some Service {
        var server = publicServer(
            "HTTPS",
            port: port,
            socket: socket,
            service: pipeline.service,
            tls: { certificate.https },
            group: group,
            logger: logger,
            whenListening: whenListening
        )
        if configuration.strictTransportSeconds > 0 {
            server.headers[.strictTransportSecurity] = "max-age=\(configuration.strictTransportSeconds)"
        }
        return server
    }

    private func publicServer(
        _ name: String,
        port: Int,
        socket: CInt?,
        service: MediaService,
        tls: (@Sendable () -> NIOSSLContext)? = nil,
        group: any EventLoopGroup,
        logger: Logger,
        whenListening: @escaping @Sendable (Int) -> Void
    ) -> HTTPServer<PublicHTTPChannel, PageResponder<RouterResponder<BasicRequestContext>>> {
        let api = routes.router()
        if let folder = configuration.challengeDirectory { ACMEChallenges(folder: folder).add(to: api) }
        return HTTPServer(
            name: name,
            host: configuration.host,
            port: port,
            socket: socket,
            gate: gate,
            responder: pages.responder(before: api.buildResponder()),
            child: {
                PublicHTTPChannel(responder: $0, service: service, headerLimit: Self.headerLimit, tls: tls)
            },
            group: group,
            logger: logger,
            whenListening: whenListening
        )
    }

    /// The API for mixers, on 127.0.0.1.
    func mixerSite(
        gate: ConnectionGate,
        group: any EventLoopGroup,
        logger: Logger,
        whenListening: @escaping @Sendable (Int) -> Void
    ) -> some Service {
        let service = pipeline.service
        return HTTPServer(
            name: "mixer HTTP",
            host: GatewayConfiguration.mixerHost,
            port: 0,
            gate: gate,
            responder: routes.mixerRouter().buildResponder(),
            child: {
                PublicHTTPChannel(responder: $0, service: service, headerLimit: Self.headerLimit, isForMixers: true)
            },
            group: group,
            logger: logger,
            whenListening: whenListening
        )
    }

    /// Metrics and health, on 127.0.0.1.
    ///
    /// - Parameter socket: A listening socket for the port; nil opens one.
    func adminSite(
        socket: CInt? = nil,
        group: any EventLoopGroup,
        logger: Logger,
        whenListening: @escaping @Sendable (Int) -> Void
    ) -> some Service {
        HTTPServer(
            name: "admin",
            host: "127.0.0.1",
            port: configuration.adminPort,
            socket: socket,
            gate: ConnectionGate(limit: adminConnections, viewers: adminConnections),
            responder: routes.adminRouter().buildResponder(),
            child: { AdminHTTPChannel(responder: $0, headerLimit: Self.headerLimit) },
            group: group,
            logger: logger,
            whenListening: whenListening
        )
    }

    /// Makes the dashboard for operators, and the public watch page.
    private static func makePages(
        of pipeline: Pipeline,
        _ configuration: GatewayConfiguration,
        _ directory: DataDirectory,
        _ logins: SealedFile<[DashboardLogin]>?,
        _ cluster: ClusterController?,
        logger: Logger
    ) -> PageSite {
        PageSite(
            usesDeviceIDs: configuration.usesDeviceIDs,
            warnings: configuration.warnings.map { PageWarning(code: $0.code.rawValue, text: $0.text) },
            logins: logins?.load() ?? [],
            store: { present in logins?.change { $0 = present } },
            logger: logger,
            account: pipeline.proxies.account,
            redeem: { code in
                guard await LoginCode.redeem(code, in: directory) else { return nil }
                return try? await pipeline.tokens.issueOperator(
                    identity: OperatorToken.name,
                    expiresIn: LoginCode.sessionLifetime
                )
            },
            forward: { request in await cluster?.respond(to: request) },
            describe: { name in
                guard let status = try? pipeline.shows.status(of: name) else { return nil }
                return PageDescription(title: status.title, text: status.description)
            }
        ) { token in
            guard let claims = try? await pipeline.tokens.verify(token) else { return nil }
            switch claims.role {
            case .operator: return PageUser(identity: claims.identity, mayCommand: true)
            case .monitor where claims.room == nil: return PageUser(identity: claims.identity, mayCommand: false)
            case .monitor, .participant, .mixer, .relay, .thumbnail: return nil
            }
        } audience: { name in
            guard let room = try? pipeline.stage.summary(of: name), room.status == .inProgress else { return nil }
            return PageAudience(
                isOnAir: pipeline.playlists.status(room: room.name).state == .playable,
                viewers: pipeline.viewership.report(room: room.name).concurrent
            )
        } mayKnow: { name, sid in
            let room = (try? pipeline.stage.summary(of: name).name) ?? name
            return pipeline.gate.refusal(of: sid ?? "", in: room) == nil
        }
    }
}

extension HTTPRequest {
    /// Returns the URL of the request over TLS; nil if the request names no valid host.
    fileprivate func location(overTLSAt port: Int) -> String? {
        guard let host = HostHeader.parse(authority), let path, path.hasPrefix("/") else { return nil }
        return "https://\(host)\(port == 443 ? "" : ":\(port)")\(path)"
    }
}
