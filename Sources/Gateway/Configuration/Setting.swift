import Configuration
import MixerProcess
import Stage

/// One setting: its key, its values and its effect.
///
/// The table `Setting.all` is the source of the parser, of `footlight check-config` and of the settings reference.
struct Setting: Sendable {
    /// The key in a configuration file, such as `rtmp.port`.
    let key: String
    /// A description of the valid values.
    let values: String
    /// The effect of the setting, in one sentence.
    let summary: String
    /// Reads the value into a configuration; without a value the default stays.
    let read: @Sendable (SettingReader, inout GatewayConfiguration) throws -> Void
    /// Returns the value, as `check-config` prints it.
    let text: @Sendable (GatewayConfiguration) -> String
    /// Whether two configurations have the same value.
    let isEqual: @Sendable (GatewayConfiguration, GatewayConfiguration) -> Bool

    /// The settings that a running gateway takes over when its configuration is reloaded.
    private static let reloadable: Set = [
        "tls.certificate", "tls.key", "log.level", "limits.requests", "limits.connections", "limits.players",
        "limits.waiting", "limits.sessions", "limits.streams", "limits.viewers", "limits.bandwidth_mbps",
        "viewership.proxies",
        "viewership.region_header", "viewership.proxies_cache", "webhooks.allow_private", "webhooks.allow_http",
    ]

    /// Whether a running gateway takes over a changed value when its configuration is reloaded.
    var isReloadable: Bool { Self.reloadable.contains(key) }

    /// The default, as `check-config` prints it.
    var defaultText: String { text(GatewayConfiguration()) }

    private typealias Path<Value> = any WritableKeyPath<GatewayConfiguration, Value> & Sendable

    // MARK: Kinds of settings

    /// Makes the setting of a property.
    ///
    /// - Parameters:
    ///   - read: Returns the value; nil without one.
    ///   - text: Returns a value, as `check-config` prints it.
    private static func of<Value: Sendable & Equatable>(
        _ path: Path<Value>,
        _ key: String,
        _ values: String,
        _ summary: String,
        read: @escaping @Sendable (SettingReader) throws -> Value?,
        text: @escaping @Sendable (Value) -> String
    ) -> Setting {
        Setting(key: key, values: values, summary: summary) { reader, configuration in
            if let value = try read(reader) { configuration[keyPath: path] = value }
        } text: {
            text($0[keyPath: path])
        } isEqual: {
            $0[keyPath: path] == $1[keyPath: path]
        }
    }

    private static func number(
        _ key: String,
        _ path: Path<Int>,
        _ range: ClosedRange<Int>,
        _ summary: String
    ) -> Setting {
        of(path, key, words(range), summary, read: { try $0.int(key, in: range) }, text: { String($0) })
    }

    /// - Parameter unset: The text for no value.
    private static func number(
        _ key: String,
        _ path: Path<Int?>,
        _ range: ClosedRange<Int>,
        unset: String,
        _ summary: String
    ) -> Setting {
        of(path, key, words(range), summary) {
            try $0.int(key, in: range).map(Optional.some)
        } text: {
            $0.map { String($0) } ?? unset
        }
    }

    private static func numbers(
        _ key: String,
        _ path: Path<[Int]>,
        _ range: ClosedRange<Int>,
        _ summary: String
    ) -> Setting {
        of(path, key, "a list of " + words(range), summary) {
            try $0.ints(key, in: range)
        } text: {
            $0.map(String.init).joined(separator: ", ")
        }
    }

    private static func flag(_ key: String, _ path: Path<Bool>, _ summary: String) -> Setting {
        of(path, key, "true, false", summary, read: { try $0.bool(key) }, text: { "\($0)" })
    }

    /// Makes a flag that is on by default.
    private static func flag(_ key: String, _ path: Path<Bool?>, _ summary: String) -> Setting {
        of(path, key, "true, false", summary) {
            try $0.bool(key).map(Optional.some)
        } text: {
            "\($0 ?? true)"
        }
    }

    private static func word(_ key: String, _ path: Path<String>, _ values: String, _ summary: String) -> Setting {
        of(path, key, values, summary, read: { try $0.string(key) }, text: { $0 })
    }

