import FanOut
import FootlightModel
import HLS
import Logging
import Media
import MixerProcess
import NIOCore
import Recording
public import Stage
import Persistence
import Viewership
import Webhooks

/// The gateway's settings.
///
/// The precedence is: command line, environment (`FOOTLIGHT_RTMP_PORT` for `rtmp.port`), configuration file, default.
public struct GatewayConfiguration: Sendable, Equatable {
    /// `data.dir`: the folder for keys, tokens, databases and recordings.
    public var dataDirectory = "footlight-data"
    /// `host`: the address the RTMP and HTTP listeners bind to.
    public var host = "127.0.0.1"
    /// `rtmp.port`; 0 picks a free one.
    public var rtmpPort = 1935
    /// `http.port`; 0 picks a free one.
    public var httpPort = 8080
    /// `admin.port` on 127.0.0.1, for metrics and health; 0 picks a free one.
    public var adminPort = 9091
    /// `rtmps.port`: RTMP over TLS when a certificate is configured; 0 picks a free one.
    public var rtmpsPort: Int?
    /// `https.port`: HTTP over TLS when a certificate is configured; 0 picks a free one.
    public var httpsPort: Int?
    /// `https.redirect`: whether requests to the HTTP port are redirected to HTTPS.
    ///
    /// Requests that a trusted proxy forwards are answered.
    public var redirectsToHTTPS = false
    /// `https.hsts`: seconds for which browsers are to use HTTPS only (RFC 6797); 0 tells them nothing.
    public var strictTransportSeconds = 0
    /// `tls.certificate`: PEM file with the certificate chain.
    public var tlsCertificate: String?
    /// `tls.key`: PEM file with the private key.
    public var tlsKey: String?
    /// `tls.challenge_dir`: the folder of responses to ACME HTTP-01 challenges (RFC 8555 section 8.3), the `webroot` of
    /// certbot.
    public var challengeDirectory: String?
    /// `fanout.tick`: milliseconds between two writes to a viewer, 0 to 1000.
    ///
    /// At 30 frames per second, 66 sends two frames per write, which halves the number of writes; 33 sends each at
    /// once.
    public var fanOutTick = 66
    /// `fanout.viewers`: the most concurrent viewers; those served by a cache in front do not count.
    public var maximumViewers = 20_000
    /// `fanout.direct_writes`: whether media is written to the sockets of RTMP and HTTP-FLV viewers directly.
    ///
    /// With false, it passes through the connections' pipelines, which costs more per viewer.
    public var writesDirectly = true
    /// `outputs.allow_private`: whether operators' outputs may push to private and loopback addresses, on any port.
    public var allowsPrivateOutputs = false
    /// `outputs.ca_file`: PEM file of authorities that RTMPS outputs trust besides the system's.
    public var outputAuthorities: String?
    /// `assets.allow_private`: whether images and music that operators name by URL may come from private and loopback
    /// addresses, on any port but the gateway's own.
    public var allowsPrivateAssets = false
    /// `room.idle`: seconds after which the mixer of a room without hosts, viewers and recording is stopped.
    public var roomIdle = 300
    /// The host by which an operator on this machine reaches the dashboard.
    public var dashboardHost: String { ["0.0.0.0", "::", ""].contains(host) ? "127.0.0.1" : host }
    /// `public_url`: the address by which everyone reaches the gateway by HTTP, such as `https://live.example`.
    ///
    /// All addresses in answers, events and pages begin with it. Without it they have the host of each request.
    public var publicURL: String?
    /// `api.unknown_fields`: whether requests of the API may have fields that the gateway does not know.
    public var ignoresUnknownFields = false
    /// `rooms.maximum`: the most rooms in progress.
    public var maximumRooms = 200
    /// `rooms.call.audio_on`, `video_on`, `speaker_on`, `audio_output_on` and `camera_position`: the clients' initial
    /// device state where neither the user nor the room has set it.
    public var callSettings = CallSettings()
    /// `rooms.ad_hoc`: whether joining a room that does not exist creates it.
    public var makesRoomsAdHoc = false
    /// `hosts.maximum`: the most host connections, over all rooms.
    public var maximumHosts = 2_000
    /// `livestreams.maximum`: the most livestreams, over all rooms.
    public var maximumLivestreams = 100
    /// `limits.cpu_ceiling`: the share of the machine's cores for all mixers together, in percent; 0 is no limit.
    ///
    /// A host that would exceed it is refused, so that rooms on air keep their processor time.
    public var processorCeiling = 80
    /// `limits.requests`: HTTP requests per second of one client, with bursts of twice as many; 0 is no limit.
    ///
    /// A client is an IPv4 address or an IPv6 /64 network. For requests that a server of `viewership.proxies` or a
    /// proxy on this machine forwards, the client is the forwarded address. Each session behind the address raises the
    /// limit.
    public var requestRate = 100
    /// `limits.connections`: concurrent HTTP connections of one client; 0 is no limit.
    public var clientConnections = 256
    /// `limits.players`: concurrent RTMP players of one client; 0 is no limit.
    public var clientPlayers = 64
    /// `limits.waiting`: RTMP connections of one client that neither publish nor play yet; 0 is no limit.
    public var clientWaiting = 20
    /// `limits.sessions`: players of one client that requested a program and are not proven to watch; 0 is no limit.
    public var clientSessions = 500
    /// `limits.viewers`: counted viewers of one client without a token; further ones play uncounted, 0 is no limit.
    public var clientViewers = 1_000
    /// `limits.streams`: concurrent event streams of one client, without operators' and mixers'; 0 is no limit.
    public var clientStreams = 128
    /// `limits.bandwidth_mbps`: the size of the link to viewers in Mb/s, for an estimate of how many it carries; nil if
    /// unknown.
    public var bandwidth: Int?
    /// `recordings.file_size`: MiB after which a recorded file ends at the next keyframe.
    public var recordingFileSize = 2_048
    /// `recordings.file_length`: seconds after which a recorded file ends at the next keyframe.
    public var recordingFileLength = 3_600
    /// `recordings.keep_size`: the most MiB of finished files; the oldest are deleted first, 0 keeps all.
    public var recordingRetentionSize = 0
    /// `recordings.keep_age`: hours after which finished files are deleted; 0 keeps all.
    public var recordingRetentionAge = 0
    /// `recordings.reserve`: MiB of disk space that recordings leave free.
    public var recordingReserve = 256
    /// `viewership.keep_sessions`: days for which sessions are stored; minutes and broadcasts hold no personal data.
    public var sessionRetentionDays = 30
    /// `viewership.keep_minutes`: days for which minutes and broadcasts are stored; 0 keeps all.
    public var minuteRetentionDays = 0
    /// `viewership.regions`: a MaxMind DB file that maps addresses to regions; nil leaves regions unknown.
    public var regionDatabase: String?
    /// `viewership.proxies`: addresses and networks of servers in front, whose `X-Forwarded-For` is trusted.
    ///
    /// Client limits and login limits use the forwarded address. Access log lines are accepted from these servers and
    /// from this machine only.
    public var trustedProxies: [String] = []
    /// `viewership.proxies_cache`: whether servers in front may answer media requests from a cache.
    ///
    /// With false, a session behind those servers is not counted by its playlist requests alone.
    public var proxiesCache = true
    /// `viewership.session_paths`: whether the media URLs of direct players carry their session in the path, so that
    /// the media sent to each session is known.
    ///
    /// With false, a cache in front that adds none of `X-Forwarded-For`, `Forwarded` and `Via` stores each segment once
    /// rather than once per viewer.
    public var namesSessionsInPaths = true
    /// `viewership.region_header`: the request header in which those servers send the country, such as `CF-IPCountry`.
    public var regionHeader: String?
    /// `viewership.region`: the region of viewers whose region is otherwise unknown, such as `DE` or `US-CA`.
    public var homeRegion: String?
    /// `viewership.device_ids`: whether players' device ids (`did`) distinguish viewers.
    ///
    /// The operator is responsible for the viewers' consent.
    public var usesDeviceIDs = false
    /// `viewership.reports_alone`: whether players that are known by CMCD reports alone, under ids of their own making,
    /// count without proof of media requests.
    ///
    /// For a content network without logs. Any client can invent such players, up to the limit per address.
    public var countsReportsAlone = false
    /// `viewership.robots`: a file with additional user agent patterns of robots, one per line.
    public var robotList: String?
    /// `viewership.log_lateness`: seconds after which a CDN log line is too late to count.
    public var logLateness = 90
    /// `viewership.beats_port`: the UDP port on `host` for syslog access log lines of a server in front.
    ///
    /// Nil turns the listener off.
    public var accessLogPort: Int?
    /// `webhooks.allow_private`: whether webhooks may be posted to private and loopback addresses, on any port.
    public var allowsPrivateWebhooks = false
    /// `webhooks.allow_http`: whether webhooks may be posted without TLS.
    public var allowsPlainWebhooks = false
    /// `webhooks.maximum`: the most webhooks.
    public var maximumWebhooks = 20
    /// `webhooks.queue`: the most pending messages per webhook; beyond it the oldest are dropped and counted.
    public var webhookQueue = 10_000
    /// `webhooks.thresholds`: viewer counts at which webhooks receive an event.
    public var webhookThresholds = [10, 100, 1_000, 10_000]
    /// `mixer.confinement`: `on` confines mixers as far as the system supports it, `required` starts no mixer that is
    /// not fully confined, `off` confines none.
    public var mixerConfinement = "on"
    /// `mixer.memory`: the memory limit of a mixer in MiB; 0 is no limit.
    ///
    /// Nil means 4096, or half of the machine's memory if that is less.
    public var mixerMemory: Int?
    /// `cluster.dsn`: the connection string of the PostgreSQL database by which several gateways agree who has a room.
    ///
    /// Nil for a gateway that runs alone; otherwise all settings of the cluster are needed.
    public var clusterDSN: String?
    /// `cluster.node`: the name of this gateway in the cluster.
    public var clusterNode: String?
    /// `cluster.address`: the address by which the other gateways reach this one, such as `http://10.0.0.5:8080`.
    public var clusterAddress: String?
    /// `cluster.key`: the file with the key that all gateways share, and sign forwarded requests with.
    public var clusterKey: String?
    /// `core_dumps`: whether the gateway may write core files and be inspected by its user's debuggers.
    public var writesCores = false
    /// `auth.retired_keys`: the folder of keys that verify tokens but no longer sign any.
    ///
    /// Nil means `retired-keys` in the data folder.
    public var retiredKeys: String?
    /// `cors.origins`: web origins whose pages may use the API, such as `https://app.example`.
    public var allowedOrigins: [String] = []
    /// `threads`: event loops; 0 takes one per core.
    public var threads = 0
    /// `log.level`: trace, debug, info, notice, warning, error or critical.
    public var logLevel = "info"
    /// `log.format`: `text`, or `json` for one JSON object per line.
    public var logFormat = "text"

