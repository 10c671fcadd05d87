import FootlightTesting
import Foundation
import TestSupport
import Testing

/// Every page, in each of its states, with a show that has all there is to see.
@Suite("Every page", .enabled(if: TestRun.isFull), .serialized, .timeLimit(.minutes(3)))
struct EveryPageTests {
    /// The rules of axe-core, which `deploy/test` fetches; nil without them.
    private static let rules = try? String(
        contentsOfFile: FileManager.default.currentDirectoryPath + "/.build/axe/axe.min.js",
        encoding: .utf8
    )

    /// The addresses of the dashboard's views, after the `#`, each with an element that is there once it is shown.
    private static let views = [
        ("/", ".shows"), ("/new", ".new-show"), ("/show/weekly/studio", ".hosts"), ("/show/weekly/outputs", ".outputs"),
        ("/show/weekly/audience", ".table"), ("/show/weekly/recordings", "#tab-recordings"),
        ("/show/weekly/settings", ".settings"), ("/room/single", ".hosts"), ("/access", "main h2"),
        ("/system", "main h2"),
    ]

    /// Runs a gateway with a show that has all there is to see.
    private func withShow(
        environment: [String: String] = [:],
        _ test: (GatewayProcess) async throws -> Void
    ) async throws {
        let gateway = try await GatewayProcess(environment: environment)
        defer { gateway.end() }
        let folder = try TemporaryFolder("pages")
        let encoder = try await makeShow(gateway, folder)
        defer { encoder.end() }
        try await test(gateway)
    }

    /// A show with one episode that is over and one on air, and rooms of their own.
    private func makeShow(_ gateway: GatewayProcess, _ folder: TemporaryFolder) async throws -> ChildProcess {
        let clip = folder.file("ann.flv")
        try await FFmpeg.encode(HostScript(.red, tone: 440), seconds: 60, to: clip)
        let show: JSONValue = [
            "name": "weekly", "title": "The weekly", "description": "News of the week", "recording": true,
            "replay": true,
            "schedule": ["weekdays": ["friday"], "time": "19:00"],
            "seats": [["identity": "ann", "display_name": "Ann"]],
            "scenes": [["name": "Opening", "layout": ["type": "GRID"]]],
            "outputs": [["name": "one", "url": "rtmp://127.0.0.1:9/live", "stream_key": "key"]],
            "room": ["linger": 0, "program": ["width": 640, "height": 360]],
        ]
        let made = try await gateway.api("POST", "/v1/shows", show)
        let key = try #require(made.json["seats"].elements.first?["ingest"]["rtmp"]["stream_key"].string)
        try await gateway.api("POST", "/v1/shows/weekly/episodes/current/go_live")
        try await Task.sleep(for: .seconds(3))
        try await gateway.api("POST", "/v1/shows/weekly/episodes/current/end")
        try await gateway.api("POST", "/v1/shows/weekly/episodes", ["title": "Again"])
        try await gateway.api("POST", "/v1/shows/weekly/episodes/current/open")
        let encoder = try FFmpeg.host(file: clip, to: gateway.ingestURL(key: key))
        try await gateway.api("POST", "/v1/rooms", ["unique_name": "single", "backstage": true])
        let closed: JSONValue = [
            "unique_name": "closed", "access": ["rule": "passphrase", "passphrase": "open sesame"],
        ]
        let answer = try await gateway.api("POST", "/v1/rooms", closed)
        #expect(answer.status == 201, "\(answer.text)")
        try await gateway.api("POST", "/v1/shows/weekly/episodes/current/go_live")
        let isThere = try await eventually(within: .seconds(20)) {
            try await gateway.api("GET", "/v1/rooms/weekly/participants/ann").json["is_camera_on"].bool == true
        }
        try #require(isThere)
        return encoder
    }