    private static func word(
        _ key: String,
        _ path: Path<String>,
        among words: [String],
        _ summary: String
    ) -> Setting {
        of(path, key, words.joined(separator: ", "), summary) {
            try $0.string(key, among: words)
        } text: {
            $0
        }
    }

    private static func word(
        _ key: String,
        _ path: Path<String?>,
        _ values: String,
        _ summary: String,
        text: @escaping @Sendable (String) -> String = { $0 }
    ) -> Setting {
        of(path, key, values, summary) {
            try $0.string(key).map(Optional.some)
        } text: {
            $0.map(text) ?? "none"
        }
    }

    private static func words(
        _ key: String,
        _ path: Path<[String]>,
        _ values: String,
        _ summary: String
    ) -> Setting {
        of(path, key, values, summary, read: { try $0.strings(key) }) {
            $0.isEmpty ? "none" : $0.joined(separator: ", ")
        }
    }

    private static func words(_ range: ClosedRange<Int>) -> String { "\(range.lowerBound) to \(range.upperBound)" }

    // MARK: All settings

    private static let port = 0...65_535
    private static let count = 0...1_000_000

    /// Every setting, in the order in which `check-config` prints them.
    static let all: [Setting] = [
        .word("data.dir", \.dataDirectory, "a folder", "Holds the keys, the tokens and all persistent state."),
        .word("host", \.host, "an address", "The address that the RTMP and HTTP ports are bound to."),
        .number("rtmp.port", \.rtmpPort, port, "RTMP; 0 picks a free port."),
        .number("http.port", \.httpPort, port, "HTTP: the API, the pages, HLS and HTTP-FLV; 0 picks a free port."),
        .number("admin.port", \.adminPort, port, "Metrics and health, on 127.0.0.1; 0 picks a free port."),
        .number("rtmps.port", \.rtmpsPort, port, unset: "off", "RTMP over TLS; needs a certificate and its key."),
        .number("https.port", \.httpsPort, port, unset: "off", "HTTP over TLS; needs a certificate and its key."),
        .flag(
            "https.redirect",
            \.redirectsToHTTPS,
            "Requests to the HTTP port are redirected to HTTPS, except those that a trusted proxy forwards."
        ),
        .number(
            "https.hsts",
            \.strictTransportSeconds,
            0...63_072_000,
            "Seconds for which browsers are told to use HTTPS only, such as 31536000; 0 tells them nothing."
        ),
        .word(
            "tls.certificate",
            \.tlsCertificate,
            "a PEM file",
            "The certificate chain for HTTPS and RTMPS; a changed file is loaded within seconds."
        ),
        .word("tls.key", \.tlsKey, "a PEM file", "The private key for HTTPS and RTMPS.") { _ in "***" },
        .word(
            "tls.challenge_dir",
            \.challengeDirectory,
            "a folder",
            "The webroot of an ACME client, such as certbot, whose HTTP-01 challenges the HTTP port answers."
        ),
        .number(
            "fanout.tick",
            \.fanOutTick,
            0...1_000,
            "Milliseconds between writes to a viewer; at 30 frames/s 66 sends two frames together, 33 each at once."
        ),
        .number(
            "fanout.viewers",
            \.maximumViewers,
            1...1_000_000,
            "Maximum viewers connected to this gateway at a time; those served by a cache in front do not count."
        ),
        .flag(
            "fanout.direct_writes",
            \.writesDirectly,
            "Media is written to the sockets of RTMP and HTTP-FLV viewers directly, which costs less per viewer."
        ),
        .flag(
            "outputs.allow_private",
            \.allowsPrivateOutputs,
            "Operators' outputs may push to private and loopback addresses, on any port."
        ),
        .word(
            "outputs.ca_file",
            \.outputAuthorities,
            "a PEM file",
            "Certificate authorities that RTMPS outputs trust besides the system's."
        ),
        .flag(
            "assets.allow_private",
            \.allowsPrivateAssets,
            "Operators' images and music may come from private and loopback addresses, except the gateway's ports."
        ),
        .number(
            "room.idle",
            \.roomIdle,
            0...86_400,
            "Seconds after which a room's mixer stops when the room has no host, viewer or recording."
        ),
        .word(
            "public_url",
            \.publicURL,
            "`https://live.example`",
            "The address by which everyone reaches the gateway by HTTP; all addresses that it gives begin with it."
        ),
        .flag(
            "api.unknown_fields",
            \.ignoresUnknownFields,
            "Requests of the API may have fields that the gateway does not know; otherwise they are refused by name."
        ),
        .number("rooms.maximum", \.maximumRooms, 1...100_000, "Maximum rooms in progress at a time."),
        .flag("rooms.ad_hoc", \.makesRoomsAdHoc, "Joining a room that does not exist creates it."),
        .flag("rooms.call.audio_on", \.callSettings.isAudioOn, "Clients join with the microphone on."),
        .flag("rooms.call.video_on", \.callSettings.isVideoOn, "Clients join with the camera on."),
        .flag("rooms.call.speaker_on", \.callSettings.isSpeakerOn, "Clients join with the loudspeaker on."),
        .flag("rooms.call.audio_output_on", \.callSettings.isAudioOutputOn, "Clients join with audio output on."),
        .of(
            \.callSettings.cameraPosition,
            "rooms.call.camera_position",
            "front, back",
            "The camera with which clients join."
        ) {
            try $0.string("rooms.call.camera_position", among: ["front", "back"])
                .map { CallSettings.CameraPosition(rawValue: $0) }
        } text: {
            ($0 ?? .front).rawValue
        },
        .number("hosts.maximum", \.maximumHosts, 1...100_000, "Maximum host connections at a time, over all rooms."),
        .number(
            "livestreams.maximum",
            \.maximumLivestreams,
            0...100_000,
            "Maximum livestreams at a time, over all rooms."
        ),
        .number(
            "limits.cpu_ceiling",
            \.processorCeiling,
            0...100,
            "Percent of the machine's cores for all mixers together, beyond which hosts are refused; 0 is no limit."
        ),
        .number(
            "limits.requests",
            \.requestRate,
            count,
            "HTTP requests of one client per second, twice as many at once; 0 is no limit."
        ),
        .number("limits.connections", \.clientConnections, count, "HTTP connections of one client; 0 is no limit."),
        .number("limits.players", \.clientPlayers, count, "RTMP players of one client; 0 is no limit."),
        .number(
            "limits.waiting",
            \.clientWaiting,
            count,
            "RTMP connections of one client that neither publish nor play yet; 0 is no limit."
        ),
        .number(
            "limits.sessions",
            \.clientSessions,
            count,
            "Players of one client that requested a program and were not observed to watch it; 0 is no limit."
        ),
        .number(
            "limits.streams",
            \.clientStreams,
            count,
            "Event streams of one client, those of operators and mixers aside; 0 is no limit."
        ),
        .number(
            "limits.viewers",
            \.clientViewers,
            count,
            "Viewers of one client without a token that are counted, further ones play uncounted; 0 is no limit."
        ),
        .number(
            "limits.bandwidth_mbps",
            \.bandwidth,
            1...1_000_000,
            unset: "none",
            "Mb/s of the link to viewers, for an estimate of how many more it carries; nobody is refused for it."
        ),
        .number(
            "recordings.file_size",
            \.recordingFileSize,
            1...1_048_576,
            "MiB after which a recording continues in a new file, at a keyframe."
        ),
        .number(
            "recordings.file_length",
            \.recordingFileLength,
            1...86_400,
            "Seconds after which a recording continues in a new file, at a keyframe."
        ),
        .number(
            "recordings.keep_size",
            \.recordingRetentionSize,
            0...1_073_741_824,
            "MiB of finished files to keep, the oldest are deleted first; 0 keeps all."
        ),
        .number(
            "recordings.keep_age",
            \.recordingRetentionAge,
            count,
            "Hours to keep finished files; 0 keeps them forever."
        ),
        .number(
            "recordings.reserve",
            \.recordingReserve,
            0...1_048_576,
            "MiB of the disk that recordings leave free for the rest of the gateway."
        ),
        .number(
            "viewership.keep_sessions",
            \.sessionRetentionDays,
            1...3_650,
            "Days to keep single playbacks."
        ),
        .number(
            "viewership.keep_minutes",
            \.minuteRetentionDays,
            0...36_500,
            "Days to keep figures by minute and of broadcasts; 0 keeps them forever."
        ),
        .word(
            "viewership.regions",
            \.regionDatabase,
            "a file",
            "A file in the MaxMind DB format that maps addresses to regions."
        ),
        .words(
            "viewership.proxies",
            \.trustedProxies,
            "addresses, networks",
            "Servers in front, whose `X-Forwarded-For` is trusted and which may send access logs."
        ),
        .word(
            "viewership.region_header",
            \.regionHeader,
            "the name of a field",
            "The header field in which those servers name the viewer's country, such as `CF-IPCountry`."
        ),
        .word(
            "viewership.region",
            \.homeRegion,
            "`DE`, `US-CA`",
            "The region of viewers whose region is otherwise unknown."
        ),
        .flag(
            "viewership.device_ids",
            \.usesDeviceIDs,
            "Device ids that players store (`did`) distinguish viewers; requires the viewers' consent."
        ),
        .flag(
            "viewership.proxies_cache",
            \.proxiesCache,
            "Servers in front may answer media requests from a cache, so that playlists alone prove a viewer."
        ),
        .flag(
            "viewership.session_paths",
            \.namesSessionsInPaths,
            "Players that connect directly get URLs with the session in the path; not for a cache that adds no header."
        ),
        .flag(
            "viewership.reports_alone",
            \.countsReportsAlone,
            "Players known only by CMCD reports, under ids of their own choice, count without observed media."
        ),
        .word(
            "viewership.robots",
            \.robotList,
            "a file",
            "A file with further words that identify robots, one per line."
        ),
        .number(
            "viewership.log_lateness",
            \.logLateness,
            1...600,
            "Seconds after which a line of a CDN's log is too late to count."
        ),
        .number(
            "viewership.beats_port",
            \.accessLogPort,
            port,
            unset: "off",
            "UDP port on `host` for the playlist access logs that a server in front sends by syslog."
        ),
        .flag(
            "webhooks.allow_private",
            \.allowsPrivateWebhooks,
            "Webhooks may be posted to private and loopback addresses, on any port."
        ),
        .flag("webhooks.allow_http", \.allowsPlainWebhooks, "Webhooks may be posted without TLS."),
        .number("webhooks.maximum", \.maximumWebhooks, 0...1_000, "Maximum webhooks."),
        .number(
            "webhooks.queue",
            \.webhookQueue,
            1...1_000_000,
            "Maximum messages queued for one webhook, beyond which the oldest are dropped and counted."
        ),
        .numbers(
            "webhooks.thresholds",
            \.webhookThresholds,
            1...1_000_000_000,
            "Numbers of viewers that are posted to webhooks when a broadcast reaches them."
        ),
        .word(
            "mixer.confinement",
            \.mixerConfinement,
            among: MixerEnvironment.confinementLevels,
            "Restricts mixers to the system calls they need: if supported, or no mixer starts, or not at all."
        ),
        .number(
            "mixer.memory",
            \.mixerMemory,
            0...16_777_216,
            unset: "as the machine has",
            "MiB of memory for a mixer, by default the lower of 4096 and half of the machine's; 0 is no limit."
        ),
        .word(
            "cluster.dsn",
            \.clusterDSN,
            "a connection string",
            "The PostgreSQL database by which several gateways agree who has a room; without it the gateway runs alone."
        ) { _ in "***" },
        .word("cluster.node", \.clusterNode, "a name", "The name of this gateway in the cluster, unlike all others."),
        .word(
            "cluster.address",
            \.clusterAddress,
            "`http://10.0.0.5:8080`",
            "The address by which the other gateways reach this one."
        ),
        .word(
            "cluster.key",
            \.clusterKey,
            "a file",
            "A file with a random text of 32 characters or more, the same for all gateways of the cluster."
        ),
        .flag(
            "core_dumps",
            \.writesCores,
            "A crash of the gateway may leave a core file, and debuggers of its user may attach to it."
        ),
        Setting(
            key: "auth.retired_keys",
            values: "a folder",
            summary: "Keys that no longer sign tokens and still verify them."
        ) { reader, configuration in
            configuration.retiredKeys = try reader.string("auth.retired_keys")
        } text: {
            $0.resolvedRetiredKeys
        } isEqual: {
            $0.resolvedRetiredKeys == $1.resolvedRetiredKeys
        },
        .words(
            "cors.origins",
            \.allowedOrigins,
            "origins",
            "Web origins whose pages may use the API, such as `https://app.example`."
        ),
        .number("threads", \.threads, 0...256, "Number of event loops; 0 takes one per core."),
        .word(
            "log.level",
            \.logLevel,
            among: GatewayConfiguration.logLevels,
            "The lowest severity of messages that are logged."
        ),
        .word(
            "log.format",
            \.logFormat,
            among: GatewayConfiguration.logFormats,
            "The form of log messages: lines of text, or one JSON object per line."
        ),
    ]
}

