import FootlightTesting
import Foundation
import TestSupport
import Testing

@Suite("HTTPS and RTMPS", .enabled(if: TestRun.isFull), .serialized, .timeLimit(.minutes(2)))
struct EncryptedPortsTests {
    private let folder: TemporaryFolder
    private let certificates: TestCertificates

    init() async throws {
        folder = try TemporaryFolder("tls")
        certificates = try await TestCertificates(in: folder.path)
        try await certificates.issue("server", for: "localhost")
    }

    private func environment(_ more: [String: String] = [:]) -> [String: String] {
        [
            "FOOTLIGHT_HTTPS_PORT": "0", "FOOTLIGHT_RTMPS_PORT": "0",
            "FOOTLIGHT_TLS_CERTIFICATE": certificates.path("server.pem"),
            "FOOTLIGHT_TLS_KEY": certificates.path("server.key"),
        ].merging(more) { $1 }
    }

    private func https(_ gateway: GatewayProcess) throws -> String {
        "https://localhost:\(try #require(gateway.endpoints.httpsPort))"
    }

    /// Makes a room on air with one host of one colour.
    private func onAir(_ room: String) async throws -> (stage: RoomFixture, publisher: ChildProcess) {
        let stage = try await RoomFixture(room: room, environment: environment())
        let host = try await stage.join("red")
        let publisher = try stage.publish(try await stage.clip(HostScript(.red, tone: 440)), as: host)
        try await stage.waitUntilOnAir()
        return (stage, publisher)
    }

    /// Runs curl, which trusts the test's authority alone.
    @discardableResult
    private func curl(_ arguments: [String]) async throws -> String {
        try await ChildProcess.run(
            ["curl", "-sS", "--max-time", "20", "--cacert", certificates.authority] + arguments,
            within: .seconds(25)
        )
    }

    /// Whether curl cannot connect with these arguments.
    private func isRefused(_ arguments: [String]) async throws -> Bool {
        let child = try ChildProcess(["curl", "-sS", "--max-time", "10"] + arguments)
        return try await child.wait(.seconds(12)) != .code(0)
    }

    /// Whether the middle of a recording's second second is red.
    private func isRed(_ path: String) async throws -> Bool {
        let recording = try await Recording(path: path)
        let frame = try await recording.frame(at: 1.5)
        return frame.colour(x: 640, y: 360).distance(to: .red) < 60
    }

    // MARK: Protocols

    @Test("serves API, events, pages, HLS and HTTP-FLV by HTTP/1.1 and HTTP/2 over TLS 1.2 and 1.3, and nothing older")
    func protocols() async throws {
        let (stage, publisher) = try await onAir("sealed")
        defer { publisher.end() }
        let site = try https(stage.gateway)
        let token = "Authorization: Bearer " + (try stage.gateway.operatorToken)
        for (option, version) in [("--http1.1", "1.1"), ("--http2", "2")] {
            let seen = "%{http_version} %{http_code}"
            for path in ["watch/sealed", "live/sealed/index.m3u8", "docs/errors"] {
                let answer = try await curl([option, "-o", "/dev/null", "-w", seen, "\(site)/\(path)"])
                #expect(answer == "\(version) 200", "\(path)")
            }
            let room = try JSONValue(parsing: await curl([option, "-H", token, "\(site)/v1/rooms/sealed"]))
            #expect(room["playback"]["hls_url"].string == "\(site)/live/sealed/index.m3u8")
            let rtmps = try #require(stage.gateway.endpoints.rtmpsPort)
            #expect(room["playback"]["rtmp_url"].string == "rtmps://localhost:\(rtmps)/live/sealed")

            let events = try ChildProcess(
                ["curl", "-sSN", option, "--cacert", certificates.authority, "-H", token]
                    + ["\(site)/v1/rooms/sealed/events"]
            )
            #expect(try await eventually(within: .seconds(10)) { events.standardOutput.contains("\ndata: ") })
            events.end()

            let file = folder.file("program\(version).flv")
            let player = try ChildProcess(
                ["curl", "-sS", option, "--cacert", certificates.authority, "-o", file, "\(site)/live/sealed.flv"]
            )
            try await Task.sleep(for: .seconds(5))
            #expect(player.isRunning)
            player.end()
            #expect(try await isRed(file), "HTTP/\(version)")
        }
        #expect(try await isRefused(["-k", "--ciphers", "DEFAULT@SECLEVEL=0", "--tls-max", "1.1", site]))
        for version in ["1.2", "1.3"] {
            try await curl(["-f", "-o", "/dev/null", "--tlsv\(version)", "--tls-max", version, "\(site)/docs/errors"])
        }
    }

