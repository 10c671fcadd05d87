import FootlightTesting
import Foundation
import TestSupport
import Testing

/// A weekly show that an operator runs in the dashboard alone, with encoders, players and a platform of their own.
@Suite("A weekly show in the dashboard", .enabled(if: TestRun.isFull), .serialized, .timeLimit(.minutes(3)))
struct WeeklyShowDashboardTests {
    @Test("two episodes by clicks and keys: rehearsed, watched by three protocols, over a restart, and looked back on")
    func twoEpisodes() async throws {
        let show = try await Evening()
        try await show.plan()
        try await show.rehearse()
        try await show.goLive()
        try await show.direct()
        try await show.watch()
        try await show.loseHost()
        try await show.restart()
        try await show.end()
        try await show.readReport()
        try await show.beginNext()
        let errors = show.dashboard.browser.consoleErrors.filter {
            !$0.contains("Failed to load resource") && !$0.contains("ERR_")
        }
        #expect(errors.isEmpty, "\(errors)")
    }
}

/// The steps of the show: Ann is red and sounds at 440 Hz, Bob is blue and sounds at 880 Hz.
private final class Evening {
    private static let path = "/v1/shows/the-weekly"
    private static let badge = "document.querySelector('.show-bar .badge')?.textContent"
    private static let tones = ["ann": 440.0, "bob": 880]

    let dashboard: Dashboard
    private let gateway: GatewayProcess
    private let platform: NginxRTMP
    private let folder: TemporaryFolder
    private var keys: [String: String] = [:]
    private var encoders: [String: ChildProcess] = [:]

    init() async throws {
        gateway = try await GatewayProcess()
        platform = try await NginxRTMP()
        folder = try TemporaryFolder("weekly")
        for (host, colour) in [("ann", Colour.red), ("bob", .blue)] {
            var script = HostScript(colour, tone: Self.tones[host] ?? 0)
            script.video?.width = 640
            script.video?.height = 360
            try await FFmpeg.encode(script, seconds: 20, to: folder.file("\(host).flv"))
        }
        dashboard = try await Dashboard(of: gateway)
        try await dashboard.logIn()
    }

    deinit {
        for encoder in encoders.values { encoder.end() }
        gateway.end()
    }

    // MARK: Steps

    /// Makes the show with its hosts and its output, and reads the keys.
    func plan() async throws {
        try await dashboard.click("New show")
        try await dashboard.waits("document.querySelector('.new-show')")
        try await evaluate(
            """
            enter('title', 'The Weekly');
            enter('kind', 'interview');
            enter('hosts', 'Ann\\nBob');
            document.querySelector('[name=recording]').click();
            """
        )
        try await dashboard.click("Create show")
        try await dashboard.waits("location.hash === '#/show/the-weekly' && \(Self.badge) === 'Upcoming'")
        // A program of its full size would be more than what a busy machine mixes and decodes.
        let room: JSONValue = ["room": ["linger": 1, "program": ["width": 640, "height": 360]]]
        #expect(try await gateway.api("PATCH", Self.path, room).status == 200)

        try await dashboard.click("Outputs")
        try await evaluate(
            """
            (() => {
                const fields = document.querySelectorAll('#tab-outputs .plan input');
                ['platform', '\(platform.url)', 'platform-key'].forEach((text, place) => enter(fields[place], text));
            })()
            """
        )
        try await dashboard.click("Save output")
        try await dashboard.waits("document.querySelector('#tab-outputs .output .name')?.textContent === 'platform'")

        try await dashboard.click("Settings")
        for (place, host) in ["ann", "bob"].enumerated() {
            try await dashboard.click("Show key")
            let seat = "document.querySelectorAll('#tab-settings .output')[\(place)]"
            try await dashboard.waits("\(seat)?.querySelectorAll('.secret')[1].offsetParent")
            let key = try await dashboard.browser.evaluate("\(seat).querySelectorAll('.secret')[1].textContent").string
            keys[host] = key
        }
        try #require(Set(keys.values).count == 2 && keys.values.allSatisfy { $0.hasPrefix("sk_") })
    }