extension GatewayConfiguration {
    /// The effective values, one per line, as `check-config` prints them; private keys are masked.
    public var lines: [String] { Setting.all.map { "\($0.key): \($0.text(self))" } }

    /// The settings reference, a table in Markdown.
    public static var reference: String {
        let head = ["| setting | values | default | reload | what it does |", "|---|---|---|---|---|"]
        let rows = Setting.all.map { setting in
            let reload = setting.isReloadable ? "yes" : ""
            return "| `\(setting.key)` | \(setting.values) | \(setting.defaultText) | \(reload) | \(setting.summary) |"
        }
        return (head + rows).joined(separator: "\n") + "\n"
    }
}

extension GatewayConfiguration {
    /// A configuration file in YAML with every setting: what it does, its values, and its value here.
    ///
    /// A setting without a value is commented out, as is a section that has no other.
    public var template: String {
        var root = TemplateSection()
        for setting in Setting.all {
            root.insert(
                setting,
                path: setting.key.split(separator: ".").map(String.init)[...],
                text: setting.text(self)
            )
        }
        let head = """
            # The settings of Footlight. Each is also an environment variable: FOOTLIGHT_RTMP_PORT is rtmp.port.
            # After a change: footlight check-config --config FILE, and reload the gateway (SIGHUP), which says what needs a restart.

            """
        return head + root.lines(indent: "").joined(separator: "\n") + "\n"
    }
}

