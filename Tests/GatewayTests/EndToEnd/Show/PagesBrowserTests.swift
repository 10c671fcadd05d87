import FootlightTesting
import Foundation
import TestSupport
import Testing

@Suite("Dashboard and watch page in a browser", .enabled(if: TestRun.isFull), .serialized, .timeLimit(.minutes(2)))
struct PagesBrowserTests {
    @Test(
        "an operator logs in and controls the room, a viewer watches near the live edge, and no other site is contacted"
    )
    func show() async throws {
        let stage = try await RoomFixture(room: "show")
        let name = "<b>Red</b>"
        let host: JSONValue = ["identity": "red", "display_name": .string(name), "mode": "SEND_AND_RECV"]
        let participant = try await stage.expect(201, "POST", stage.path("participants"), host)
        let key = try #require(participant["ingest"]["rtmp"]["stream_key"].string)
        let clip = try await stage.clip(HostScript(.red, tone: 440))
        let publisher = try FFmpeg.host(file: clip, to: stage.gateway.ingestURL(key: key), isLooped: true)
        defer { publisher.end() }
        async let starting = HeadlessBrowser()
        try await stage.waitUntilOnAir()
        let browser = try await starting
        let site = "http://127.0.0.1:\(stage.gateway.endpoints.httpPort)"

        try await watch(browser, site)
        try await reach(browser)
        try await expectBeacons(browser, stage)
        try await embed(browser)
        try await playNatively(browser, site, stage)
        try await operate(browser, site, stage, name: name)

        let foreign = browser.requests.filter { request in
            !["\(site)/", "blob:\(site)/", "data:", "about:"].contains { request.hasPrefix($0) }
        }
        #expect(foreign.isEmpty && browser.requests.count > 30, "\(foreign)")
        // CSP violations and exceptions are errors; missing resources are expected.
        let consoleErrors = browser.consoleErrors.filter { !$0.contains("Failed to load resource") }
        #expect(consoleErrors.isEmpty, "\(consoleErrors)")
    }

    /// Expects the watch page to start muted by itself, a few seconds behind live.
    private func watch(_ browser: HeadlessBrowser, _ site: String) async throws {
        try await browser.open("\(site)/watch/show")
        let playing = "globalThis.footlight?.program.state === 'playing' && footlight.latency() !== null"
        #expect(try await browser.waits(for: playing, within: .seconds(15)))
        let before = try await browser.evaluate("document.querySelector('video').currentTime").double ?? 0
        let moves = "document.querySelector('video').currentTime > \(before + 0.5)"
        #expect(try await browser.waits(for: moves, within: .seconds(4)))
        let latency = try await browser.evaluate("footlight.latency() / 1000").double ?? 99
        let isLowLatency = try await browser.evaluate("footlight.program.player.isLowLatency").bool ?? false
        print("watch page: \(latency) s behind the mixer, by parts: \(isLowLatency)")
        #expect(latency > 0 && latency < (isLowLatency ? 3 : 9))
        #expect(try await browser.evaluate("document.querySelector('video').videoWidth").int == 1280)
        // No device id is stored unless the operator enables it.
        #expect(try await browser.evaluate("localStorage.getItem('footlight.device')") == .null)
        #expect(!browser.requests.contains { $0.contains("did=") })
        // The displayed figures.
        let says = "[...document.querySelectorAll('#latency, #quality')].map((line) => line.textContent).join(' | ')"
        let isShown = "/^\\d+\\.\\d s behind live \\| 1280×720 · \\d+\\.\\d Mb\\/s$/.test(\(says))"
        let shows = try await browser.waits(for: isShown, within: .seconds(3))
        let words = try await browser.evaluate(says).text
        #expect(shows, "\(words)")
        // The video is mostly red, as read back by a canvas.
        let mean = try await browser.evaluate(
            """
            (() => {
                const canvas = Object.assign(document.createElement('canvas'), { width: 64, height: 36 });
                const context = canvas.getContext('2d');
                context.drawImage(document.querySelector('video'), 0, 0, 64, 36);
                const { data } = context.getImageData(0, 0, 64, 36);
                return [0, 1, 2].map((channel) => {
                    let sum = 0;
                    for (let place = channel; place < data.length; place += 4) sum += data[place];
                    return sum / (64 * 36);
                });
            })()
            """
        ).elements.compactMap(\.double)
        #expect(mean.count == 3 && mean[0] > 120 && mean[1] < mean[0] / 2 && mean[2] < mean[0] / 2, "\(mean)")
        #expect(try await browser.evaluate("document.querySelector('video').muted").bool == true)
        _ = try await browser.evaluate("document.querySelector('.unmute').click()")
        #expect(try await browser.evaluate("document.querySelector('video').muted").bool == false)
    }

