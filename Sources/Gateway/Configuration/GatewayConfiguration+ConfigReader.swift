public import Configuration
import FanOut
import Foundation
import Stage
import SystemPackage

extension GatewayConfiguration {
    /// Reads the effective configuration.
    ///
    /// - Parameters:
    ///   - commandLine: Values given as options, by key; they win over everything else.
    ///   - file: A YAML or JSON file, told apart by its ending.
    ///   - defaults: Values by key that hold where none is given, in place of the usual defaults.
    /// - Throws: `ConfigurationError` for a value that makes no sense and for a file that cannot be read.
    public init(
        commandLine: [String: String],
        file: String?,
        unlessGiven defaults: [String: String] = [:]
    ) async throws {
        var providers: [any ConfigProvider] = [
            Self.provider("command line", commandLine),
            EnvironmentVariablesProvider().prefixKeys(with: "footlight"),
        ]
        let unknown = UnknownKeys(known: Self.keys)
        if let file {
            do {
                providers.append(try await Self.provider(file, unknown))
            } catch {
                throw ConfigurationError(key: file, problem: "cannot be read: " + Self.reason(error))
            }
        }
        providers.append(Self.provider("command", defaults))
        try self.init(ConfigReader(providers: providers))
        unknownKeys = unknown.all
    }

    /// The keys of all settings.
    private static let keys: Set<String> = [
        "data.dir", "host", "rtmp.port", "http.port", "admin.port", "rtmps.port", "tls.certificate", "tls.key",
        "fanout.tick", "fanout.viewers", "outputs.allow_private", "assets.allow_private", "room.idle", "rooms.maximum",
        "rooms.call.audio_on", "rooms.call.video_on", "rooms.call.speaker_on", "rooms.call.audio_output_on",
        "rooms.call.camera_position",
        "rooms.ad_hoc", "hosts.maximum", "livestreams.maximum", "auth.retired_keys", "cors.origins", "threads",
        "log.level", "mixer.confinement", "mixer.memory", "core_dumps",
        "recordings.file_size", "recordings.file_length", "recordings.keep_size", "recordings.keep_age",
        "recordings.reserve", "limits.cpu_ceiling", "limits.requests",
        "limits.connections", "limits.players", "limits.waiting", "limits.sessions", "limits.streams", "limits.viewers",
        "viewership.keep_sessions",
        "viewership.keep_minutes", "viewership.beats_port", "viewership.regions", "viewership.proxies",
        "viewership.region_header",
        "viewership.region", "viewership.device_ids", "viewership.log_lateness",
        "viewership.robots", "viewership.proxies_cache", "viewership.session_paths", "viewership.reports_alone",
        "webhooks.allow_private", "webhooks.allow_http", "webhooks.maximum", "webhooks.queue", "webhooks.thresholds",
    ]

    /// Provides values that are there already, by key.
    private static func provider(_ name: String, _ values: [String: String]) -> InMemoryProvider {
        var known: [AbsoluteConfigKey: ConfigValue] = [:]
        for (key, value) in values {
            let path = AbsoluteConfigKey(key.split(separator: ".").map(String.init))
            known[path] = ConfigValue(.string(value), isSecret: false)
        }
        return InMemoryProvider(name: name, values: known)
    }

    /// Opens a file; its parser asks of each key whether the value is secret, and so tells which keys there are.
    private static func provider(_ file: String, _ unknown: UnknownKeys) async throws -> any ConfigProvider {
        let path = FilePath(file)
        if file.hasSuffix(".json") {
            let options = JSONSnapshot.ParsingOptions(secretsSpecifier: .dynamic { key, _ in unknown.see(key) })
            return try await FileProvider<JSONSnapshot>(parsingOptions: options, filePath: path)
        }
        let options = YAMLSnapshot.ParsingOptions(secretsSpecifier: .dynamic { key, _ in unknown.see(key) })
        return try await FileProvider<YAMLSnapshot>(parsingOptions: options, filePath: path)
    }

    /// Refuses a configuration whose file says something that no setting is for.
    ///
    /// - Throws: `ConfigurationError` for the first such key.
    public func requireKnownKeys() throws {
        guard let key = unknownKeys.first else { return }
        let others = unknownKeys.dropFirst()
        let more = others.isEmpty ? "" : "; nor are " + others.joined(separator: ", ")
        throw ConfigurationError(key: key, problem: "is not a setting" + more)
    }

    /// What a parser says of a file, without the numbers it files its errors under.
    private static func reason(_ error: any Error) -> String {
        let details = (error as NSError).userInfo[NSDebugDescriptionErrorKey] as? String
        return details ?? String(describing: error)
    }

