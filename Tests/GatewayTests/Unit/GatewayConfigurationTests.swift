import Foundation
@testable import Gateway
import Glibc
import Stage
import TestSupport
import Testing

@Suite("Gateway configuration", .serialized)
struct GatewayConfigurationTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("configuration") }

    /// Runs `body` with environment variables set.
    private func withEnvironment(_ variables: [String: String], _ body: () async throws -> Void) async throws {
        for (name, value) in variables { setenv(name, value, 1) }
        defer { for name in variables.keys { unsetenv(name) } }
        try await body()
    }

    private func read(
        _ commandLine: [String: String] = [:],
        file: String? = nil
    ) async throws -> GatewayConfiguration {
        try await GatewayConfiguration(commandLine: commandLine, file: file)
    }

    @Test("has the defaults without any source")
    func defaults() async throws {
        let configuration = try await read()
        #expect(configuration == GatewayConfiguration())
        // Also on loopback: a proxy in front can make the gateway public.
        #expect(configuration.host == "127.0.0.1")
        #expect(!configuration.allowsPrivateOutputs && !configuration.allowsPrivateAssets)
        #expect(!configuration.allowsPrivateWebhooks && !configuration.allowsPlainWebhooks)
    }

    @Test("Settings.md has the table of all settings")
    func reference() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let article = root.appendingPathComponent("Sources/Gateway/Gateway.docc/Settings.md")
        // `footlight check-config --reference` prints the table.
        #expect(try String(contentsOf: article, encoding: .utf8).hasSuffix("\n" + GatewayConfiguration.reference))
        let keys = GatewayConfiguration().lines.map { $0.prefix { $0 != ":" } }
        #expect(Set(keys).count == keys.count && keys.count == 74)
    }

    @Test("a configuration file made of the settings in effect has the same effect, and every setting")
    func template() async throws {
        var configuration = GatewayConfiguration()
        configuration.host = "0.0.0.0"
        configuration.trustedProxies = ["10.0.0.1", "fd00::/8"]
        configuration.webhookThresholds = [5, 50]
        configuration.mixerConfinement = "off"
        configuration.httpsPort = 8443
        configuration.callSettings.cameraPosition = .back
        configuration.retiredKeys = "/srv/retired"
        let file = try folder.write(configuration.template, to: "template.yaml")
        // What is secret or without a value is commented out.
        configuration.tlsCertificate = "c.pem"
        configuration.tlsKey = "k.pem"
        let given = ["tls.certificate": "c.pem", "tls.key": "k.pem"]
        var read = try await GatewayConfiguration(commandLine: given, file: file)
        #expect(read.unknownKeys.isEmpty)
        // What is unset in the defaults is stated by the file.
        read.callSettings.isAudioOn = configuration.callSettings.isAudioOn
        read.callSettings.isVideoOn = configuration.callSettings.isVideoOn
        read.callSettings.isSpeakerOn = configuration.callSettings.isSpeakerOn
        read.callSettings.isAudioOutputOn = configuration.callSettings.isAudioOutputOn
        #expect(read == configuration)
        for line in GatewayConfiguration().lines {
            let name = try #require(line.prefix { $0 != ":" }.split(separator: ".").last)
            #expect(configuration.template.contains("\(name):"), "\(line)")
        }
    }

    @Test("a command's own defaults apply only where nothing is configured")
    func commandDefaults() async throws {
        let defaults = ["data.dir": "/tmp/own", "rtmp.port": "4001"]
        let file = try folder.write("data: {dir: /srv/kept}", to: "kept.yaml")
        let own = try await GatewayConfiguration(commandLine: [:], file: nil, unlessGiven: defaults)
        #expect(own.dataDirectory == "/tmp/own" && own.rtmpPort == 4001)
        #expect(own.httpPort == GatewayConfiguration().httpPort)
        let given = try await GatewayConfiguration(commandLine: ["rtmp.port": "0"], file: file, unlessGiven: defaults)
        #expect(given.dataDirectory == "/srv/kept" && given.rtmpPort == 0)
        try await withEnvironment(["FOOTLIGHT_DATA_DIR": "/srv/said"]) {
            let said = try await GatewayConfiguration(commandLine: [:], file: nil, unlessGiven: defaults)
            #expect(said.dataDirectory == "/srv/said" && said.rtmpPort == 4001)
        }
    }

    @Test("command line takes precedence over environment, environment over file, file over default")
    func precedence() async throws {
        let file = try folder.write(
            """
            host: 192.0.2.1
            rtmp:
              port: 1001
            http:
              port: 1002
            admin:
              port: 1003
            outputs:
              allow_private: true
            """,
            to: "gateway.yaml"
        )
        let variables = ["FOOTLIGHT_RTMP_PORT": "2001", "FOOTLIGHT_HTTP_PORT": "2002"]
        try await withEnvironment(variables) {
            let configuration = try await read(["rtmp.port": "3001"], file: file)
            #expect(configuration.rtmpPort == 3001)
            #expect(configuration.httpPort == 2002)
            #expect(configuration.adminPort == 1003)
            #expect(configuration.host == "192.0.2.1")
            #expect(configuration.allowsPrivateOutputs == true)
            #expect(configuration.roomIdle == 300)
        }
    }

    @Test("a JSON file is equivalent to a YAML file")
    func json() async throws {
        let text = #"{"rtmp": {"port": 0}, "fanout": {"tick": 100, "viewers": 5}, "log": {"level": "debug"}}"#
        let configuration = try await read(file: folder.write(text, to: "gateway.json"))
        #expect(configuration.rtmpPort == 0)
        #expect(configuration.fanOutTick == 100)
        #expect(configuration.maximumViewers == 5)
        #expect(configuration.logLevel == "debug")
    }

    @Test("reads settings from the environment")
    func environment() async throws {
        let variables = [
            "FOOTLIGHT_DATA_DIR": "/data", "FOOTLIGHT_HOST": "::1", "FOOTLIGHT_ADMIN_PORT": "0",
            "FOOTLIGHT_RTMPS_PORT": "1936", "FOOTLIGHT_TLS_CERTIFICATE": "c.pem", "FOOTLIGHT_TLS_KEY": "k.pem",
            "FOOTLIGHT_OUTPUTS_ALLOW_PRIVATE": "true", "FOOTLIGHT_ASSETS_ALLOW_PRIVATE": "true",
            "FOOTLIGHT_ROOM_IDLE": "7", "FOOTLIGHT_THREADS": "3",
        ]
        try await withEnvironment(variables) {
            var expected = GatewayConfiguration()
            expected.dataDirectory = "/data"
            expected.host = "::1"
            expected.adminPort = 0
            expected.rtmpsPort = 1936
            expected.tlsCertificate = "c.pem"
            expected.tlsKey = "k.pem"
            expected.allowsPrivateOutputs = true
            expected.allowsPrivateAssets = true
            expected.roomIdle = 7
            expected.threads = 3
            let effective = try await read()
            #expect(effective == expected)
        }
    }

    @Test(
        "refuses an invalid value with its key",
        arguments: [
            ("rtmp.port", "65536"), ("http.port", "-1"), ("admin.port", "many"), ("fanout.tick", "1001"),
            ("fanout.viewers", "0"), ("room.idle", "1.5"), ("threads", "257"), ("outputs.allow_private", "perhaps"),
            ("host", ""), ("rtmps.port", "1936"), ("https.port", "8443"), ("https.redirect", "true"),
            ("https.hsts", "-1"), ("rooms.maximum", "0"), ("rooms.ad_hoc", "maybe"),
            ("livestreams.maximum", "-1"), ("limits.cpu_ceiling", "101"), ("limits.requests", "-1"),
            ("cors.origins", "app.example"), ("rooms.call.audio_on", "maybe"), ("rooms.call.camera_position", "top"),
            ("cors.origins", "https://app.example/path"), ("webhooks.allow_http", "perhaps"), ("webhooks.queue", "0"),
            ("webhooks.thresholds", "10,many"), ("webhooks.thresholds", "0"),
            ("viewership.proxies", "nginx"),
            ("viewership.region_header", "two words"), ("viewership.device_ids", "some"),
        ]
    )
    func refused(key: String, value: String) async throws {
        let error = await #expect(throws: ConfigurationError.self) { try await read([key: value]) }
        #expect(error?.key == key)
        #expect(error?.description.contains(key) == true)
    }

    @Test("reads the settings of the stage from a file and from the environment", arguments: [true, false])
    func stage(isYAML: Bool) async throws {
        let yaml = """
            rooms:
              maximum: 7
              ad_hoc: true
              call:
                audio_on: false
                camera_position: back
            livestreams:
              maximum: 3
            auth:
              retired_keys: /keys
            cors:
              origins: [https://a.example, "http://localhost:3000"]
            """
        let json =
            #"{"rooms":{"maximum":7,"ad_hoc":true,"call":{"audio_on":false,"camera_position":"back"}},"livestreams":{"maximum":3},"#
            + #""auth":{"retired_keys":"/keys"},"cors":{"origins":["https://a.example","http://localhost:3000"]}}"#
        let file = try isYAML ? folder.write(yaml, to: "stage.yaml") : folder.write(json, to: "stage.json")
        let configuration = try await read(file: file)
        #expect(configuration.maximumRooms == 7)
        #expect(configuration.makesRoomsAdHoc)
        #expect(configuration.callSettings == CallSettings(isAudioOn: false, cameraPosition: .back))
        #expect(configuration.maximumLivestreams == 3)
        #expect(configuration.resolvedRetiredKeys == "/keys")
        #expect(configuration.allowedOrigins == ["https://a.example", "http://localhost:3000"])
        #expect(configuration.unknownKeys.isEmpty)
        try await withEnvironment(["FOOTLIGHT_CORS_ORIGINS": "https://b.example, https://c.example"]) {
            let effective = try await read(file: file)
            #expect(effective.allowedOrigins == ["https://b.example", "https://c.example"])
        }
    }

    @Test("allows webhooks without TLS only if configured", arguments: [true, false])
    func webhooks(isYAML: Bool) async throws {
        let yaml = "host: 0.0.0.0\nwebhooks:\n  allow_http: true\n  maximum: 3\n  queue: 50\n  thresholds: [5, 50]\n"
        let json =
            #"{"host":"0.0.0.0","webhooks":{"allow_http":true,"maximum":3,"queue":50,"thresholds":[5,50]}}"#
        let file = try isYAML ? folder.write(yaml, to: "hooks.yaml") : folder.write(json, to: "hooks.json")
        let configuration = try await read(file: file)
        #expect(!configuration.allowsPrivateWebhooks && configuration.allowsPlainWebhooks)
        #expect(configuration.maximumWebhooks == 3 && configuration.webhookQueue == 50)
        #expect(configuration.webhookThresholds == [5, 50] && configuration.unknownKeys.isEmpty)
        #expect(configuration.lines.contains("webhooks.thresholds: 5, 50"))
        #expect(try await read(["webhooks.thresholds": "7, 70"]).webhookThresholds == [7, 70])
    }

    @Test("collects unknown keys, and refuses them when required", arguments: [true, false])
    func unknown(isYAML: Bool) async throws {
        let yaml = "rtmp:\n  prot: 1\nhost: 127.0.0.1\ncolour: red\n"
        let json = #"{"rtmp":{"prot":1},"host":"127.0.0.1","colour":"red"}"#
        let file = try isYAML ? folder.write(yaml, to: "typo.yaml") : folder.write(json, to: "typo.json")
        let configuration = try await read(file: file)
        #expect(configuration.host == "127.0.0.1")
        #expect(configuration.unknownKeys == ["colour", "rtmp.prot"])
        let error = #expect(throws: ConfigurationError.self) { try configuration.requireKnownKeys() }
        #expect(error?.description.contains("colour") == true)
        #expect(error?.description.contains("rtmp.prot") == true)
        #expect(throws: Never.self) { try GatewayConfiguration().requireKnownKeys() }
    }

    @Test("warns of a gateway that listens beyond this machine without TLS and without a named proxy")
    func warnings() {
        var configuration = GatewayConfiguration()
        for host in ["127.0.0.1", "::1", "localhost"] {
            configuration.host = host
            #expect(configuration.warnings.isEmpty, "\(host)")
        }
        for host in ["0.0.0.0", "::", "192.0.2.1", "live.example"] {
            configuration.host = host
            #expect(configuration.warnings.count == 1, "\(host)")
        }
        configuration.trustedProxies = ["10.0.0.1"]
        #expect(configuration.warnings.isEmpty)
        configuration.trustedProxies = []
        configuration.httpsPort = 8443
        #expect(configuration.warnings.isEmpty)
    }

    @Test("prints every value and no private key")
    func lines() async throws {
        var configuration = GatewayConfiguration()
        configuration.rtmpsPort = 1936
        configuration.tlsCertificate = "c.pem"
        configuration.tlsKey = "very-secret.pem"
        let lines = configuration.lines
        #expect(lines.contains("rtmps.port: 1936"))
        #expect(lines.contains("tls.key: ***"))
        #expect(!lines.joined().contains("very-secret"))
        #expect(lines.contains("outputs.allow_private: false") && lines.contains("assets.allow_private: false"))
    }
}