    /// Expects every control of the watch page to be reachable by keyboard and to have an accessible name.
    private func reach(_ browser: HeadlessBrowser) async throws {
        let video = "document.querySelector('video')"
        try await browser.press("m")
        #expect(try await browser.waits(for: "\(video).muted", within: .seconds(5)))
        try await browser.press("m")
        #expect(try await browser.waits(for: "!\(video).muted", within: .seconds(5)))
        // Shortcuts work only while the player has the focus.
        _ = try await browser.evaluate("document.activeElement.blur()")
        for key in ["m", " "] { try await browser.press(key) }
        #expect(try await browser.evaluate("!\(video).muted && !\(video).paused").bool == true)
        _ = try await browser.evaluate("\(video).focus()")
        try await browser.press(" ")
        #expect(try await browser.waits(for: "\(video).paused", within: .seconds(5)))
        try await browser.press("Tab")
        #expect(try await browser.evaluate("document.activeElement.id").string == "play")
        #expect(try await names(browser).isSuperset(of: ["button Play", "button Turn sound off"]))
        // The browser activates a focused button, and the page must not do so again.
        try await browser.press(" ")
        let isPause = "document.querySelector('#play').getAttribute('aria-label') === 'Pause'"
        #expect(try await browser.waits(for: "!\(video).paused && \(isPause)", within: .seconds(5)))
        let expected: Set = [
            "heading show", "region Program", "group Playback", "button Pause", "button Turn sound off",
            "slider Volume",
            "button Full screen", "region About this playback",
        ]
        let found = try await names(browser)
        #expect(found.isSuperset(of: expected), "\(found.sorted())")
    }

    private func names(_ browser: HeadlessBrowser) async throws -> Set<String> {
        Set(try await browser.accessibleNames().map { "\($0.role) \($0.name)" })
    }

    /// Expects the page's CMCD reports to arrive and to belong to this viewer.
    private func expectBeacons(_ browser: HeadlessBrowser, _ stage: RoomFixture) async throws {
        #expect(browser.requests.contains { $0.hasSuffix("/v1/cmcd") })
        var summary: JSONValue = .null
        let isAudible = try await eventually(within: .seconds(20), every: .milliseconds(250)) {
            summary = try await stage.gateway.api("GET", stage.path("viewership/summary")).json
            return summary["coverage"].double == 1 && summary["joins"].int == 1
        }
        #expect(isAudible, "\(summary.text)")
        let isReported = "document.querySelector('#audience').textContent === '1 watching'"
        #expect(try await browser.waits(for: isReported, within: .seconds(20)))
    }

    /// Expects the embedded page to play.
    private func embed(_ browser: HeadlessBrowser) async throws {
        _ = try await browser.evaluate(
            """
            const frame = document.createElement('iframe');
            frame.allow = 'autoplay';
            frame.src = '/watch/show?embed=1';
            document.body.append(frame);
            """
        )
        let plays = "frames[0]?.footlight?.program.state === 'playing'"
        #expect(try await browser.waits(for: plays, within: .seconds(20)))
        _ = try await browser.evaluate("document.querySelector('iframe').remove()")
    }

    /// Expects a browser without MSE to use its native player as one viewer.
    private func playNatively(_ browser: HeadlessBrowser, _ site: String, _ stage: RoomFixture) async throws {
        let joins = try await stage.gateway.api("GET", stage.path("viewership")).json["joins"].int ?? 0
        try await browser.open(
            "\(site)/watch/show",
            preparedBy: """
                globalThis.MediaSource = globalThis.ManagedMediaSource = undefined;
                const { canPlayType } = HTMLMediaElement.prototype;
                HTMLMediaElement.prototype.canPlayType = function (type) {
                    return type.includes('mpegurl') ? 'maybe' : canPlayType.call(this, type);
                };
                """
        )
        let source = "document.querySelector('video')?.getAttribute('src')"
        #expect(try await browser.waits(for: source, within: .seconds(10)))
        let address = try await browser.evaluate(source).string ?? ""
        #expect(address.hasPrefix("/live/show/index.m3u8?sid="), "\(address)")
        let sid = address.split(separator: "=").last ?? ""
        #expect(try await browser.evaluate("footlight.program.sid").string ?? "" == sid)
        let isPlaying = "footlight.program.state === 'playing' && document.querySelector('video').currentTime > 0"
        #expect(try await browser.waits(for: isPlaying, within: .seconds(20)))
        var counted: JSONValue = .null
        let isCounted = try await eventually(within: .seconds(20), every: .milliseconds(100)) {
            counted = try await stage.gateway.api("GET", stage.path("viewership")).json
            return counted["joins"].int == joins + 1
        }
        #expect(isCounted, "\(counted.text)")
        // All requests of page and player have the same session id.
        let named = browser.requests.filter { $0.hasPrefix("\(site)/live/show/") && $0.contains("?sid=\(sid)") }
        #expect(!named.isEmpty)
    }

