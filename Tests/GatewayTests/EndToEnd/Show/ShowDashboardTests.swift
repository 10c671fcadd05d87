import FootlightTesting
import Foundation
import TestSupport
import Testing

/// A show that an operator makes and runs in the dashboard alone.
@Suite("A show in the dashboard", .enabled(if: TestRun.isFull), .serialized, .timeLimit(.minutes(3)))
struct ShowDashboardTests {
    @Test("an operator plans a show, lets a host in, finds out why it is not heard, goes live, records, and looks back")
    func wholeShow() async throws {
        let gateway = try await GatewayProcess()
        defer { gateway.end() }
        let folder = try TemporaryFolder("dashboard")
        let clip = folder.file("ann.flv")
        try await FFmpeg.encode(HostScript(.red, tone: 440), seconds: 40, to: clip)
        let dashboard = try await Dashboard(of: gateway)
        try await dashboard.logIn()
        let (browser, site) = (dashboard.browser, dashboard.site)
        func waits(_ expression: String, _ seconds: Int = 20) async throws {
            try await dashboard.waits(expression, seconds)
        }
        func click(_ text: String) async throws { try await dashboard.click(text) }
        let badge = "document.querySelector('.show-bar .badge')?.textContent"

        // One form makes the show, its seat and its first episode.
        try await click("New show")
        try await waits("document.querySelector('.new-show')")
        _ = try await browser.evaluate(
            """
            enter(document.querySelector('[name=title]'), 'Friday Night: Ünique');
            enter(document.querySelector('[name=kind]'), 'one_host');
            enter(document.querySelector('[name=hosts]'), 'Ann <b>Lee</b>');
            """
        )
        #expect(
            try await browser.evaluate("document.querySelector('[name=name]').value").string == "friday-night-unique"
        )
        try await click("Create show")
        try await waits("location.hash === '#/show/friday-night-unique' && \(badge) === 'Upcoming'")
        let path = "/v1/shows/friday-night-unique"
        let show = try await gateway.api("GET", path).json
        #expect(show["title"].string == "Friday Night: Ünique" && show["next"]["state"].string == "planned")

        // The key is shown where the host is.
        try await click("Settings")
        try await click("Show key")
        let key = try await browser.evaluate("document.querySelectorAll('.secret')[1].textContent").string ?? ""
        #expect(key == show["seats"].elements.first?["ingest"]["rtmp"]["stream_key"].string && key.hasPrefix("sk_"))
        try await click("Studio")
        try await click("Open for hosts")
        try await waits("\(badge) === 'Backstage'")
        let encoder = try FFmpeg.host(file: clip, to: gateway.ingestURL(key: key))
        defer { encoder.end() }
        try await waits("document.querySelector('.host .name')?.textContent === 'Ann <b>Lee</b>'", 30)

        try await click("Go live")
        try await waits("\(badge) === 'Live'")
        // A gain that is all the way down is told, and is mended here.
        let gain = "document.querySelector('.gain')"
        _ = try await browser.evaluate("enter(\(gain), -60)")
        let finding = "document.querySelector('.findings')?.textContent"
        try await waits("\(finding)?.includes('gain is all the way down')")
        try await browser.captureScreenshot(to: folder.file("silent.png"))
        _ = try await browser.evaluate("enter(\(gain), 0)")
        try await waits("\(finding) === ''")

        _ = try await browser.evaluate(
            """
            enter(document.querySelector('.overlay [name=title]'), 'Ann Lee');
            document.querySelector('.overlay [type=submit]').click();
            """
        )
        try await waits("document.querySelector('.overlay .badge:not([hidden])')")
        let layout = try await gateway.api("GET", "/v1/rooms/friday-night-unique/layout").json
        #expect(layout["lower_third"]["title"].string == "Ann Lee")

        try await click("Record")
        try await waits("named('Stop recording')")
        let seen = try await FFmpeg.record(
            gateway.rtmpURL(room: "friday-night-unique"),
            seconds: 9,
            to: folder.file("seen.flv")
        ).finish()
        let end = seen.duration(.video)
        #expect(try await seen.frame(at: end - 0.5).colour(x: 640, y: 100).distance(to: .red) < 60)
        #expect(try await seen.decodedAudio().toneLevel(frequency: 440, from: end - 2) > -40)

