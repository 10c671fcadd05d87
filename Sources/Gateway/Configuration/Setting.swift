import Configuration
import Stage

/// One setting: what it is called, what values it takes, and what it does.
///
/// From the table of all of them, `Setting.all`, come what is read, what `footlight check-config` prints, and the list of
/// settings in the documents.
struct Setting: Sendable {
    /// Its key in a configuration file, such as `rtmp.port`.
    let key: String
    /// What values it takes, in words.
    let values: String
    /// What it does, in one sentence.
    let summary: String
    /// Reads its value into a configuration; one that is not given leaves the default.
    let read: @Sendable (SettingReader, inout GatewayConfiguration) throws -> Void
    /// Its value, as `check-config` prints it.
    let text: @Sendable (GatewayConfiguration) -> String

    /// Its value where none is given, as `check-config` prints it.
    var defaultText: String { text(GatewayConfiguration()) }

    private typealias Path<Value> = any WritableKeyPath<GatewayConfiguration, Value> & Sendable

    // MARK: Kinds of settings

    /// The setting of a property.
    ///
    /// - Parameters:
    ///   - read: Its value, nil where none is given.
    ///   - text: A value as `check-config` prints it.
    private static func of<Value: Sendable>(
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

    /// - Parameter unset: What no value stands for.
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

    /// A flag that is on unless it is set.
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
        .word("data.dir", \.dataDirectory, "a folder", "Holds keys, tokens and what must survive a restart."),
        .word("host", \.host, "an address", "The address that the RTMP and HTTP ports are bound to."),
        .number("rtmp.port", \.rtmpPort, port, "RTMP; 0 picks a free port."),
        .number("http.port", \.httpPort, port, "HTTP: the API, the pages, HLS and HTTP-FLV; 0 picks a free port."),
        .number("admin.port", \.adminPort, port, "Metrics and health, on 127.0.0.1; 0 picks a free port."),
        .number("rtmps.port", \.rtmpsPort, port, unset: "off", "RTMP over TLS; needs a certificate and its key."),
        .word("tls.certificate", \.tlsCertificate, "a PEM file", "The certificate chain for RTMPS."),
        .word("tls.key", \.tlsKey, "a PEM file", "The private key for RTMPS.") { _ in "***" },
        .number(
            "fanout.tick",
            \.fanOutTick,
            0...1_000,
            "Milliseconds between two writes to a viewer; 66 sends two frames at 30 per second together, 33 each at once."
        ),
        .number(
            "fanout.viewers",
            \.maximumViewers,
            1...1_000_000,
            "Most viewers connected to this gateway at a time; those that a cache in front answers do not count."
        ),
        .flag(
            "outputs.allow_private",
            \.allowsPrivateOutputs,
            "Operators' outputs may push to private and loopback addresses, on any port."
        ),
        .flag(
            "assets.allow_private",
            \.allowsPrivateAssets,
            "Operators' images and music may come from private and loopback addresses, on any port but the gateway's own."
        ),
        .number(
            "room.idle",
            \.roomIdle,
            0...86_400,
            "Seconds after which the mixer of a room stops that has no host and that nobody watches or records."
        ),
        .number("rooms.maximum", \.maximumRooms, 1...100_000, "Most rooms in progress at a time."),
        .flag("rooms.ad_hoc", \.makesRoomsAdHoc, "Joining a room that does not exist creates it."),
        .flag("rooms.call.audio_on", \.callSettings.isAudioOn, "Clients join with the microphone on."),
        .flag("rooms.call.video_on", \.callSettings.isVideoOn, "Clients join with the camera on."),
        .flag("rooms.call.speaker_on", \.callSettings.isSpeakerOn, "Clients join with the loudspeaker on."),
        .flag("rooms.call.audio_output_on", \.callSettings.isAudioOutputOn, "Clients join with sound on."),
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
        .number("hosts.maximum", \.maximumHosts, 1...100_000, "Most hosts' connections at a time, over all rooms."),
        .number(
            "livestreams.maximum",
            \.maximumLivestreams,
            0...100_000,
            "Most livestreams at a time, over all rooms."
        ),
        .number(
            "limits.cpu_ceiling",
            \.processorCeiling,
            0...100,
            "Percent of the machine's cores that all mixers may have together, beyond which hosts are refused; 0 is no limit."
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
            "Players of one client that asked for a program and were not seen to watch it; 0 is no limit."
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
            "Viewers of one client without a token who count, further ones play uncounted; 0 is no limit."
        ),
        .number(
            "recordings.file_size",
            \.recordingFileSize,
            1...1_048_576,
            "MiB after which a recording goes on in a new file, at a keyframe."
        ),
        .number(
            "recordings.file_length",
            \.recordingFileLength,
            1...86_400,
            "Seconds after which a recording goes on in a new file, at a keyframe."
        ),
        .number(
            "recordings.keep_size",
            \.recordingKeepSize,
            0...1_073_741_824,
            "MiB of finished files that are kept, the oldest are deleted first; 0 keeps all."
        ),
        .number(
            "recordings.keep_age",
            \.recordingKeepAge,
            count,
            "Hours for which finished files are kept; 0 keeps them for good."
        ),
        .number(
            "recordings.reserve",
            \.recordingReserve,
            0...1_048_576,
            "MiB of the disk that recordings leave free for the rest of the gateway."
        ),
        .number(
            "viewership.keep_sessions",
            \.sessionKeepDays,
            1...3_650,
            "Days for which single playbacks are kept."
        ),
        .number(
            "viewership.keep_minutes",
            \.minuteKeepDays,
            0...36_500,
            "Days for which figures by minute and of broadcasts are kept; 0 keeps them for good."
        ),
        .word(
            "viewership.regions",
            \.regionDatabase,
            "a file",
            "A file in the MaxMind DB format that tells where an address is."
        ),
        .words(
            "viewership.proxies",
            \.trustedProxies,
            "addresses, networks",
            "Servers in front, whose `X-Forwarded-For` is believed and who may send beats."
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
            "The region of viewers of whom nothing else tells it."
        ),
        .flag(
            "viewership.device_ids",
            \.takesDeviceIDs,
            "The ids that players keep for their device (`did`) tell viewers apart, for which they have consented."
        ),
        .flag(
            "viewership.proxies_cache",
            \.proxiesCache,
            "Servers in front may answer requests for media from a cache, so that playlists alone prove a viewer."
        ),
        .flag(
            "viewership.session_paths",
            \.namesSessionsInPaths,
            "Players that come directly get addresses with their session in the path; not for a cache that adds no header."
        ),
        .flag(
            "viewership.reports_alone",
            \.countsReportsAlone,
            "Players known by CMCD reports alone, under names that they made up, count without any media seen."
        ),
        .word(
            "viewership.robots",
            \.robotList,
            "a file",
            "A file with further words by which robots are told from viewers, one a line."
        ),
        .number(
            "viewership.log_lateness",
            \.logLateness,
            1...600,
            "Seconds after which a line of a content network's log comes too late to count."
        ),
        .number(
            "viewership.beats_port",
            \.beatsPort,
            port,
            unset: "off",
            "UDP port on `host` where a server in front reports by syslog who asked for playlists."
        ),
        .flag(
            "webhooks.allow_private",
            \.allowsPrivateWebhooks,
            "Webhooks may be posted to private and loopback addresses, on any port."
        ),
        .flag("webhooks.allow_http", \.allowsPlainWebhooks, "Webhooks may be posted without TLS."),
        .number("webhooks.maximum", \.maximumWebhooks, 0...1_000, "Most webhooks."),
        .number(
            "webhooks.queue",
            \.webhookQueue,
            1...1_000_000,
            "Most messages that wait for one webhook, beyond which the oldest are dropped and counted."
        ),
        .numbers(
            "webhooks.thresholds",
            \.webhookThresholds,
            1...1_000_000_000,
            "Numbers of viewers that webhooks are told of when a broadcast reaches them."
        ),
        .word(
            "mixer.confinement",
            \.mixerConfinement,
            among: MixerConfinement.levels,
            "Holds mixers to the system calls that they need: as far as the system can, or no mixer starts, or not at all."
        ),
        .number(
            "mixer.memory",
            \.mixerMemory,
            0...16_777_216,
            unset: "as the machine has",
            "MiB of memory for a mixer, else 4096 or half of the machine's; 0 is no limit."
        ),
        .flag(
            "core_dumps",
            \.writesCores,
            "A crash of the gateway may leave a core file, and debuggers of its user may look into it."
        ),
        Setting(
            key: "auth.retired_keys",
            values: "a folder",
            summary: "Keys that sign no tokens any more and still verify them."
        ) { reader, configuration in
            configuration.retiredKeys = try reader.string("auth.retired_keys")
        } text: {
            $0.resolvedRetiredKeys
        },
        .words(
            "cors.origins",
            \.allowedOrigins,
            "origins",
            "Web origins whose pages may use the API, such as `https://app.example`."
        ),
        .number("threads", \.threads, 0...256, "Event loops; 0 takes one per core."),
        .word(
            "log.level",
            \.logLevel,
            among: GatewayConfiguration.logLevels,
            "The least severe messages that are logged."
        ),
    ]
}

extension GatewayConfiguration {
    /// The effective values, a line each, as `check-config` prints them; private keys are named, never shown.
    public var lines: [String] { Setting.all.map { "\($0.key): \($0.text(self))" } }

    /// The list of all settings for the documents, a table in Markdown.
    public static var reference: String {
        let head = ["| setting | values | default | what it does |", "|---|---|---|---|"]
        let rows = Setting.all.map { setting in
            "| `\(setting.key)` | \(setting.values) | \(setting.defaultText) | \(setting.summary) |"
        }
        return (head + rows).joined(separator: "\n") + "\n"
    }
}