    /// The keys of the configuration file that no setting uses, sorted.
    public var unknownKeys: [String] = []

    static let logFormats = ["text", JSONLogHandler.format]
    static let logLevels = ["trace", "debug", "info", "notice", "warning", "error", "critical"]

    /// The defaults.
    public init() {}

    /// What an operator should change; empty for a safe configuration.
    var warnings: [ConfigurationWarning] {
        let isLocal = host == "localhost" || PeerAddress(host)?.isLoopback == true
        guard !isLocal, httpsPort == nil, trustedProxies.isEmpty else { return [] }
        return [.withoutTLS]
    }

    /// The number of event loops, with the default resolved.
    var resolvedThreads: Int { threads == 0 ? System.coreCount : threads }

    /// The folder of retired keys, with the default resolved.
    public var resolvedRetiredKeys: String {
        retiredKeys ?? dataDirectory + "/retired-keys"
    }
}

/// Something that an operator should change in the configuration.
enum ConfigurationWarning: CaseIterable {
    case withoutTLS

    /// The code by which the pages have the sentence in their languages.
    var code: SystemMessageCode {
        switch self {
        case .withoutTLS: .withoutTLS
        }
    }

    /// The sentence.
    var text: String {
        switch self {
        case .withoutTLS:
            "The gateway listens beyond this machine without TLS, so the network can read tokens, stream keys and programs. "
                + "Set https.port and rtmps.port, or name the TLS proxy in front in viewership.proxies."
        }
    }
}