        try await click("End")
        try await waits("\(badge) === 'Ended'", 30)
        try await click("Audience")
        let row = "document.querySelector('.table tbody tr')?.textContent"
        try await waits("\(row)?.includes('ended by an operator')")
        // Its figures are asked for until they are final.
        try await waits("document.querySelectorAll('.table tbody td')[2].textContent === '1'", 40)
        // The audience of the episode, with its marks, how long viewers stayed, and its protocol.
        _ = try await browser.evaluate("document.querySelector('.table tbody a').click()")
        try await waits("document.querySelector('.report .badge')?.textContent === 'final'", 40)
        let report = "document.querySelector('.report').textContent"
        try await waits("\(report).includes('Went live') && \(report).includes('Ann <b>Lee</b> came')")
        try await waits(
            "[...document.querySelectorAll('.report .figure-table th')].some((one) => one.textContent === 'RTMP')"
        )
        try await waits("location.hash.split('/').length === 5", 5)
        try await click("All episodes")
        try await waits("!document.querySelector('.report') && location.hash.endsWith('/audience')")
        try await click("Recordings")
        try await waits("document.querySelector('#tab-recordings .output .badge')?.textContent === 'complete'", 40)
        try await click("Play")
        try await waits("document.querySelector('.player').currentTime > 0.5")