    /// Reads every value, keeping the default where there is none.
    public init(_ reader: ConfigReader) throws {
        self.init()
        let read = SettingReader(reader)
        dataDirectory = try read.string("data.dir") ?? dataDirectory
        host = try read.string("host") ?? host
        rtmpPort = try read.int("rtmp.port", in: 0...65_535) ?? rtmpPort
        httpPort = try read.int("http.port", in: 0...65_535) ?? httpPort
        adminPort = try read.int("admin.port", in: 0...65_535) ?? adminPort
        rtmpsPort = try read.int("rtmps.port", in: 0...65_535)
        tlsCertificate = try read.string("tls.certificate")
        tlsKey = try read.string("tls.key")
        fanOutTick = try read.int("fanout.tick", in: 0...1_000) ?? fanOutTick
        maximumViewers = try read.int("fanout.viewers", in: 1...1_000_000) ?? maximumViewers
        allowsPrivateOutputs = try read.bool("outputs.allow_private") ?? allowsPrivateOutputs
        allowsPrivateAssets = try read.bool("assets.allow_private") ?? allowsPrivateAssets
        roomIdle = try read.int("room.idle", in: 0...86_400) ?? roomIdle
        maximumRooms = try read.int("rooms.maximum", in: 1...100_000) ?? maximumRooms
        makesRoomsAdHoc = try read.bool("rooms.ad_hoc") ?? makesRoomsAdHoc
        callSettings = CallSettings(
            isAudioOn: try read.bool("rooms.call.audio_on"),
            isVideoOn: try read.bool("rooms.call.video_on"),
            isSpeakerOn: try read.bool("rooms.call.speaker_on"),
            isAudioOutputOn: try read.bool("rooms.call.audio_output_on"),
            cameraPosition: try read.string("rooms.call.camera_position", among: ["front", "back"])
                .flatMap { CallSettings.CameraPosition(rawValue: $0) }
        )
        maximumHosts = try read.int("hosts.maximum", in: 1...100_000) ?? maximumHosts
        maximumLivestreams = try read.int("livestreams.maximum", in: 0...100_000) ?? maximumLivestreams
        processorCeiling = try read.int("limits.cpu_ceiling", in: 0...100) ?? processorCeiling
        requestRate = try read.int("limits.requests", in: 0...1_000_000) ?? requestRate
        clientConnections = try read.int("limits.connections", in: 0...1_000_000) ?? clientConnections
        clientPlayers = try read.int("limits.players", in: 0...1_000_000) ?? clientPlayers
        clientWaiting = try read.int("limits.waiting", in: 0...1_000_000) ?? clientWaiting
        clientSessions = try read.int("limits.sessions", in: 0...1_000_000) ?? clientSessions
        clientViewers = try read.int("limits.viewers", in: 0...1_000_000) ?? clientViewers
        clientStreams = try read.int("limits.streams", in: 0...1_000_000) ?? clientStreams
        recordingFileSize = try read.int("recordings.file_size", in: 1...1_048_576) ?? recordingFileSize
        recordingFileLength = try read.int("recordings.file_length", in: 1...86_400) ?? recordingFileLength
        recordingKeepSize = try read.int("recordings.keep_size", in: 0...1_073_741_824) ?? recordingKeepSize
        recordingKeepAge = try read.int("recordings.keep_age", in: 0...1_000_000) ?? recordingKeepAge
        recordingReserve = try read.int("recordings.reserve", in: 0...1_048_576) ?? recordingReserve
        sessionKeepDays = try read.int("viewership.keep_sessions", in: 1...3_650) ?? sessionKeepDays
        minuteKeepDays = try read.int("viewership.keep_minutes", in: 0...36_500) ?? minuteKeepDays
        regionDatabase = try read.string("viewership.regions")
        trustedProxies = try read.strings("viewership.proxies") ?? trustedProxies
        regionHeader = try read.string("viewership.region_header")
        homeRegion = try read.string("viewership.region")
        takesDeviceIDs = try read.bool("viewership.device_ids") ?? takesDeviceIDs
        proxiesCache = try read.bool("viewership.proxies_cache") ?? proxiesCache
        namesSessionsInPaths = try read.bool("viewership.session_paths") ?? namesSessionsInPaths
        countsReportsAlone = try read.bool("viewership.reports_alone") ?? countsReportsAlone
        robotList = try read.string("viewership.robots")
        logLateness = try read.int("viewership.log_lateness", in: 1...600) ?? logLateness
        guard TrustedProxies(trustedProxies) != nil else {
            throw ConfigurationError(
                key: "viewership.proxies",
                problem: "holds what is no address; 10.0.0.0/8 or 127.0.0.1 is needed"
            )
        }
        guard TrustedProxies(trustedProxies, regionHeader: regionHeader) != nil else {
            throw ConfigurationError(key: "viewership.region_header", problem: "is not the name of a field")
        }
        beatsPort = try read.int("viewership.beats_port", in: 0...65_535)
        allowsPrivateWebhooks = try read.bool("webhooks.allow_private") ?? allowsPrivateWebhooks
        allowsPlainWebhooks = try read.bool("webhooks.allow_http") ?? allowsPlainWebhooks
        maximumWebhooks = try read.int("webhooks.maximum", in: 0...1_000) ?? maximumWebhooks
        webhookQueue = try read.int("webhooks.queue", in: 1...1_000_000) ?? webhookQueue
        webhookThresholds = try read.ints("webhooks.thresholds", in: 1...1_000_000_000) ?? webhookThresholds
        mixerConfinement = try read.string("mixer.confinement", among: MixerConfinement.levels) ?? mixerConfinement
        mixerMemory = try read.int("mixer.memory", in: 0...16_777_216)
        writesCores = try read.bool("core_dumps") ?? writesCores
        retiredKeys = try read.string("auth.retired_keys")
        allowedOrigins = try read.strings("cors.origins") ?? allowedOrigins
        for origin in allowedOrigins where !Self.isOrigin(origin) {
            throw ConfigurationError(
                key: "cors.origins",
                problem: "holds \"\(origin)\"; an origin such as https://app.example is needed"
            )
        }
        threads = try read.int("threads", in: 0...256) ?? threads
        logLevel = try read.string("log.level", among: Self.logLevels) ?? logLevel
        guard (rtmpsPort == nil) || (tlsCertificate != nil && tlsKey != nil) else {
            throw ConfigurationError(key: "rtmps.port", problem: "needs tls.certificate and tls.key")
        }
    }

    /// Scheme, host and perhaps a port, and nothing behind them.
    private static func isOrigin(_ text: String) -> Bool {
        guard let url = URLComponents(string: text), let scheme = url.scheme, url.host?.isEmpty == false else {
            return false
        }
        return ["http", "https"].contains(scheme) && url.path.isEmpty && url.query == nil && url.fragment == nil
            && url.user == nil
    }
}
