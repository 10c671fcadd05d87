import FootlightTesting
import Foundation
import TestSupport
import Testing

@Suite("Private rooms", .enabled(if: TestRun.isFull), .serialized, .timeLimit(.minutes(2)))
struct PrivateRoomTests {
    /// Makes a room on air with one host, which needs a ticket.
    private func onAir(
        _ room: String,
        access: JSONValue = ["rule": "token"],
        environment: [String: String] = [:]
    ) async throws -> (stage: RoomFixture, publisher: ChildProcess) {
        let stage = try await RoomFixture(room: room, environment: environment)
        try await stage.expect(200, "PUT", stage.path("access"), access)
        let host = try await stage.join("red")
        let publisher = try stage.publish(try await stage.clip(HostScript(.red, tone: 440)), as: host)
        let isOnAir = try await eventually(within: .seconds(30)) {
            try await stage.gateway.api("GET", stage.path("egress")).json["hls"]["state"].string == "HLS_PLAYABLE"
        }
        #expect(isOnAir)
        return (stage, publisher)
    }

    private func makeTicket(_ stage: RoomFixture, devices: Int = 1) async throws -> JSONValue {
        let end = ISO8601DateFormatter().string(from: Date(timeIntervalSinceNow: 3600))
        let body: JSONValue = ["devices": .number(Double(devices)), "expires_at": .string(end), "name": "Ada"]
        return try await stage.expect(201, "POST", stage.path("tickets"), body)["tickets"][0]
    }

    private func site(_ stage: RoomFixture) -> String { "http://127.0.0.1:\(stage.gateway.endpoints.httpPort)" }

    /// Returns the status and the body of a URL.
    private func get(_ url: String, _ options: [String] = []) async throws -> (status: Int, text: String) {
        let text = try await ChildProcess.run(
            ["curl", "-s", "--max-time", "10", "-w", "\n%{http_code}"] + options + [url],
            within: .seconds(12)
        )
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let status = lines.popLast().flatMap { Int($0) } ?? 0
        return (status, lines.joined(separator: "\n"))
    }

    private func code(_ text: String) throws -> Int? { try JSONValue(parsing: text)["error"]["code"].int }

    private func isRed(_ path: String) async throws -> Bool {
        let recording = try await Recording(path: path)
        return try await recording.frame(at: 1).colour(x: 640, y: 360).distance(to: .red) < 60
    }

    private func refusals(_ stage: RoomFixture, _ reason: String) async throws -> Int {
        let metrics = try await get("http://127.0.0.1:\(stage.gateway.endpoints.adminPort)/metrics").text
        let line = metrics.split(separator: "\n").first {
            $0.hasPrefix("footlight_access_refused_total{reason=\"\(reason)\"}")
        }
        return line?.split(separator: " ").last.flatMap { Int($0) } ?? -1
    }

