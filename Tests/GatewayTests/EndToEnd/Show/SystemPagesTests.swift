import FootlightTesting
import Foundation
import TestSupport
import Testing

/// The pages for tokens, logins and webhooks, and for the system, in a browser.
@Suite("Access and system in the dashboard", .enabled(if: TestRun.isFull), .serialized, .timeLimit(.minutes(3)))
struct SystemPagesTests {
    private let gateway: GatewayProcess
    private let dashboard: Dashboard
    private var browser: HeadlessBrowser { dashboard.browser }

    init() async throws {
        gateway = try await GatewayProcess(environment: ["FOOTLIGHT_LIMITS_BANDWIDTH_MBPS": "1000"])
        dashboard = try await Dashboard(of: gateway)
    }

    private func waits(_ expression: String, _ seconds: Int = 20) async throws {
        try await dashboard.waits(expression, seconds)
    }

    private func click(_ text: String) async throws { try await dashboard.click(text) }

    @Test("an operator makes and revokes a token, ends a login, makes a webhook and tries it")
    func access() async throws {
        defer { gateway.end() }
        try await dashboard.logIn()
        try await click("Access")
        try await waits("document.title === 'Access · Footlight'")

        _ = try await browser.evaluate("enter('identity', 'wall'); enter('role', 'monitor')")
        try await click("Make token")
        let secret = "document.querySelector('.once:not([hidden]) .secret')?.textContent"
        try await waits(secret)
        let token = try #require(try await browser.evaluate(secret).string)
        #expect(try await gateway.api("GET", "/v1/rooms", token: token).status == 200)
        let row = "document.querySelector('.token')?.innerText"
        try await waits("\(row)?.includes('wall') && \(row).includes('all rooms') && \(row).includes('by operator')")
        try await click("I have it")
        #expect(try await browser.evaluate("document.body.innerText.includes('\(token.suffix(40))')").bool == false)
        try await click("Revoke")
        try await waits("document.querySelector('.token .badge')?.textContent === 'revoked'")
        #expect(try await gateway.api("GET", "/v1/rooms", token: token).status == 401)
        let listed = try await gateway.api("GET", "/v1/tokens").json["tokens"].elements
        #expect(listed.map { $0["identity"].string } == ["wall"] && listed.first?["revoked"].bool == true)

        // Another browser, whose cookie this one does not have.
        _ = try await browser.evaluate(
            """
            fetch('/dashboard/session', {
                method: 'POST', credentials: 'omit', headers: { 'X-Footlight-Page': '1' },
                body: JSON.stringify({ token: '\(try gateway.operatorToken)' }),
            })
            """
        )
        let ends = "[...document.querySelectorAll('button')].filter((one) => one.textContent === 'End')"
        try await waits("\(ends).length === 1")
        try await click("End")
        try await waits("\(ends).length === 0")

        let port = try FreePort.pick()
        try await click("New webhook")
        _ = try await browser.evaluate(
            "enter('url', 'http://127.0.0.1:\(port)/in'); document.querySelector('[value=\"room.*\"]').click()"
        )
        try await click("Add webhook")
        try await waits("\(secret)?.startsWith('whsec_')")
        let webhook = try await gateway.api("GET", "/v1/webhooks").json["webhooks"].elements
        #expect(webhook.map { $0["types"].elements.map(\.string) } == [["room.*"]])
        try await click("I have it")
        try await click("Send a test")
        try await waits("document.querySelector('#toasts').innerText.includes('The server cannot be reached')")
        try await gateway.api("POST", "/v1/rooms", ["unique_name": "show"])
        try await waits("document.querySelector('.webhook .badge')?.textContent === 'failing'")
        try await click("Failed deliveries")
        try await waits("document.querySelector('.webhook .findings')?.innerText.includes('room.created')")
        for width in [390, 820] {
            try await browser.resize(width: width, height: 844, isPhone: width == 390)
            try await waits("document.documentElement.scrollWidth <= innerWidth && innerWidth === \(width)", 5)
        }
        try await click("Remove")
        try await waits("!document.querySelector('.webhook')")
        #expect(try await gateway.api("GET", "/v1/webhooks").json["webhooks"].elements.isEmpty)
        let errors = browser.consoleErrors.filter { !$0.contains("Failed to load resource") }
        #expect(errors.isEmpty, "\(errors)")
    }