    private func operate(_ browser: HeadlessBrowser, _ site: String, _ stage: RoomFixture, name: String) async throws {
        try await browser.open("\(site)/dashboard#/room/show")
        #expect(try await browser.waits(for: "document.querySelector('#token')", within: .seconds(5)))
        let token = try stage.gateway.operatorToken
        func logIn(_ token: String) async throws {
            _ = try await browser.evaluate(
                "document.querySelector('#token').value = '\(token)'; document.querySelector('.login button').click()"
            )
        }
        try await logIn("guess")
        #expect(try await browser.waits(for: "document.querySelector('.problem').textContent", within: .seconds(3)))
        try await logIn(token)
        let hasHost = "document.querySelector('.host .name')?.textContent === '\(name)'"
        #expect(try await browser.waits(for: hasHost, within: .seconds(5)))
        #expect(try await browser.evaluate("document.cookie").string == "")
        let shown = "document.querySelector('.screen').dataset.state === 'live'"
        #expect(try await browser.waits(for: shown, within: .seconds(6)))
        #expect(try await browser.evaluate("document.querySelector('.preview .label').textContent").string == name)

        try await expectFigures(browser, stage)

        try await retry(browser, stage)

        // A mute by the page returns as an event.
        _ = try await browser.evaluate("document.querySelector('.track').click()")
        let isMuted = "document.querySelector('.track').dataset.state === 'muted'"
        #expect(try await browser.waits(for: isMuted, within: .seconds(3)))
        let host = try await stage.expect(200, "GET", stage.path("participants/red"))
        #expect(host["is_mic_on"].bool == false)
        try await expectTotals(browser)
        try await end(browser, stage)
        _ = try await browser.evaluate("document.querySelector('#logout').click()")
        #expect(try await browser.waits(for: "document.querySelector('#token')", within: .seconds(3)))
        let status = try await browser.evaluate("fetch('/v1/rooms').then((answer) => answer.status)")
        #expect(status.int == 401)
    }

    /// Expects the overview of all rooms on a phone, and the downloads.
    private func expectTotals(_ browser: HeadlessBrowser) async throws {
        _ = try await browser.evaluate("location.hash = '#/'")
        let card = "document.querySelector('.overview .room .name')?.textContent === 'show'"
        #expect(try await browser.waits(for: card, within: .seconds(5)))
        _ = try await browser.evaluate(
            """
            globalThis.kept = {};
            const blobs = [];
            URL.createObjectURL = (blob) => `data:,${blobs.push(blob) - 1}`;
            HTMLAnchorElement.prototype.click = async function () {
                kept[this.download] = await blobs[this.href.split(',')[1]].text();
            };
            for (const button of document.querySelectorAll('.overview .downloads button')) button.click();
            """
        )
        #expect(try await browser.waits(for: "Object.keys(kept).length === 3", within: .seconds(10)))
        let rooms = try await browser.evaluate("kept['all-rooms.csv']").string ?? ""
        #expect(rooms.hasPrefix("room,") && rooms.contains("\r\nshow,"), "\(rooms)")
        let timeline = try await browser.evaluate("kept['all-timeline.csv']").string ?? ""
        #expect(timeline.hasPrefix("at,group,"), "\(timeline)")
        let summary = try await browser.evaluate("kept['all-summary.csv']").string ?? ""
        #expect(summary.hasPrefix("from,to,") && summary.contains(",protocol,llhls,"), "\(summary)")
        let fits = "document.documentElement.scrollWidth <= innerWidth && innerWidth === 390"
        #expect(try await browser.waits(for: fits, within: .seconds(5)))
    }