extension ClientTrustPolicy {
    /// Makes the policy from the gateway's settings.
    init(_ configuration: GatewayConfiguration, tokens: ViewerTokens) {
        self.init(
            proxies: TrustedProxies(configuration),
            usesDeviceIDs: configuration.usesDeviceIDs,
            namesSessionsInPaths: configuration.namesSessionsInPaths,
            bearer: { token, room in try await tokens.bearer(of: token, watching: room) }
        )
    }
}

extension TrustedProxies {
    /// Makes the list from the gateway's settings.
    init(_ configuration: GatewayConfiguration) {
        // Invalid networks were rejected when the settings were read. Without any, no forwarded address is trusted.
        self =
            TrustedProxies(configuration.trustedProxies, regionHeader: configuration.regionHeader) ?? TrustedProxies()
        cacheMedia = configuration.proxiesCache
    }
}

extension HTTPLimits {
    /// Makes the limits of one client from the gateway's settings.
    init(_ configuration: GatewayConfiguration, plan: DescriptorPlan?) {
        let rate = Double(configuration.requestRate)
        self.init(
            requests: rate > 0 ? (perSecond: rate, burst: 2 * rate) : nil,
            connections: configuration.perClientLimit(configuration.clientConnections, plan)
        )
    }
}

extension HistoryStoreConfiguration {
    /// Makes the configuration from the gateway's settings.
    init(_ configuration: GatewayConfiguration, path: String) {
        self.init(
            path: path,
            sessionRetention: Double(configuration.sessionRetentionDays) * 86_400,
            minuteRetention: Double(configuration.minuteRetentionDays) * 86_400
        )
    }
}