    @Test("a ticket opens RTMP, HTTP-FLV, HLS and snapshots; without one each refuses, with the reason in words")
    func protocols() async throws {
        let (stage, publisher) = try await onAir("vault")
        defer { publisher.end() }
        let ticket = try await makeTicket(stage, devices: 3)
        let playback = ticket["playback"]
        let urls = try ["rtmp_url", "flv_url", "hls_url"].map { try #require(playback[$0].string) }

        for url in [stage.gateway.hlsURL(room: "vault"), stage.gateway.flvURL(room: "vault")] {
            let answer = try await get(url)
            #expect(try answer.status == 401 && code(answer.text) == 53412, "\(answer)")
        }
        let refused = try ChildProcess(
            ["ffmpeg", "-nostdin", "-loglevel", "debug", "-i", stage.gateway.rtmpURL(room: "vault"), "-f", "null", "-"]
        )
        #expect(try await refused.wait(.seconds(10)) != .code(0))
        #expect(refused.standardError.contains("This program needs a ticket"), "\(refused.standardError.suffix(600))")
        #expect(try await get(site(stage) + stage.path("snapshot.jpg")).status == 401)

        for (index, url) in urls.enumerated() {
            let file = stage.folder.file("program\(index).mkv")
            try await ChildProcess.run(
                ["ffmpeg", "-nostdin", "-loglevel", "error"]
                    // Not the beginning of the program, before the host's media.
                    + (url.contains(".m3u8") ? ["-live_start_index", "-1"] : [])
                    + ["-i", url, "-t", "3", "-c", "copy", file],
                within: .seconds(30)
            )
            #expect(try await isRed(file), "\(url)")
        }
        let admitted = try await stage.expect(
            200,
            "POST",
            stage.path("admission"),
            ["ticket": ticket["ticket"], "take_over": true]
        )
        let sid = try #require(admitted["sid"].string)
        let snapshot = try await eventually(within: .seconds(10)) {
            try await get(site(stage) + stage.path("snapshot.jpg?sid=\(sid)"), ["-o", "/dev/null"]).status == 200
        }
        #expect(snapshot)
        // Its files have names that only a playlist tells.
        let index = try await get(try #require(admitted["playback"]["hls_url"].string)).text
        let media = try #require(index.split(separator: "\n").last)
        let playlist = try await get("\(site(stage))/live/vault/\(media)", ["-D", stage.folder.file("head")])
        let head = try String(contentsOfFile: stage.folder.file("head"), encoding: .utf8).lowercased()
        #expect(head.contains("cache-control: private, no-store"), "\(head)")
        let name = try #require(playlist.text.split(separator: "\n").last { $0.hasSuffix(".m4s") })
        let parts = name.split(separator: ".")
        #expect(parts.count == 3 && parts[1].utf8.count > 8, "\(name)")
        let base = "\(site(stage))/live/vault/\(media.contains("/") ? "\(media.split(separator: "/")[0])/" : "")"
        #expect(try await get(base + name, ["-o", "/dev/null"]).status == 200)
        #expect(try await get(base + "\(parts[0]).\(parts[2])").status == 404)
        #expect(try await refusals(stage, "ticket_missing") >= 3)

        // One session id is one device: the second connection ends the first.
        let flv = try #require(admitted["playback"]["flv_url"].string)
        let connections = try (0..<2).map { _ in try ChildProcess(["curl", "-sS", "-o", "/dev/null", flv]) }
        defer { for connection in connections { connection.end() } }
        #expect(try await eventually(within: .seconds(5)) { connections.count { $0.isRunning } == 1 })

        // The program stays available for a while after the end of the room, for those who were admitted.
        try await stage.expect(200, "POST", "/v1/rooms/vault", ["status": "completed"])
        for _ in 0..<5 {
            for path in ["index.m3u8", "media.m3u8", "media.m3u8?sid=x"] {
                #expect([401, 302, 403].contains(try await get("\(site(stage))/live/vault/\(path)").status), "\(path)")
            }
            try await Task.sleep(for: .milliseconds(500))
        }
    }

    @Test("a revoked ticket closes RTMP and HTTP-FLV connections and ends HLS within two seconds; others play on")
    func revocation() async throws {
        let (stage, publisher) = try await onAir("recall")
        defer { publisher.end() }
        let ticket = try await makeTicket(stage, devices: 3)
        let other = try await makeTicket(stage)
        func play(_ url: JSONValue) throws -> ChildProcess {
            try ChildProcess(["ffmpeg", "-nostdin", "-loglevel", "error", "-i", url.string ?? "", "-f", "null", "-"])
        }
        let players = try ["rtmp_url", "flv_url"].map { try play(ticket["playback"][$0]) }
        let bystander = try play(other["playback"]["flv_url"])
        defer { bystander.end() }
        let isCounted = try await eventually(within: .seconds(20)) {
            try await stage.gateway.api("GET", stage.path("viewership")).json["concurrent_viewers"].int == 3
        }
        #expect(isCounted)
        let index = try await get(try #require(ticket["playback"]["hls_url"].string)).text
        let media = "\(site(stage))/live/recall/\(try #require(index.split(separator: "\n").last))"
        #expect(try await get(media).status == 200)
        let watching = try await stage.gateway.api("GET", stage.path("tickets/\(ticket["id"].string ?? "")")).json
        #expect(watching["watching"].int == 3)

        let clock = ContinuousClock()
        let began = clock.now
        try await stage.expect(200, "DELETE", stage.path("tickets/\(ticket["id"].string ?? "")"))
        for player in players { #expect(try await player.wait(.seconds(2)) != nil, "still plays") }
        let answer = try await get(media)
        #expect(try answer.status == 403 && code(answer.text) == 53416, "\(answer)")
        #expect(clock.now - began < .seconds(2))
        #expect(bystander.isRunning)
        let answers = try await get(try #require(ticket["playback"]["flv_url"].string))
        #expect(try code(answers.text) == 53416)
        let isOneLeft = try await eventually(within: .seconds(20)) {
            try await stage.gateway.api("GET", stage.path("viewership")).json["concurrent_viewers"].int == 1
        }
        #expect(isOneLeft)
    }

    @Test("behind the nginx cache a stranger gets no playlist that a viewer has fetched, and viewers share the media")
    func cache() async throws {
        let (stage, publisher) = try await onAir(
            "cached",
            environment: ["FOOTLIGHT_VIEWERSHIP_PROXIES": "127.0.0.1"]
        )
        defer { publisher.end() }
        let nginx = try await NginxCache(
            gatewayPort: stage.gateway.endpoints.httpPort,
            accessLogPort: try FreePort.pick()
        )
        let front = "http://127.0.0.1:\(nginx.port)/live/cached"
        let text = try #require(try await makeTicket(stage, devices: 2)["ticket"].string)
        let index = try await get("\(front)/index.m3u8?ticket=\(text)")
        let media = try #require(index.text.split(separator: "\n").last)
        let playlist = try await get("\(front)/\(media)")
        #expect(playlist.status == 200)
        for sid in ["", "?sid=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "?sid=x"] {
            #expect([302, 403].contains(try await get("\(front)/media.m3u8\(sid)").status))
        }
        let segment = try #require(playlist.text.split(separator: "\n").last { $0.hasSuffix(".m4s") })
        for _ in 0..<2 { #expect(try await get("\(front)/\(segment)", ["-o", "/dev/null"]).status == 200) }
        // The first segments are of the time before the host's media.
        let hasMore = try await eventually(within: .seconds(20), every: .milliseconds(500)) {
            try await get("\(front)/\(media)").text.matches(of: /#EXTINF/).count > 4
        }
        #expect(hasMore)
        let player = stage.folder.file("cached.mkv")
        try await ChildProcess.run(
            ["ffmpeg", "-nostdin", "-loglevel", "error", "-live_start_index", "-1"]
                + ["-i", "\(front)/index.m3u8?ticket=\(text)"]
                + ["-t", "3", "-c", "copy", player],
            within: .seconds(30)
        )
        #expect(try await isRed(player))
    }

    @Test("the watch page asks for the passphrase, says that it was wrong, plays, and plays on after a reload")
    func passphrasePage() async throws {
        let (stage, publisher) = try await onAir(
            "secret",
            access: ["rule": "passphrase", "passphrase": "curtain call"]
        )
        defer { publisher.end() }
        let browser = try await HeadlessBrowser()
        try await browser.open("\(site(stage))/watch/secret")
        let form = "document.getElementById('admission')?.hidden === false"
        #expect(try await browser.waits(for: form, within: .seconds(20)))
        let reason = "(document.querySelector('#admission p')?.textContent ?? '')"
        #expect(try await browser.evaluate(reason).string?.contains("needs a passphrase") ?? false)
        #expect(try await browser.evaluate("document.getElementById('audience').textContent").string == "")
        func enter(_ text: String) async throws {
            _ = try await browser.evaluate(
                """
                (() => {
                    document.querySelector('#admission input').value = '\(text)';
                    document.querySelector('#admission button').click();
                })()
                """
            )
        }
        try await enter("wrong one")
        #expect(try await browser.waits(for: "\(reason).includes('is wrong')", within: .seconds(10)))
        try await enter("curtain call")
        let isPlaying = "globalThis.footlight?.program.state === 'playing'"
        #expect(
            try await browser.waits(
                for: "\(isPlaying) && document.getElementById('admission').hidden",
                within: .seconds(20)
            )
        )
        #expect(
            try await browser.waits(
                for: "document.getElementById('audience').textContent === '1 watching'",
                within: .seconds(30)
            )
        )
        try await browser.open("\(site(stage))/watch/secret")
        #expect(try await browser.waits(for: isPlaying, within: .seconds(20)), "after a reload")
        #expect(browser.requests.allSatisfy { !$0.contains("curtain") }, "no passphrase in an address")
    }

    @Test("the page of a third device of two says so, and takes the place of the first on request")
    func ticketPage() async throws {
        let (stage, publisher) = try await onAir("seats")
        defer { publisher.end() }
        let ticket = try await makeTicket(stage, devices: 2)
        let url = try #require(ticket["url"].string)
        let isPlaying = "globalThis.footlight?.program.state === 'playing'"
        var browsers: [HeadlessBrowser] = []
        for _ in 0..<2 {
            let browser = try await HeadlessBrowser(width: 640, height: 400)
            try await browser.open(url)
            #expect(try await browser.waits(for: isPlaying, within: .seconds(20)))
            browsers.append(browser)
        }
        let third = try await HeadlessBrowser(width: 640, height: 400)
        try await third.open(url)
        let reason = "(document.querySelector('#admission p')?.textContent ?? '')"
        #expect(try await third.waits(for: "\(reason).includes('in use on other devices')", within: .seconds(20)))
        _ = try await third.evaluate("document.querySelector('#admission button').click()")
        #expect(try await third.waits(for: isPlaying, within: .seconds(20)))
        #expect(try await browsers[0].waits(for: "\(reason).includes('in use on other devices')", within: .seconds(20)))
        #expect(try await browsers[1].evaluate(isPlaying) == .bool(true))
        let id = ticket["id"].string ?? ""
        #expect(try await stage.gateway.api("GET", stage.path("tickets/\(id)")).json["watching"].int == 2)
        try await stage.expect(200, "DELETE", stage.path("tickets/\(id)"))
        #expect(try await third.waits(for: "\(reason).includes('was revoked')", within: .seconds(20)))
    }
}