    /// Lets the hosts in, whom the audience does not see, and changes their places.
    func rehearse() async throws {
        try await openForHosts()
        let names = "\(Self.texts(".host .name")).join()"
        try await dashboard.waits("\(names) === 'Ann,Bob'")
        let seen = try await FFmpeg.record(
            gateway.rtmpURL(room: "the-weekly"),
            seconds: 2,
            to: folder.file("slate.flv")
        ).finish()
        let slate = try await seen.frame(at: seen.duration(.video) - 0.2)
        let colours = [160, 480].map { slate.averageColour(x: $0, y: 60, width: 40, height: 20) }
        #expect(colours.allSatisfy { $0.distance(to: .red) > 60 && $0.distance(to: .blue) > 60 }, "\(colours)")
        let audio = try await seen.decodedAudio()
        #expect(Self.tones.values.allSatisfy { audio.toneLevel(frequency: $0) < -60 })

        // Bob goes to the left; the button keeps the focus for those who use the keyboard.
        try await evaluate("document.querySelectorAll('.host')[1].querySelector('[title^=Earlier]').focus()")
        try await dashboard.browser.press(" ")
        try await dashboard.waits("\(names) === 'Bob,Ann'")
        try await dashboard.waits("document.activeElement.textContent === 'Later'")
    }

    /// Goes live: the program has both hosts, Bob at the left, and the platform has the program.
    func goLive() async throws {
        try await dashboard.click("Go live")
        try await dashboard.waits("\(Self.badge) === 'Live'")
        try await dashboard.click("Listen")
        try await expectProgram(left: .blue, right: .red)
        try await dashboard.waits("document.querySelector('#tab-outputs .outputs .badge')?.textContent === 'connected'")
    }

    /// Shows a lower third, makes two scenes, and takes them by buttons and keys.
    func direct() async throws {
        try await evaluate(
            """
            enter(document.querySelector('.overlay [name=title]'), 'Bob Diaz');
            document.querySelector('.overlay [type=submit]').click();
            """
        )
        try await dashboard.waits("document.querySelector('.overlay .badge:not([hidden])')")
        try await saveScene("Both", place: 0)
        try await dashboard.click("Spotlight")
        try await dashboard.click("Take it on air")
        try await expectLayout("SPOTLIGHT", lowerThird: "Bob Diaz")
        try await evaluate("document.querySelector('.overlay .buttons button:last-child').click()")
        try await dashboard.waits("document.querySelector('.overlay .badge[hidden]')")
        try await saveScene("Close", place: 1)
        try await evaluate("document.activeElement.blur()")
        try await dashboard.browser.press("1")
        try await expectLayout("GRID", lowerThird: "Bob Diaz")
        try await expectProgram(left: .blue, right: .red)
        try await evaluate("document.activeElement.blur()")
        try await dashboard.browser.press(" ")
        try await expectLayout("SPOTLIGHT")
        let both = "[\(distance(0, to: .blue)), \(distance(1, to: .blue))].map((one) => one < 60)"
        try await dashboard.waits("\(Self.program).length === 2 && new Set(\(both)).size === 1")
        try await dashboard.click("Back")
        try await expectLayout("GRID", lowerThird: "Bob Diaz")
        try await expectProgram(left: .blue, right: .red)
    }

    /// Three viewers watch at the same time, each by another protocol, and are counted.
    func watch() async throws {
        let (room, gateway) = ("the-weekly", gateway)
        let recorders = try [
            ("rtmp.flv", gateway.rtmpURL(room: room)), ("flv.flv", gateway.flvURL(room: room)),
            ("hls.ts", gateway.hlsURL(room: room)),
        ].map { try FFmpeg.record($0.1, seconds: 9, to: folder.file($0.0)) }
        try await dashboard.waits("document.querySelector('.show-bar').innerText.includes('3 watching')", 30)
        for recorder in recorders {
            let frame = try await expectBoth(try await recorder.finish())
            // The lower third is at the lower left, over Bob.
            let panel = frame.averageColour(x: 50, y: 280, width: 40, height: 30)
            #expect(panel.distance(to: .blue) > 60, "\(recorder.path): \(panel)")
        }
        let figures = try await gateway.api("GET", "/v1/rooms/the-weekly/viewership").json
        #expect(figures["joins"].int == 3 && figures["peak_concurrent_viewers"].int == 3, "\(figures.text)")
        #expect(figures["excluded"]["role"].int == 1, "the director's own player: \(figures.text)")
    }