    @Test("the page of the system has the figures of machine, mixer and viewers; a monitor sees no log and no tokens")
    func system() async throws {
        defer { gateway.end() }
        let folder = try TemporaryFolder("system")
        let clip = folder.file("ann.flv")
        try await FFmpeg.encode(HostScript(.red, tone: 440), seconds: 30, to: clip)
        try await gateway.api("POST", "/v1/rooms", ["unique_name": "show"])
        let order: JSONValue = ["identity": "ann", "mode": "SEND_AND_RECV"]
        let joined = try await gateway.api("POST", "/v1/rooms/show/participants", order).json
        let key = try #require(joined["ingest"]["rtmp"]["stream_key"].string)
        let encoder = try FFmpeg.host(file: clip, to: gateway.ingestURL(key: key))
        defer { encoder.end() }

        try await dashboard.logIn()
        try await click("System")
        let state = "document.querySelector('main').innerText"
        for text in ["CPU ", "Memory: ", "open files and connections", "free of", "ready"] {
            try await waits("\(state).includes('\(text)')")
        }
        try await waits("\(state).includes('Mixer of show: ')", 40)
        let viewing = try FFmpeg.record(gateway.rtmpURL(room: "show"), seconds: 25, to: folder.file("seen.flv"))
        try await waits(
            "\(state).includes('Mb/s to 1 viewer, ') && \(state).includes('link of 1 Gb/s carries about')",
            30
        )
        let system = try await gateway.api("GET", "/v1/system").json
        #expect(system["processor"]["cores"].int == ProcessInfo.processInfo.activeProcessorCount)
        #expect(try #require(system["processor"]["machine_percent"].double) > 0)
        #expect(system["mixers"].elements.map { $0["room"].string } == ["show"])
        #expect(try #require(system["mixers"][0]["memory"].int) > 10_000_000)
        #expect(system["network"]["viewers"].int == 1 && (system["network"]["more_viewers"].int ?? 0) > 10)
        #expect(system["ready"].bool == true && system["certificate"] == .null)
        _ = try await viewing.finish()

        // The log of this process, filtered by severity, and a bundle without secrets.
        try await waits("document.querySelector('.log li')")
        _ = try await browser.evaluate("enter('level', 'error')")
        try await waits("document.querySelectorAll('.log li').length === 0")
        let bundle = try await gateway.api("GET", "/v1/system/diagnostics")
        #expect(bundle.json["settings"].elements.contains { $0.string == "limits.bandwidth_mbps: 1000" })
        let first = bundle.json["events"].elements.first { $0["message"].string?.hasPrefix("first start") == true }
        #expect(try #require(first)["metadata"]["code"].string == "***")
        for secret in [try gateway.operatorToken, key] { #expect(!bundle.text.contains(secret)) }
        try await click("Diagnostics")
        try await browser.resize(width: 390, height: 844, isPhone: true)
        try await waits("document.documentElement.scrollWidth <= innerWidth && innerWidth === 390", 5)

        let made = try await gateway.api("POST", "/v1/tokens", ["identity": "eye", "role": "monitor"]).json
        try await click("Log out")
        try await waits("document.querySelector('#token')")
        let token = try #require(made["token"].string)
        try await dashboard.logIn(token)
        try await click("System")
        try await waits("\(state).includes('CPU ')")
        let hidden = "named('Access') || named('Diagnostics') || document.querySelector('.log')"
        #expect(try await browser.evaluate("Boolean(\(hidden))").bool == false)
        let errors = browser.consoleErrors.filter { !$0.contains("Failed to load resource") }
        #expect(errors.isEmpty, "\(errors)")
    }
}