    @Test("answers many waiting requests of one HTTP/2 connection, each when its part arrives")
    func blockingReloads() async throws {
        let (stage, publisher) = try await onAir("parts")
        defer { publisher.end() }
        let site = try https(stage.gateway)
        let index = try await curl(["--http2", "\(site)/live/parts/index.m3u8"])
        let media = try #require(index.split(separator: "\n").last.map(String.init))
        let playlist = "\(site)/live/parts/\(media)"
        let text = try await curl(["--http2", playlist])
        let first = try #require(text.firstMatch(of: /#EXT-X-MEDIA-SEQUENCE:(\d+)/).flatMap { Int($0.output.1) })
        let number = first + text.matches(of: /#EXTINF/).count
        let join = playlist.contains("?") ? "&" : "?"
        // Two players' worth of requests; a session may have two that wait.
        let requests = ["_HLS_msn=\(number)", "_HLS_msn=\(number + 1)"].flatMap { directive in
            ["-o", "/dev/null", "\(playlist)\(join)\(directive)"]
        }
        let written = try await curl(
            ["--http2", "--parallel", "--parallel-immediate", "-w", "%{http_version} %{http_code} %{time_total}\n"]
                + requests
        )
        let lines = written.split(separator: "\n").map { $0.split(separator: " ") }
        #expect(lines.count == 2 && lines.allSatisfy { $0[0] == "2" && $0[1] == "200" }, "\(written)")
        #expect(lines.allSatisfy { (Double($0[2]) ?? 0) > 0.2 }, "\(written)")
    }

    @Test("plays low-latency HLS in Chromium over HTTP/2, and counts the viewer once")
    func browser() async throws {
        let (stage, publisher) = try await onAir("seen")
        defer { publisher.end() }
        let site = try https(stage.gateway)
        let browser = try await HeadlessBrowser(trustsAll: true)
        try await browser.open("\(site)/watch/seen")
        let isPlaying = "globalThis.footlight?.program.state === 'playing'"
        #expect(try await browser.waits(for: isPlaying, within: .seconds(20)), "\(browser.consoleErrors)")
        let protocols = try await browser.evaluate(
            "[...new Set(performance.getEntriesByType('resource').map(entry => entry.nextHopProtocol))].join()"
        )
        #expect(protocols.string == "h2")
        var viewers: Int?
        let isCounted = try await eventually(within: .seconds(15), every: .milliseconds(250)) {
            viewers = try await stage.gateway.api("GET", stage.path("viewership")).json["concurrent_viewers"].int
            return viewers == 1
        }
        #expect(isCounted, "\(String(describing: viewers))")
    }

    @Test("publishes and plays by RTMPS")
    func rtmps() async throws {
        let stage = try await RoomFixture(room: "pushed", environment: environment())
        let gateway = stage.gateway
        let host = try await stage.join("red")
        let base = "rtmps://localhost:\(try #require(gateway.endpoints.rtmpsPort))/live"
        let trust = ["-tls_verify", "1", "-ca_file", certificates.authority]
        let clip = try await stage.clip(HostScript(.red, tone: 440))
        let publisher = try ChildProcess(
            ["ffmpeg", "-nostdin", "-loglevel", "error", "-re", "-stream_loop", "-1", "-i", clip, "-c", "copy"]
                + trust + ["-f", "flv", "\(base)/\(host.key)"]
        )
        defer { publisher.end() }
        try await stage.waitUntilOnAir()
        let file = folder.file("played.mkv")
        try await ChildProcess.run(
            ["ffmpeg", "-nostdin", "-loglevel", "error"] + trust
                + ["-i", "\(base)/pushed", "-t", "3", "-c", "copy", file],
            within: .seconds(25)
        )
        #expect(try await isRed(file))
    }

    // MARK: Answers

    @Test("join answers in clear name both ingest addresses, and those by HTTPS name encrypted ones only")
    func joinAnswers() async throws {
        let stage = try await RoomFixture(room: "joined", environment: environment())
        let gateway = stage.gateway
        let endpoints = gateway.endpoints
        let rtmps = try #require(endpoints.rtmpsPort)
        let plain = try await stage.expect(201, "POST", stage.path("participants"), Self.host("red"))
        #expect(plain["ingest"]["rtmp"]["url"].string == "rtmp://127.0.0.1:\(endpoints.rtmpPort)/live")
        #expect(plain["ingest"]["rtmps"]["url"].string == "rtmps://127.0.0.1:\(rtmps)/live")
        #expect(plain["ingest"]["rtmps"]["stream_key"] == plain["ingest"]["rtmp"]["stream_key"])
        let text = try await curl([
            "-H", "Authorization: Bearer " + (try gateway.operatorToken), "-H", "Content-Type: application/json", "-d",
            Self.host("blue").text, "\(try https(gateway))\(stage.path("participants"))",
        ])
        let secure = try JSONValue(parsing: text)
        #expect(secure["ingest"]["rtmp"]["url"].string == "rtmps://localhost:\(rtmps)/live")
        #expect(!text.contains("http://") && !text.contains("rtmp://"), "\(text)")
    }

    private static func host(_ identity: String) -> JSONValue {
        ["identity": .string(identity), "mode": "SEND_AND_RECV"]
    }

    @Test("redirects HTTP to HTTPS except for a proxy, and tells browsers to stay with it, if configured")
    func redirect() async throws {
        let gateway = try await GatewayProcess(
            environment: environment(["FOOTLIGHT_HTTPS_REDIRECT": "true", "FOOTLIGHT_HTTPS_HSTS": "600"])
        )
        let plain = "http://localhost:\(gateway.endpoints.httpPort)"
        let site = try https(gateway)
        for path in ["dashboard?a=1", "live/nothing/index.m3u8", "v1/rooms"] {
            let seen = try await curl(["-o", "/dev/null", "-w", "%{http_code} %{redirect_url}", "\(plain)/\(path)"])
            #expect(seen == "308 \(site)/\(path)")
        }
        let forwarded = ["-H", "X-Forwarded-For: 192.0.2.1", "-o", "/dev/null", "-w", "%{http_code}"]
        #expect(try await curl(forwarded + ["\(plain)/dashboard"]) == "200")
        for option in ["--http1.1", "--http2"] {
            let head = try await curl([option, "-D", "-", "-o", "/dev/null", "\(site)/dashboard"]).lowercased()
            #expect(head.contains("strict-transport-security: max-age=600"))
        }
    }

    // MARK: Certificates

    @Test(
        "200 viewers watch on through a change of the certificate, which new connections get; an unusable one is ignored"
    )
    func reload() async throws {
        let stage = try await RoomFixture(
            room: "renewed",
            program: ["width": 320, "height": 180, "fps": 15, "video_bitrate": 200],
            environment: environment()
        )
        let host = try await stage.join("red")
        let publisher = try stage.publish(try await stage.clip(HostScript(.red, tone: 440)), as: host)
        defer { publisher.end() }
        try await stage.waitUntilOnAir()
        let port = try #require(stage.gateway.endpoints.httpsPort)
        let viewers = try ChildProcess(
            ["python3", "-c", Self.viewers, "localhost", "\(port)", "/live/renewed.flv", certificates.authority, "200"]
        )
        defer { viewers.end() }
        let streams = try ChildProcess([
            "curl", "-sS", "--http2", "--cacert", certificates.authority, "-o", "/dev/null",
            "\(try https(stage.gateway))/live/renewed.flv",
        ])
        defer { streams.end() }
        func lastLine() -> String? { viewers.standardOutput.split(separator: "\n").last.map(String.init) }
        #expect(try await eventually(within: .seconds(20)) { lastLine() == "200 200" })
        let before = try await served(by: stage.gateway)
        let metric = try await expiry(stage.gateway)
        try await certificates.issue("next", for: "localhost", days: 30)
        // An ACME client writes one file after the other.
        try replace("server.pem", by: "next.pem")
        #expect(try await eventually(within: .seconds(10)) { stage.gateway.log.contains("cannot be used") })
        #expect(try await served(by: stage.gateway) == before)
        try replace("server.key", by: "next.key")
        let isNew = try await eventually(within: .seconds(10), every: .milliseconds(250)) {
            try await served(by: stage.gateway) != before
        }
        #expect(isNew)
        let seen = viewers.standardOutput.split(separator: "\n").count
        #expect(
            try await eventually(within: .seconds(10)) {
                viewers.standardOutput.split(separator: "\n").count > seen + 3
            }
        )
        #expect(lastLine() == "200 200", "open, and with media in the last second: \(lastLine() ?? "")")
        #expect(streams.isRunning)
        #expect(try await expiry(stage.gateway) > metric + 20 * 86_400)
        let system = try await stage.gateway.api("GET", "/v1/system").json
        #expect(system["certificate"]["names"].elements.map(\.string) == ["localhost"])
        #expect(system["certificate"]["days_left"].int == 29 && system["network"]["viewers"].int ?? 0 >= 201)
    }