    /// Bob's encoder is lost, which the page and the program show, and comes back by the same key.
    func loseHost() async throws {
        encoders["bob"]?.end()
        let status = "document.querySelector('.host .host-head .badge:last-child')?.textContent"
        try await dashboard.waits("\(status) === 'reconnecting'")
        try await dashboard.waits("\(Self.program).length && \(distance(0, to: .blue)) > 80", 30)
        try startEncoder("bob")
        try await dashboard.waits("\(status) === 'connected'")
        try await expectProgram(left: .blue, right: .red)
    }

    /// The gateway is restarted in the middle; the page, the hosts' places, the output and the episode come back.
    func restart() async throws {
        try await dashboard.click("Stop listening")
        #expect(try await gateway.terminate() == .code(0))
        for encoder in encoders.values { encoder.end() }
        let link = "document.getElementById('link').textContent"
        try await dashboard.waits("\(link) === 'no connection, trying'")
        try await gateway.start(reusesPorts: true)
        for host in ["ann", "bob"] { try startEncoder(host) }
        // Without a new login.
        try await dashboard.waits("\(link) === 'connected' && \(Self.badge) === 'Live'", 30)
        try await waitForHosts()
        let recorder = try FFmpeg.record(gateway.rtmpURL(room: "the-weekly"), seconds: 9, to: folder.file("again.flv"))
        try await dashboard.waits(
            "document.querySelector('#tab-outputs .outputs .badge')?.textContent === 'connected'",
            30
        )
        try await expectBoth(try await recorder.finish())
    }