/// A level of a configuration file.
private struct TemplateSection {
    private enum Entry {
        case setting(Setting, text: String)
        case section(TemplateSection)
    }

    private static let unset: Set = ["none", "off", "as the machine has", "***"]

    /// Whether a text stands for no value, or for one that is not shown.
    private static func isUnset(_ text: String, _ setting: Setting) -> Bool {
        unset.contains(text) && !setting.values.contains(text)
    }

    private var entries: [(name: String, entry: Entry)] = []

    mutating func insert(_ setting: Setting, path: ArraySlice<String>, text: String) {
        guard let name = path.first else { return }
        if path.count == 1 {
            entries.append((name, .setting(setting, text: text)))
            return
        }
        let index = entries.firstIndex { $0.name == name } ?? entries.endIndex
        if index == entries.endIndex { entries.append((name, .section(TemplateSection()))) }
        guard case .section(var section) = entries[index].entry else { return }
        section.insert(setting, path: path.dropFirst(), text: text)
        entries[index].entry = .section(section)
    }

    /// Whether a value is in effect that a file could state.
    private var hasValue: Bool {
        entries.contains { _, entry in
            switch entry {
            case .setting(let setting, let text): !Self.isUnset(text, setting)
            case .section(let section): section.hasValue
            }
        }
    }

    func lines(indent: String) -> [String] {
        entries.flatMap { name, entry -> [String] in
            switch entry {
            case .setting(let setting, let text):
                let isUnset = Self.isUnset(text, setting)
                return [
                    "\(indent)# \(setting.summary)", "\(indent)# Values: \(setting.values).",
                    isUnset ? "\(indent)#\(name):" : "\(indent)\(name): \(Self.yaml(text, setting))",
                ]
            case .section(let section):
                let inner = section.lines(indent: indent + "  ")
                return ["", section.hasValue ? "\(indent)\(name):" : "\(indent)#\(name):"] + inner
            }
        }
    }

    /// Returns a value as `check-config` prints it in YAML.
    private static func yaml(_ text: String, _ setting: Setting) -> String {
        if setting.values.hasPrefix("a list of ") || setting.values == "origins" || setting.values.contains("networks")
        {
            return "[\(text)]"
        }
        let isPlain = Int(text) != nil || text == "true" || text == "false"
        return isPlain ? text : "\"\(text)\""
    }
}