    /// Opens many HTTP-FLV streams over TLS; prints each second how many are open, and how many received media in it.
    private static let viewers = """
        import asyncio, ssl, sys
        host, port, path, authority, count = sys.argv[1:]
        context = ssl.create_default_context(cafile=authority)
        open_streams, received = 0, set()
        async def watch(number):
            global open_streams
            reader, writer = await asyncio.open_connection(host, int(port), ssl=context)
            writer.write(f"GET {path} HTTP/1.1\\r\\nHost: {host}\\r\\n\\r\\n".encode())
            open_streams += 1
            while await reader.read(65536): received.add(number)
            open_streams -= 1
        async def main():
            tasks = [asyncio.create_task(watch(number)) for number in range(int(count))]
            while True:
                await asyncio.sleep(1)
                print(open_streams, len(received), flush=True)
                received.clear()
        asyncio.run(main())
        """

    private func replace(_ name: String, by other: String) throws {
        let content = try Data(contentsOf: URL(fileURLWithPath: certificates.path(other)))
        try content.write(to: URL(fileURLWithPath: certificates.path(name)), options: .atomic)
    }

    /// The serial number of the certificate that a new connection gets.
    private func served(by gateway: GatewayProcess) async throws -> String {
        let port = try #require(gateway.endpoints.httpsPort)
        let script = "openssl s_client -connect localhost:\(port) </dev/null 2>/dev/null | openssl x509 -noout -serial"
        return try await ChildProcess.run(["/bin/sh", "-c", script], within: .seconds(10))
    }

    private func expiry(_ gateway: GatewayProcess) async throws -> Double {
        let metrics = try await gateway.request("GET", port: gateway.endpoints.adminPort, "/metrics").text
        let line = metrics.firstMatch(of: /\nfootlight_tls_certificate_expires_timestamp_seconds (\S+)/)
        return try #require(line.flatMap { Double($0.output.1) })
    }
}