    /// Ends the episode: it leaves two recordings, one before the restart and one after it.
    func end() async throws {
        try await dashboard.click("End")
        try await dashboard.waits("\(Self.badge) === 'Ended'", 30)
        for encoder in encoders.values { #expect(try await encoder.wait(.seconds(20)) != nil) }
        // The platform has a recording of before the restart, and one that ends with the last slate.
        let pushed = try platform.recordings
        #expect(pushed.count > 1)
        try await expectBoth(try await Recording(path: try #require(pushed.last)), before: 3)
        try await dashboard.click("Recordings")
        let states = Self.texts("#tab-recordings .output .badge")
        try await dashboard.waits("\(states).join() === 'complete,complete'", 30)
        try await dashboard.click("Play")
        try await dashboard.waits("document.querySelector('.player').currentTime > 0.5")
    }

    /// Reads the report: four viewers, three at once, by their protocols, and what happened.
    func readReport() async throws {
        try await dashboard.click("Audience")
        let cells = Self.texts(".past tbody td")
        try await dashboard.waits("\(cells)[2] === '4' && \(cells)[3] === '3'", 40)
        try await evaluate("document.querySelector('.past tbody a').click()")
        try await dashboard.waits("document.querySelector('.report .badge')?.textContent === 'final'", 40)
        let report = try await dashboard.browser.evaluate("document.querySelector('.report').innerText").string ?? ""
        for text in ["Went live", "Ann came", "Bob came", "Scene: Both", "Scene: Close", "Layout: spotlight"] {
            #expect(report.contains(text), "\(text): \(report)")
        }
        let rows = try await dashboard.browser.evaluate(
            """
            [...document.querySelectorAll('.groups > div:first-child tbody tr')]
                .map((row) => [row.cells[0].textContent, row.cells[2].textContent].join(' ')).sort().join()
            """
        )
        #expect(rows.string == "HLS 1,HTTP-FLV 1,RTMP 2")
    }

    /// The next episode has the same keys, and the hosts where they were put.
    func beginNext() async throws {
        try await dashboard.click("Studio")
        try await openForHosts()
        try await dashboard.click("Go live")
        try await dashboard.waits("\(Self.badge) === 'Live'")
        try await dashboard.click("Listen")
        try await expectProgram(left: .blue, right: .red)
        let episode = try await gateway.api("GET", "\(Self.path)/episodes/current").json
        #expect(episode["number"].int == 2 && episode["state"].string == "live", "\(episode.text)")
        try await dashboard.click("End")
        try await dashboard.waits("\(Self.badge) === 'Ended'", 30)
    }

    // MARK: Parts of steps

    /// The texts of the elements that a selector finds.
    private static func texts(_ selector: String) -> String {
        "[...document.querySelectorAll('\(selector)')].map((one) => one.textContent)"
    }

    private func evaluate(_ expression: String) async throws {
        _ = try await dashboard.browser.evaluate(expression)
    }

    private func startEncoder(_ host: String) throws {
        let key = try #require(keys[host])
        encoders[host] = try FFmpeg.host(file: folder.file("\(host).flv"), to: gateway.ingestURL(key: key))
    }

    /// Opens the next episode, and waits for Ann and then for Bob.
    private func openForHosts() async throws {
        try await dashboard.click("Studio")
        try await dashboard.click("Open for hosts")
        try await dashboard.waits("\(Self.badge) === 'Backstage'")
        for (place, host) in ["ann", "bob"].enumerated() {
            try startEncoder(host)
            try await dashboard.waits("document.querySelectorAll('.host').length === \(place + 1)", 30)
        }
        try await waitForHosts()
    }

    private func waitForHosts() async throws {
        let states = Self.texts(".host .host-head .badge:last-child")
        let tracks = "document.querySelectorAll('.host .track[data-state=playable]').length"
        try await dashboard.waits("\(states).join() === 'connected,connected' && \(tracks) === 4", 30)
    }

    private func saveScene(_ name: String, place: Int) async throws {
        try await evaluate("enter('scene', '\(name)')")
        try await dashboard.click("Save what is on air as a scene")
        try await dashboard.waits("document.querySelectorAll('.scene .name')[\(place)]?.textContent === '\(name)'")
    }

    private func expectLayout(_ type: String, lowerThird: String? = nil) async throws {
        let isOnAir = try await eventually(within: .seconds(10)) {
            let layout = try await gateway.api("GET", "/v1/rooms/the-weekly/layout").json
            return layout["type"].string == type && layout["lower_third"]["title"].string == lowerThird
        }
        #expect(isOnAir, "\(type)")
    }

    /// The colours of the left and the right half of the program that the browser plays; none while it does not.
    private static let program = """
        (() => {
            const video = document.querySelector('video.program.seen');
            if (!video?.videoWidth) return [];
            const context = new OffscreenCanvas(64, 36).getContext('2d');
            context.drawImage(video, 0, 0, 64, 36);
            return [16, 48].map((x) => [...context.getImageData(x, 8, 1, 1).data.slice(0, 3)]);
        })()
        """

    /// The greatest difference of a half's components to those of a colour.
    private func distance(_ half: Int, to colour: Colour) -> String {
        let wanted = "[\(colour.red), \(colour.green), \(colour.blue)]"
        return "Math.max(...\(Self.program)[\(half)].map((one, place) => Math.abs(one - \(wanted)[place])))"
    }

    private func expectProgram(left: Colour, right: Colour) async throws {
        let isThere = "\(Self.program).length === 2"
        try await dashboard.waits("\(isThere) && \(distance(0, to: left)) < 60 && \(distance(1, to: right)) < 60", 30)
    }

    /// Expects Bob at the left and Ann at the right some seconds before the end of a recording, and both tones.
    ///
    /// - Returns: The frame.
    @discardableResult
    private func expectBoth(_ seen: Recording, before seconds: Double = 1) async throws -> RGBFrame {
        // A playlist's timestamps begin with the program, not with the viewer.
        let last = seen.packets(.video).map(\.presentationTime).max() ?? 0
        let frame = try await seen.frame(at: last - seconds)
        #expect(frame.averageColour(x: 140, y: 60, width: 40, height: 20).distance(to: .blue) < 60)
        #expect(frame.averageColour(x: 460, y: 60, width: 40, height: 20).distance(to: .red) < 60)
        let audio = try await seen.decodedAudio()
        let end = audio.startTime + audio.duration - seconds
        for tone in Self.tones.values { #expect(audio.toneLevel(frequency: tone, from: end - 2, to: end) > -40) }
        return frame
    }
}