    @Test("has no obstacle that the rules of WCAG 2.2 AA find, dark and light", .enabled(if: rules != nil))
    func accessibility() async throws {
        try await withShow { gateway in
            let browser = try await HeadlessBrowser(width: 1280, height: 900)
            let site = "http://127.0.0.1:\(gateway.endpoints.httpPort)"
            let rules = try #require(Self.rules)
            func check(_ what: String) async throws {
                for isDark in [true, false] {
                    try await browser.prefer(dark: isDark)
                    let found = try await browser.evaluate(
                        """
                        (async () => {
                            if (!globalThis.axe) { \(rules) }
                            // Transitions of colours end first.
                            await new Promise((done) => setTimeout(done, 400));
                            const { violations } = await axe.run(document, { runOnly: [
                                'wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa',
                            ] });
                            return violations.map(({ id, nodes }) =>
                                `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`);
                        })()
                        """,
                        within: .seconds(40)
                    )
                    #expect(found == .array([]), "\(what), \(isDark ? "dark" : "light"): \(found.text)")
                }
            }
            try await browser.open("\(site)/dashboard")
            #expect(try await browser.waits(for: "document.querySelector('#token')", within: .seconds(10)))
            try await check("the login")
            _ = try await browser.evaluate(try logIn(gateway))
            let ended = try #require(try await gateway.api("GET", "/v1/shows/weekly").json["last"]["id"].string)
            for (view, element) in Self.views + [("/show/weekly/audience/\(ended)", ".report dl")] {
                _ = try await browser.evaluate("location.hash = '#\(view)'")
                let isShown = try await browser.waits(for: "document.querySelector('\(element)')", within: .seconds(10))
                #expect(isShown, "\(view)")
                try await Task.sleep(for: .seconds(2))
                try await check(view)
            }
            for (name, state) in [
                ("weekly", "playing"), ("single", "waiting"), ("closed", "denied"), ("nobody", "waiting"),
            ] {
                try await browser.open("\(site)/watch/\(name)")
                let isShown = try await browser.waits(
                    for: "globalThis.footlight?.program.state === '\(state)'",
                    within: .seconds(15)
                )
                #expect(isShown, "\(name)")
                try await check("the watch page of \(name)")
            }
            try await gateway.api("POST", "/v1/shows/weekly/episodes/current/end")
            try await browser.open("\(site)/watch/weekly")
            let isOffered = "document.querySelector('#replay')?.hidden === false"
            #expect(try await browser.waits(for: isOffered, within: .seconds(15)))
            try await check("the watch page of an ended show")
        }
    }