        // The pages of a phone have no sideways scroll.
        try await browser.resize(width: 390, height: 844, isPhone: true)
        for tab in ["Studio", "Outputs", "Audience", "Recordings", "Settings"] {
            try await click(tab)
            try await waits("document.documentElement.scrollWidth <= innerWidth && innerWidth === 390", 5)
        }
        let consoleErrors = browser.consoleErrors.filter { !$0.contains("Failed to load resource") }
        #expect(consoleErrors.isEmpty, "\(consoleErrors)")
        #expect(
            browser.requests.allSatisfy { $0.hasPrefix("\(site)/") || $0.hasPrefix("blob:") || $0.hasPrefix("data:") }
        )
    }

    @Test("an operator uploads a logo that the program has, and hears the program without counting as a viewer")
    func logoAndAudio() async throws {
        let gateway = try await GatewayProcess()
        defer { gateway.end() }
        let folder = try TemporaryFolder("dashboard")
        let clip = folder.file("ann.flv")
        try await FFmpeg.encode(HostScript(.red, tone: 440), seconds: 20, to: clip)
        let path = "/v1/shows/friday"
        let show = try await gateway.api("POST", "/v1/shows", ["name": "friday", "seats": [["identity": "ann"]]]).json
        let key = try #require(show["seats"].elements.first?["ingest"]["rtmp"]["stream_key"].string)
        _ = try await gateway.api("POST", "\(path)/episodes", [:])
        _ = try await gateway.api("POST", "\(path)/episodes/current/open")
        let dashboard = try await Dashboard(of: gateway)
        try await dashboard.logIn()
        let browser = dashboard.browser
        _ = try await browser.evaluate("location.hash = '#/show/friday/studio'")
        try await dashboard.waits("named('Listen')?.disabled")
        let encoder = try FFmpeg.host(file: clip, to: gateway.ingestURL(key: key))
        defer { encoder.end() }
        try await dashboard.click("Go live")

        // A name that the gateway would refuse becomes one that it takes.
        _ = try await browser.evaluate(
            """
            (async () => {
                const canvas = new OffscreenCanvas(96, 96);
                const context = canvas.getContext('2d');
                context.fillStyle = '#00ff00';
                context.fillRect(0, 0, 96, 96);
                const files = new DataTransfer();
                files.items.add(new File([await canvas.convertToBlob()], 'My löge.png', { type: 'image/png' }));
                files.items.add(new File(['no image'], 'note.png', { type: 'image/png' }));
                const input = document.querySelector('.drop input');
                input.files = files.files;
                input.dispatchEvent(new Event('change'));
            })()
            """
        )
        try await dashboard.waits("document.querySelector('.file .name')?.textContent === 'My-loge.png'")
        try await dashboard.waits("document.querySelector('.files .problem')")
        _ = try await browser.evaluate(
            """
            enter(document.querySelector('.look [name=logo]'), 'asset:My-loge.png');
            enter(document.querySelector('.look [name=height]'), 20);
            """
        )
        try await dashboard.click("Save look")
        try await dashboard.waits("document.querySelector('.file').textContent.includes('logo')")
        let saved = try await gateway.api("GET", path).json["room"]["layout"]["logo"]
        #expect(saved["image"].string == "asset:My-loge.png" && saved["height"].double == 0.2)

        try await dashboard.click("Listen")
        let video = "document.querySelector('video.program.seen')"
        try await dashboard.waits("\(video)?.currentTime > 0 && !\(video).paused && !\(video).muted", 30)
        try await dashboard.waits("\(video).webkitAudioDecodedByteCount > 10000")
        let isSeen = try await eventually(within: .seconds(10)) {
            let colour = try await browser.evaluate(
                """
                (() => {
                    const context = new OffscreenCanvas(128, 72).getContext('2d');
                    context.drawImage(\(video), 0, 0, 128, 72);
                    return [...context.getImageData(117, 10, 1, 1).data];
                })()
                """
            ).elements.compactMap(\.int)
            return colour.count == 4 && colour[0] < 60 && colour[1] > 200 && colour[2] < 60
        }
        #expect(isSeen)
        // The host's card has its tile.
        try await dashboard.waits("document.querySelector('.host-picture canvas:not([hidden])')")
        let figures = try await gateway.api("GET", "/v1/rooms/friday/viewership").json
        #expect(figures["concurrent_viewers"].int == 0 && figures["joins"].int == 0)
        #expect(figures["excluded"]["role"].int == 1)
        try await dashboard.click("Stop listening")
        try await dashboard.waits("!document.querySelector('video.program')")

        try await dashboard.click("Be right back")
        try await dashboard.waits("document.querySelector('.show-bar .badge').textContent === 'Be right back'")
        try await dashboard.click("Back on air")
        try await dashboard.waits("document.querySelector('.show-bar .badge').textContent === 'Live'")
        try await directByScenes(gateway, dashboard)
        let consoleErrors = browser.consoleErrors.filter { !$0.contains("Failed to load resource") }
        #expect(consoleErrors.isEmpty, "\(consoleErrors)")
    }

    /// Saves two scenes from what is on air, and takes them by keys.
    private func directByScenes(_ gateway: GatewayProcess, _ dashboard: Dashboard) async throws {
        let browser = dashboard.browser
        for (place, name) in ["Wide", "Close up"].enumerated() {
            if place == 1 {
                let change: JSONValue = ["type": "SPOTLIGHT", "ticker": ["text": "News"]]
                try await gateway.api("PUT", "/v1/rooms/friday/layout", change)
            }
            _ = try await browser.evaluate("enter(document.querySelector('[name=scene]'), '\(name)')")
            try await dashboard.click("Save what is on air as a scene")
            try await dashboard.waits("document.querySelectorAll('.scene .name')[\(place)]?.textContent === '\(name)'")
        }
        _ = try await browser.evaluate("document.activeElement.blur()")
        let onAir = "[...document.querySelectorAll('.scene')].find((one) => one.textContent.includes('On air'))"
        for (key, name, type, ticker) in [
            ("1", "Wide", "GRID", nil), (" ", "Close up", "SPOTLIGHT", "News"),
        ] as [(String, String, String, String?)] {
            try await browser.press(key)
            let isTaken = try await eventually(within: .seconds(10)) {
                let layout = try await gateway.api("GET", "/v1/rooms/friday/layout").json
                return layout["type"].string == type && layout["ticker"]["text"].string == ticker
            }
            #expect(isTaken, "\(type)")
            try await dashboard.waits("\(onAir)?.textContent.includes('\(name)')")
        }
        // The page knows what is on air, also when it is opened again and something else was changed meanwhile.
        try await gateway.api("PUT", "/v1/rooms/friday/layout", ["ticker": .null])
        _ = try await browser.evaluate("location.reload()")
        try await dashboard.waits("\(onAir)?.textContent.includes('Close up')")
    }
}
