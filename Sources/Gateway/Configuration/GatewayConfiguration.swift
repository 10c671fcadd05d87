public import Stage

/// Everything an operator can set.
///
/// Each value comes from the command line, else from the environment (`FOOTLIGHT_RTMP_PORT` for `rtmp.port`), else from
/// the configuration file, else from the default given here.
public struct GatewayConfiguration: Sendable, Equatable {
    /// `data.dir`: keys, tokens and what must survive a restart.
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
    /// `tls.certificate`: PEM file with the certificate chain.
    public var tlsCertificate: String?
    /// `tls.key`: PEM file with the private key.
    public var tlsKey: String?
    /// `fanout.tick`: milliseconds between two writes to a viewer, 0 to 1000.
    ///
    /// With 66 two pictures of a program with 30 a second leave together, which halves the writes; 33 sends each at once.
    public var fanOutTick = 66
    /// `fanout.viewers`: most viewers let in at a time; whom a cache in front answers is none of them.
    public var maximumViewers = 20_000
    /// `outputs.allow_private`: whether outputs that operators name may push to private and loopback addresses, on any port.
    public var allowsPrivateOutputs = false
    /// `assets.allow_private`: whether pictures and music that operators name by URL may come from private and loopback
    /// addresses, on any port but this gateway's own.
    public var allowsPrivateAssets = false
    /// `room.idle`: seconds a program that nobody watches or records goes on without a host before its mixer is stopped.
    public var roomIdle = 300
    /// `rooms.maximum`: most rooms in progress at a time.
    public var maximumRooms = 200
    /// `rooms.call.audio_on`, `video_on`, `speaker_on`, `audio_output_on` and `camera_position`: what clients begin with whose
    /// users have not chosen, in rooms that do not say it.
    public var callSettings = CallSettings()
    /// `rooms.ad_hoc`: whether whoever joins a room that is not there makes it.
    public var makesRoomsAdHoc = false
    /// `hosts.maximum`: most connections of hosts at a time, over all rooms.
    public var maximumHosts = 2_000
    /// `livestreams.maximum`: most livestreams at a time, over all rooms.
    public var maximumLivestreams = 100
    /// `limits.cpu_ceiling`: the part of the machine's cores, in percent, that the mixers may have together; 0 is no limit.
    ///
    /// A host beyond it is refused, so that the rooms on air keep what they need.
    public var processorCeiling = 80
    /// `limits.requests`: HTTP requests of one client per second in the long run, twice as many at once; 0 is no limit.
    ///
    /// A client is an address, or a network of IPv6 (/64); behind a server of `viewership.proxies`, or one on this machine
    /// that says for whom it asks, the one that it names. Sessions behind its address add to it.
    public var requestRate = 100
    /// `limits.connections`: HTTP connections of one client at a time; 0 is no limit.
    public var clientConnections = 256
    /// `limits.players`: RTMP players of one client at a time; 0 is no limit.
    public var clientPlayers = 64
    /// `limits.waiting`: RTMP connections of one client that neither publish nor play yet; 0 is no limit.
    public var clientWaiting = 20
    /// `limits.sessions`: players of one client that have asked for a program and are not seen to watch it; 0 is no limit.
    public var clientSessions = 500
    /// `limits.viewers`: viewers of one client without a token who count; further ones play uncounted, 0 is no limit.
    public var clientViewers = 1_000
    /// `limits.streams`: event streams of one client at a time, operators' and mixers' not counted; 0 is no limit.
    public var clientStreams = 128
    /// `recordings.file_size`: MiB after which a recorded file ends at the next key picture.
    public var recordingFileSize = 2_048
    /// `recordings.file_length`: seconds after which a recorded file ends at the next key picture.
    public var recordingFileLength = 3_600
    /// `recordings.keep_size`: MiB of finished files that are kept, the oldest gone first; 0 keeps all.
    public var recordingKeepSize = 0
    /// `recordings.keep_age`: hours for which finished files are kept; 0 keeps them for good.
    public var recordingKeepAge = 0
    /// `recordings.reserve`: MiB of the disk that recordings leave free for the rest of the gateway.
    public var recordingReserve = 256
    /// `viewership.keep_sessions`: days for which single playbacks are kept; minutes and broadcasts tell of nobody.
    public var sessionKeepDays = 30
    /// `viewership.keep_minutes`: days for which minutes and broadcasts are kept; 0 keeps them for good.
    public var minuteKeepDays = 0
    /// `viewership.regions`: a file in the MaxMind DB format that tells where viewers are; unset means that nobody knows.
    public var regionDatabase: String?
    /// `viewership.proxies`: addresses and networks of servers in front, which say by `X-Forwarded-For` where a viewer is.
    ///
    /// Nobody else is believed. What one client may ask and how often it may try to log in goes by the same address, and
    /// only those servers, and what runs on this machine, may send beats.
    public var trustedProxies: [String] = []
    /// `viewership.proxies_cache`: whether servers in front may answer requests for media from a cache.
    ///
    /// Where none does, false: then who asks for playlists alone is no viewer behind those servers either.
    public var proxiesCache = true
    /// `viewership.session_paths`: whether players that come directly are given addresses that name their session in the
    /// path, so that it is known of each what it was sent of media.
    ///
    /// Where a cache stands in front that adds neither `X-Forwarded-For`, `Forwarded` nor `Via`, false: it would keep each
    /// segment once for every viewer.
    public var namesSessionsInPaths = true
    /// `viewership.region_header`: the field in which those servers say the country of a viewer, such as `CF-IPCountry`.
    public var regionHeader: String?
    /// `viewership.region`: where viewers are taken to be of whom nothing else tells it, `DE` or `US-CA`; unset means nowhere.
    public var homeRegion: String?
    /// `viewership.device_ids`: whether ids that players keep for their device (`did`) are used to tell viewers apart.
    ///
    /// Who switches it on has asked the viewers for their consent.
    public var takesDeviceIDs = false
    /// `viewership.reports_alone`: whether players that are known by reports alone (CMCD), under names that they made up,
    /// count although no media that they fetch is seen.
    ///
    /// Behind a content network that tells nothing. Anybody can make such players up, as many as one address may have.
    public var countsReportsAlone = false
    /// `viewership.robots`: a file with further words by which robots are told from viewers, one a line.
    public var robotList: String?
    /// `viewership.log_lateness`: seconds after which a line of a content network's log comes too late to count.
    public var logLateness = 90
    /// `viewership.beats_port`: UDP on `host`, where a server in front of this one reports by syslog who asked for playlists.
    ///
    /// Unset means that nobody does.
    public var beatsPort: Int?
    /// `webhooks.allow_private`: whether webhooks may be posted to private and loopback addresses, on any port.
    public var allowsPrivateWebhooks = false
    /// `webhooks.allow_http`: whether webhooks may be posted without TLS.
    public var allowsPlainWebhooks = false
    /// `webhooks.maximum`: most webhooks there may be.
    public var maximumWebhooks = 20
    /// `webhooks.queue`: most messages that wait for one webhook; beyond them the oldest are dropped and counted.
    public var webhookQueue = 10_000
    /// `webhooks.thresholds`: numbers of viewers of which webhooks are told when a broadcast reaches them.
    public var webhookThresholds = [10, 100, 1_000, 10_000]
    /// `mixer.confinement`: `on` confines mixers as far as the system can, `required` starts none that is not confined in
    /// full, `off` confines none.
    public var mixerConfinement = "on"
    /// `mixer.memory`: MiB that a mixer may fill; 0 is no limit.
    ///
    /// Unset means 4096, or half of the machine's memory where that is less.
    public var mixerMemory: Int?
    /// `core_dumps`: whether a crash of the gateway may leave a core file, and debuggers of its user may look into it.
    public var writesCores = false
    /// `auth.retired_keys`: the folder with keys that sign no tokens any more but still verify them.
    ///
    /// Unset means `retired-keys` in the data folder.
    public var retiredKeys: String?
    /// `cors.origins`: web origins whose pages may use the API, such as `https://app.example`.
    public var allowedOrigins: [String] = []
    /// `threads`: event loops; 0 takes one per core.
    public var threads = 0
    /// `log.level`: trace, debug, info, notice, warning, error or critical.
    public var logLevel = "info"

    /// Keys of the configuration file that no setting has, in alphabetical order.
    public var unknownKeys: [String] = []

    static let logLevels = ["trace", "debug", "info", "notice", "warning", "error", "critical"]

    /// The defaults.
    public init() {}

    /// The folder of retired keys, the default resolved.
    public var resolvedRetiredKeys: String {
        retiredKeys ?? dataDirectory + "/retired-keys"
    }
}
