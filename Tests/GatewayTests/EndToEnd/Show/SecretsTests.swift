import FootlightTesting
import Foundation
import TestSupport
import Testing

@Suite("Secrets of a show", .enabled(if: TestRun.isFull), .serialized, .timeLimit(.minutes(2)))
struct SecretsTests {
    /// Returns the command line and the environment of a process.
    private func process(_ pid: Int32) -> String {
        ["cmdline", "environ"].map { name in
            String(decoding: FileManager.default.contents(atPath: "/proc/\(pid)/\(name)") ?? Data(), as: UTF8.self)
        }.joined(separator: "\n")
    }

    @Test("no secret that a show makes is in its logs, command lines, environments or metrics")
    func show() async throws {
        let stage = try await RoomFixture(room: "sealed", environment: ["FOOTLIGHT_LOG_LEVEL": "trace"])
        let gateway = stage.gateway
        var secrets: [String: String] = ["operator's token": try gateway.operatorToken]
        let passphrase = "a passphrase of many words"
        secrets["passphrase"] = passphrase
        try await stage.expect(
            200,
            "PUT",
            stage.path("access"),
            ["rule": "passphrase", "passphrase": .string(passphrase)]
        )
        let end = ISO8601DateFormatter().string(from: Date(timeIntervalSinceNow: 3600))
        let tickets = try await stage.expect(201, "POST", stage.path("tickets"), ["expires_at": .string(end)])
        secrets["ticket"] = tickets["tickets"][0]["ticket"].string
        let hook: JSONValue = ["url": "http://127.0.0.1:9/hook", "types": ["room.updated"]]
        secrets["webhook's secret"] = try await stage.expect(201, "POST", "/v1/webhooks", hook)["secret"].string
        secrets["saved output's key"] = "key-of-a-saved-output"
        let show: JSONValue = [
            "name": "weekly", "seats": [["identity": "ann"]],
            "outputs": [
                ["url": "rtmp://127.0.0.1:9/live", "stream_key": .string(secrets["saved output's key"] ?? "")]
            ],
        ]
        let made = try await stage.expect(201, "POST", "/v1/shows", show)
        secrets["seat's key"] = made["seats"][0]["ingest"]["rtmp"]["stream_key"].string
        try await stage.expect(201, "POST", "/v1/shows/weekly/episodes")
        try await stage.expect(200, "POST", "/v1/shows/weekly/episodes/current/go_live")
        let order: JSONValue = ["identity": "lee", "role": "operator"]
        secrets["token by API"] = try await stage.expect(201, "POST", "/v1/tokens", order)["token"].string
        let host = try await stage.join("red")
        secrets["stream key"] = host.key
        let token = try await gateway.issueToken(room: "sealed", identity: "viewer", mode: "RECV_ONLY")
        secrets["participant's token"] = token
        let publisher = try stage.publish(try await stage.clip(HostScript(.red, tone: 440)), as: host)
        defer { publisher.end() }
        let platform = try await NginxRTMP()
        secrets["output's key"] = "key-of-another-platform"
        let target: JSONValue = [
            "name": "one", "url": .string(platform.url), "stream_key": .string(secrets["output's key"] ?? ""),
        ]
        try await stage.expect(202, "POST", stage.path("livestream/start"), ["outputs": [target]])
        #expect(try await stage.waitForOutput("one", ["connected"]))

        // Viewers by each credential, a wrong one, and requests that are refused.
        let site = "http://127.0.0.1:\(gateway.endpoints.httpPort)"
        let encoded = passphrase.replacing(" ", with: "%20")
        var urls = [
            "\(site)/live/sealed/index.m3u8?passphrase=\(encoded)", "\(site)/live/sealed.flv?token=\(token)",
            "\(site)/live/sealed/index.m3u8?ticket=\(secrets["ticket"] ?? "")",
            "\(site)/v1/rooms/sealed?access_token=\(try gateway.operatorToken)",
        ]
        let admission = try await stage.expect(
            200,
            "POST",
            stage.path("admission"),
            ["passphrase": .string(passphrase)]
        )
        let sid = try #require(admission["sid"].string)
        secrets["session id"] = sid
        urls.append("\(site)/live/sealed/index.m3u8?sid=\(sid)")
        for url in urls {
            let request = try ChildProcess(["curl", "-s", "-o", "/dev/null", "--max-time", "2", url])
            _ = try await request.wait(.seconds(4))
        }
        let player = try ChildProcess([
            "ffmpeg", "-nostdin", "-loglevel", "error", "-i",
            "\(gateway.rtmpURL(room: "sealed"))?ticket=\(secrets["ticket"] ?? "")", "-t", "2", "-f", "null", "-",
        ])
        _ = try await player.wait(.seconds(10))
        for (name, file) in [("signing key", "signing.key"), ("pepper", "pepper.key"), ("session key", "session.key")] {
            secrets[name] = try? String(contentsOfFile: "\(gateway.dataFolder)/\(file)", encoding: .utf8)
        }

        let mixers = gateway.mixers(of: "sealed")
        #expect(!mixers.isEmpty)
        let metrics = try await gateway.request("GET", port: gateway.endpoints.adminPort, "/metrics").text
        var places = ["the log": gateway.log, "the metrics": metrics, "the gateway": process(gateway.endpoints.pid)]
        for mixer in mixers { places["mixer \(mixer)"] = process(mixer) }
        #expect(gateway.log.contains("command done"), "the log is that of the show")
        #expect(secrets.count == 14 && !secrets.values.contains(""), "\(secrets.keys.sorted())")
        for (name, secret) in secrets {
            for (place, text) in places {
                #expect(
                    !text.contains(secret.trimmingCharacters(in: .whitespacesAndNewlines)),
                    "\(name) is in \(place)"
                )
            }
        }
        // The tokens of mixers are made by the gateway; each is a JWT.
        for (place, text) in places { #expect(!text.contains("eyJ"), "a token is in \(place)") }
    }
}
