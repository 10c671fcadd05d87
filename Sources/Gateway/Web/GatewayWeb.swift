import ControlAPI
import FanOut
import Hummingbird
import HummingbirdCore
import Logging
import Media
import NIOCore
import Pages
import RTMP
import RoomStore
import ServiceLifecycle
import Stage
import Viewership
import Webhooks

/// The gateway's two HTTP servers: the public one (media ahead, API behind) and the admin one on loopback.
struct GatewayWeb: Sendable {
    private let pipeline: Pipeline
    private let configuration: GatewayConfiguration
    private let gate: ConnectionGate
    private let logger: Logger
    private let adminConnections: Int
    /// The API behind both.
    let routes: ControlRoutes

    /// Most of a request's header, in bytes; tokens are the longest thing in it.
    private static let headerLimit = 16 * 1024
    /// Pictures of programs that one client may wait for at a time.
    private static let snapshotsPerClient = 16

    /// Seconds a command waits for its room to be on disk before it is answered all the same.
    private static let keepingLimit = 2.0

    init(
        pipeline: Pipeline,
        webhooks: WebhookDispatcher? = nil,
        ports: ListeningPorts,
        health: Health,
        configuration: GatewayConfiguration,
        gate: ConnectionGate = ConnectionGate(limit: .max, viewers: .max),
        servers: [RTMPServer] = [],
        adminConnections: Int = 256,
        logger: Logger
    ) {
        self.pipeline = pipeline
        self.configuration = configuration
        self.logger = logger
        self.gate = gate
        self.adminConnections = adminConnections
        let streams = ClientLimiter(limit: configuration.clientStreams == 0 ? nil : configuration.clientStreams)
        let snapshots = ClientLimiter(limit: Self.snapshotsPerClient)
        let metrics = GatewayMetrics(
            viewership: pipeline.viewership,
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
            site: pipeline.site,
            gate: gate,
            health: health,
            servers: servers,
            streams: streams,
            snapshots: snapshots,
            degradation: pipeline.degradation
        )
        let keeper = pipeline.keeper
        let assetFetches = AssetFetchService(
            allowsPrivateAddresses: configuration.allowsPrivateAssets,
            ports: ports,
            logger: logger
        )
        var auditLogger = Logger(label: "footlight.audit")
        auditLogger.logLevel = logger.logLevel
        routes = ControlRoutes(
            directory: pipeline.stage,
            tokens: pipeline.tokens,
            livestreams: pipeline.livestreams,
            hls: pipeline.playlists,
            recordings: pipeline.recordings,
            viewership: pipeline.viewership,
            history: pipeline.history,
            logs: NetworkLogs(logs: pipeline.logs),
            reporter: PlayerReading.reporter,
            client: PlayerReading.client,
            clientStreams: streams,
            clientSnapshots: snapshots,
            assets: pipeline.assets,
            fetch: assetFetches.fetch,
            webhooks: webhooks,
            addresses: {
                let current = ports.current
                return PlaybackAddresses(
                    host: configuration.host,
                    httpPort: current.http ?? 0,
                    rtmpPort: current.rtmp ?? 0
                )
            },
            readiness: { health.readiness },
            metrics: { metrics.text() },
            openMetrics: { metrics.openMetricsText() },
            allowedOrigins: Set(configuration.allowedOrigins),
            admission: { health.acceptsWork ? nil : .serverBusy(retryAfter: Health.retryAfter) },
            mixerReported: { [mixers = pipeline.mixers] room in mixers.reported(room: room) },
            persist: { room in
                // Said here once more: the news of the change may still be on another thread's way to the keeper.
                keeper.changed(room: room)
                guard await keeper.flush(within: Self.keepingLimit) else { throw RoomsNotKept() }
            },
            auditLogger: auditLogger
        )
    }

    /// Rooms could not be written to disk in time.
    private struct RoomsNotKept: Error {}

    /// Keeps what followers of the figures miss while their stream is broken; to be called once a second.
    func keepTotals() {
        routes.keepTotals()
    }

    /// Playback, answered on the event loop, and the API.
    ///
    /// - Parameter socket: Listens on the port already; nil to open one.
    func publicSite(
        socket: CInt? = nil,
        group: any EventLoopGroup,
        logger: Logger,
        whenListening: @escaping @Sendable (Int) -> Void
    ) -> some Service {
        let site = pipeline.site
        return HTTPServer(
            name: "HTTP",
            host: configuration.host,
            port: configuration.httpPort,
            socket: socket,
            gate: gate,
            responder: pages.responder(before: routes.router().buildResponder()),
            child: { MediaFirstChannel(responder: $0, site: site, headerLimit: Self.headerLimit) },
            group: group,
            logger: logger,
            whenListening: whenListening
        )
    }

    /// The API for mixers, for this machine only.
    func mixerSite(
        gate: ConnectionGate,
        group: any EventLoopGroup,
        logger: Logger,
        whenListening: @escaping @Sendable (Int) -> Void
    ) -> some Service {
        let site = pipeline.site
        return HTTPServer(
            name: "mixer HTTP",
            host: GatewayConfiguration.mixerHost,
            port: 0,
            gate: gate,
            responder: routes.mixerRouter().buildResponder(),
            child: { MediaFirstChannel(responder: $0, site: site, headerLimit: Self.headerLimit, isForMixers: true) },
            group: group,
            logger: logger,
            whenListening: whenListening
        )
    }

    /// Metrics and health, for this machine only.
    ///
    /// - Parameter socket: Listens on the port already; nil to open one.
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
            child: { AdminChannel(responder: $0, headerLimit: Self.headerLimit) },
            group: group,
            logger: logger,
            whenListening: whenListening
        )
    }

    /// The dashboard and the watch page, for operators and for everybody.
    private var pages: PageSite {
        let pipeline = pipeline
        return PageSite(
            takesDevices: configuration.takesDeviceIDs,
            logger: logger,
            account: pipeline.proxies.account
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
        }
    }
}