extension RecordingConfiguration {
    /// Makes the configuration from the gateway's settings.
    init(_ configuration: GatewayConfiguration) {
        let (size, age) = (configuration.recordingRetentionSize, configuration.recordingRetentionAge)
        self.init(
            folder: configuration.dataDirectory + "/recordings",
            fileBytes: configuration.recordingFileSize << 20,
            fileSeconds: Double(configuration.recordingFileLength),
            maximumStoredBytes: size == 0 ? nil : size << 20,
            retentionSeconds: age == 0 ? nil : Double(age) * 3600,
            reservedBytes: configuration.recordingReserve << 20
        )
    }
}

extension WebhookConfiguration {
    /// Makes the configuration from the gateway's settings.
    init(_ configuration: GatewayConfiguration) {
        self.init(
            allowsPlainHTTP: configuration.allowsPlainWebhooks,
            maximumEndpoints: configuration.maximumWebhooks,
            maximumPending: configuration.webhookQueue
        )
    }
}

extension FanOutConfiguration {
    /// Makes the configuration from the gateway's settings.
    init(_ configuration: GatewayConfiguration) {
        self.init()
        tick = .milliseconds(Int64(configuration.fanOutTick))
        maximumViewers = configuration.maximumViewers
        writesDirectly = configuration.writesDirectly
    }
}

extension StageSettings {
    /// Makes the settings from those of the gateway.
    init(_ configuration: GatewayConfiguration) {
        let ceiling = Double(configuration.processorCeiling) / 100
        self.init(
            maximumRooms: configuration.maximumRooms,
            createsRoomsOnJoin: configuration.makesRoomsAdHoc,
            callSettings: configuration.callSettings,
            processor: ceiling > 0 ? ProcessorBudget(cores: System.coreCount, ceiling: ceiling) : nil
        )
    }
}

extension ViewershipConfiguration {
    /// Makes the configuration from the gateway's settings, and the segments that its viewers play.
    init(_ configuration: GatewayConfiguration, _ segments: HLSConfiguration) {
        let duration = Double(segments.targetDuration)
        self.init(
            targetDuration: duration,
            longestBuffer: Double(segments.windowLength + 1) * duration,
            unprovenPerClient: configuration.clientSessions == 0 ? nil : configuration.clientSessions,
            viewersPerClient: configuration.clientViewers == 0 ? nil : configuration.clientViewers,
            countsReportsAlone: configuration.countsReportsAlone,
            region: configuration.homeRegion ?? ""
        )
    }
}

extension ViewershipLedger {
    /// Loads the files by which viewers are told apart that the settings name; one that is invalid is logged.
    func loadFiles(of configuration: GatewayConfiguration, logger: Logger) {
        if let path = configuration.regionDatabase {
            do throws(RegionDatabase.Fault) {
                useRegions(try RegionDatabase(path: path))
            } catch {
                logger.error("region database is invalid", metadata: ["file": "\(path)", "reason": "\(error)"])
            }
        }
        if let path = configuration.robotList {
            do throws(RobotList.Fault) {
                useRobots(try RobotList(path: path))
            } catch {
                logger.error("robot list is invalid", metadata: ["file": "\(path)", "reason": "\(error)"])
            }
        }
    }
}