    /// Ends the room, and expects settled figures.
    private func end(_ browser: HeadlessBrowser, _ stage: RoomFixture) async throws {
        try await stage.expect(200, "POST", "/v1/rooms/show", ["status": "completed"])
        var summary: JSONValue = .null
        let isSettled = try await eventually(within: .seconds(10), every: .milliseconds(100)) {
            summary = try await stage.gateway.api("GET", stage.path("viewership/summary")).json
            return summary["settled"].bool == true
        }
        #expect(isSettled, "\(summary.text)")
        // Reloaded, because an open page refreshes the summary rarely.
        _ = try await browser.evaluate("location.hash = '#/room/show'")
        let trust = "document.querySelector('.figures .card-head .badge:last-child')?.textContent"
        #expect(try await browser.waits(for: "\(trust) === 'final'", within: .seconds(10)))
        let peak = "document.querySelector('.figures dl dd')?.textContent"
        #expect(try await browser.evaluate(peak).string == summary["peak_viewers"].int.map(String.init))
    }

    /// Adds an output without a server by the form, and retries it by its button.
    private func retry(_ browser: HeadlessBrowser, _ stage: RoomFixture) async throws {
        let freePort = try FreePort.pick()
        _ = try await browser.evaluate(
            """
            for (const [name, value] of [['name', 'far'], ['url', 'rtmp://127.0.0.1:\(freePort)/live'], ['key', 'k']]) {
                document.querySelector(`.output-form [name=${name}]`).value = value;
            }
            document.querySelector('.output-form button').click();
            """
        )
        let button = "document.querySelector('.output button:not([hidden])')"
        #expect(try await browser.waits(for: button, within: .seconds(10)))
        #expect(try await browser.evaluate("document.querySelector('.output .name').textContent").string == "far")
        _ = try await browser.evaluate("\(button).click()")
        let lines = "[...document.querySelectorAll('.toast')].map((line) => line.textContent)"
        #expect(try await browser.waits(for: "\(lines).includes('far: trying again now')", within: .seconds(10)))
        #expect(browser.requests.contains { $0.hasSuffix("/v1/rooms/show/livestream/outputs/far/retry") })
        let state = try await stage.output("far")["state"].string ?? ""
        #expect(["connecting", "interrupted", "failed"].contains(state), "\(state)")
    }

    /// Expects badges, chart and downloads, and the page on a phone in light and dark mode.
    private func expectFigures(_ browser: HeadlessBrowser, _ stage: RoomFixture) async throws {
        let badges = "[...document.querySelectorAll('.figures .badge:not([hidden])')].map((badge) => badge.textContent)"
        // For those who want to know how far the figures go.
        let coverage = "document.querySelector('.figures details p:not([hidden])')?.textContent"
        #expect(try await browser.waits(for: "\(coverage)?.includes('100 %')", within: .seconds(20)))
        let said = try await browser.evaluate(badges).elements.compactMap(\.string)
        #expect(said == ["provisional"], "\(said)")
        let record =
            "[...document.querySelectorAll('.figure .note')].find(({ title }) => title.includes('another day'))"
        #expect(try await browser.evaluate("\(record)?.textContent").string == "1 by address")
        let drawn = """
            (() => {
                const canvas = document.querySelector('.history canvas');
                const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
                return data.some((value) => value > 0);
            })()
            """
        #expect(try await browser.waits(for: drawn, within: .seconds(10)))
        // The button downloads a file.
        _ = try await browser.evaluate(
            """
            globalThis.kept = [];
            HTMLAnchorElement.prototype.click = function () { kept.push(this.download); };
            for (const button of document.querySelectorAll('.downloads button')) button.click();
            """
        )
        #expect(try await browser.waits(for: "kept.length === 4", within: .seconds(10)))
        let files = try await browser.evaluate("kept.sort()").elements.compactMap(\.string)
        #expect(
            files == ["show-retention.csv", "show-sessions.csv", "show-summary.csv", "show-timeline.csv"],
            "\(files)"
        )

        // Another layout is previewed first, and then applied.
        _ = try await browser.evaluate("document.querySelector('.layout .segments [value=SPOTLIGHT]').click()")
        #expect(try await stage.expect(200, "GET", stage.path("layout"))["type"].string == "GRID")
        _ = try await browser.evaluate("document.querySelector('.layout .buttons .main').click()")
        let isTaken = try await eventually(within: .seconds(10)) {
            try await stage.expect(200, "GET", stage.path("layout"))["type"].string == "SPOTLIGHT"
        }
        #expect(isTaken)

        let paper = "getComputedStyle(document.body).backgroundColor"
        try await browser.prefer(dark: false)
        let light = try await browser.evaluate(paper).string
        try await browser.prefer(dark: true)
        #expect(try await browser.evaluate(paper).string != light)
        try await browser.resize(width: 390, height: 844, isPhone: true)
        let fits = "document.documentElement.scrollWidth <= innerWidth && innerWidth === 390"
        #expect(try await browser.waits(for: fits, within: .seconds(5)))
    }
}