    @Test("is in German for a browser that prefers it, without a text in English")
    func german() async throws {
        try await withShow { gateway in
            let browser = try await HeadlessBrowser(width: 390, height: 844)
            let site = "http://127.0.0.1:\(gateway.endpoints.httpPort)"
            let preference = "Object.defineProperty(navigator, 'languages', { value: ['de-DE', 'en'] });"
            // What is shown, of the texts that the English catalogue has and the German one has not.
            let english = """
                (async () => {
                    const flat = (part) => typeof part === 'string' ? [part] : Object.values(part).flatMap(flat);
                    const scripts = (language) => Promise.all(['dashboard', 'studio', 'figures', 'administration']
                        .map((name) => import(`/site/texts/${name}-${language}.js`)));
                    const texts = async (language) => (await scripts(language)).flatMap((script) => flat(script[language]));
                    const german = new Set(await texts('de'));
                    const found = new Set((await texts('en')).filter((text) => !german.has(text)));
                    const shown = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
                    const said = [];
                    while (shown.nextNode()) said.push(shown.currentNode.data.trim());
                    // Who is logged in is called that.
                    return said.filter((text) => found.has(text) && text !== 'operator');
                })()
                """
            try await browser.open("\(site)/dashboard", preparedBy: preference)
            #expect(try await browser.waits(for: "document.querySelector('#token')", within: .seconds(10)))
            #expect(
                try await browser.evaluate("document.querySelector('.login button').textContent").string == "Anmelden"
            )
            _ = try await browser.evaluate(try logIn(gateway))
            let ended = try #require(try await gateway.api("GET", "/v1/shows/weekly").json["last"]["id"].string)
            for (view, element) in Self.views + [("/show/weekly/audience/\(ended)", ".report dl")] {
                _ = try await browser.evaluate("location.hash = '#\(view)'")
                let isShown = try await browser.waits(for: "document.querySelector('\(element)')", within: .seconds(10))
                #expect(isShown, "\(view)")
                try await Task.sleep(for: .seconds(1))
                let found = try await browser.evaluate(english)
                #expect(found == .array([]), "\(view): \(found.text)")
                let fits = try await browser.evaluate("document.documentElement.scrollWidth <= innerWidth")
                #expect(fits.bool == true, "\(view)")
            }
            let headings = "[...document.querySelectorAll('h2')].map((one) => one.textContent).join()"
            _ = try await browser.evaluate("location.hash = '#/show/weekly/studio'")
            let isGerman = "\(headings).includes('Szenen') && document.documentElement.lang === 'de'"
            #expect(try await browser.waits(for: isGerman, within: .seconds(10)))

            try await browser.open("\(site)/watch/single", preparedBy: preference)
            let message = "document.querySelector('#message')?.textContent"
            let isSaid = try await browser.waits(
                for: "\(message).includes('noch nicht begonnen')",
                within: .seconds(10)
            )
            let said = try await browser.evaluate(message)
            #expect(isSaid, "\(said.text)")
        }
    }

    @Test("opens in Firefox: the dashboard's views, and by HTTPS the watch page, which plays")
    func firefox() async throws {
        let folder = try TemporaryFolder("pages")
        let certificates = try await TestCertificates(in: folder.path)
        try await certificates.issue("server", for: "localhost")
        let settings = [
            "FOOTLIGHT_HTTPS_PORT": "0", "FOOTLIGHT_TLS_CERTIFICATE": certificates.path("server.pem"),
            "FOOTLIGHT_TLS_KEY": certificates.path("server.key"),
        ]
        try await withShow(environment: settings) { gateway in
            let browser = try await FirefoxBrowser()
            let site = "https://localhost:\(try #require(gateway.endpoints.httpsPort))"

            try await browser.open("\(site)/watch/weekly")
            let isPlaying = "document.querySelector('video')?.currentTime > 2 && footlight.program.state === 'playing'"
            let isSeen = try await browser.waits(for: isPlaying, within: .seconds(30))
            let said = try await browser.evaluate("document.body.innerText")
            #expect(isSeen, "\(said.text)")
            // What it draws is the host.
            let colour = try await browser.evaluate(
                """
                (() => {
                    const canvas = document.createElement('canvas');
                    [canvas.width, canvas.height] = [16, 9];
                    const context = canvas.getContext('2d');
                    context.drawImage(document.querySelector('video'), 0, 0, 16, 9);
                    return [...context.getImageData(8, 3, 1, 1).data];
                })()
                """
            )
            #expect(colour[0].int ?? 0 > 150 && colour[1].int ?? 255 < 90, "\(colour.text)")
            let protocols = try await browser.evaluate(
                "[...new Set(performance.getEntriesByType('resource').map(entry => entry.nextHopProtocol))].join()"
            )
            #expect(protocols.string == "h2")

            try await browser.open("\(site)/dashboard")
            #expect(try await browser.waits(for: "document.querySelector('#token')", within: .seconds(10)))
            _ = try await browser.evaluate(try logIn(gateway))
            for (view, element) in Self.views {
                _ = try await browser.evaluate("location.hash = '#\(view)'")
                let isShown = try await browser.waits(for: "document.querySelector('\(element)')", within: .seconds(10))
                #expect(isShown, "\(view)")
                let fits = try await browser.evaluate("document.documentElement.scrollWidth <= innerWidth")
                #expect(fits.bool == true, "\(view)")
            }
            _ = try await browser.evaluate("location.hash = '#/show/weekly/studio'")
            #expect(
                try await browser.waits(
                    for: "document.querySelector('.hosts .name')?.textContent",
                    within: .seconds(10)
                )
            )
        }
    }

    /// Logs in on the page that asks for a token.
    private func logIn(_ gateway: GatewayProcess) throws -> String {
        """
        (() => {
            document.querySelector('#token').value = '\(try gateway.operatorToken)';
            document.querySelector('.login button').click();
        })()
        """
    }
}
