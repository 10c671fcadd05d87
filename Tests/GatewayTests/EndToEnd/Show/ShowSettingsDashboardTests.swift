import FootlightTesting
import Foundation
import TestSupport
import Testing

/// What an operator sets for a show in the dashboard, beyond its texts and times.
@Suite("The settings of a show in the dashboard", .enabled(if: TestRun.isFull), .serialized, .timeLimit(.minutes(2)))
struct ShowSettingsDashboardTests {
    private static let path = "/v1/shows/weekly"

    /// Runs a gateway with an open episode of a show, whose tab is shown to an operator.
    private func withShow(tab: String, _ test: (GatewayProcess, Dashboard, JSONValue) async throws -> Void) async throws
    {
        let gateway = try await GatewayProcess()
        defer { gateway.end() }
        let show: JSONValue = [
            "name": "weekly", "title": "The weekly", "seats": [["identity": "ann", "display_name": "Ann"]],
            "room": ["program": ["width": 640, "height": 360]],
        ]
        let made = try await gateway.api("POST", "/v1/shows", show)
        #expect(made.status == 201, "\(made.text)")
        try await gateway.api("POST", "\(Self.path)/episodes", ["title": "One"])
        try await gateway.api("POST", "\(Self.path)/episodes/current/open")
        let dashboard = try await Dashboard(of: gateway)
        try await dashboard.logIn()
        try await dashboard.waits("document.querySelector('.shows')")
        _ = try await dashboard.browser.evaluate("location.hash = '#/show/weekly/\(tab)'")
        try await test(gateway, dashboard, made.json)
    }

    /// Fills the fields of a card's form by their number, and saves.
    private func save(_ fields: [Int: String], in card: String, _ dashboard: Dashboard) async throws {
        let form = "document.querySelector('[aria-labelledby=\(card)-title] form')"
        try await dashboard.waits(form)
        let entries = fields.sorted { $0.key < $1.key }.map { number, value in
            "enter(\(form).querySelectorAll('.field, .pick')[\(number)], '\(value)');"
        }
        let said = "document.querySelector('#toasts')"
        _ = try await dashboard.browser.evaluate(
            "\(said).replaceChildren(); \(entries.joined()) \(form).requestSubmit();"
        )
        try await dashboard.waits("\(said).textContent === 'Saved'")
    }

    @Test("the size of the program holds for the next episode, how hosts are mixed and who may watch at once")
    func program() async throws {
        try await withShow(tab: "settings") { gateway, dashboard, _ in
            let form = "document.querySelector('[aria-labelledby=program-title] form')"
            try await dashboard.waits("\(form)?.querySelector('.pick').value === '640x360'")
            try await save([0: "720x1280", 1: "25"], in: "program", dashboard)
            let room = try await gateway.api("GET", Self.path).json["room"]
            let program = room["program"]
            #expect(program["width"].int == 720 && program["height"].int == 1280 && program["fps"].int == 25)
            #expect(program["video_bitrate"].int == 3000, "what suits the new size")
            #expect(program["renditions"].elements.isEmpty && program["jitter_target"].int == 300)
            #expect(try await gateway.api("GET", "/v1/rooms/weekly").json["program"]["width"].int == 640)

            // A rendition fits once the program is larger, and goes with the program's shape.
            _ = try await dashboard.browser.evaluate("\(form).querySelector('[data-key=\"480p\"] input').click()")
            try await save([:], in: "program", dashboard)
            let ladder = try await gateway.api("GET", Self.path).json["room"]["program"]["renditions"].elements
            #expect(ladder.map { $0["name"].string } == ["480p"] && ladder.first?["height"].int == 854)

            try await save([0: "450"], in: "mix", dashboard)
            #expect(try await gateway.api("GET", "/v1/rooms/weekly/sound").json["jitter_target"].int == 450)
            #expect(try await gateway.api("GET", Self.path).json["room"]["sound"]["jitter_target"].int == 450)

            try await save([0: "token"], in: "access", dashboard)
            #expect(try await gateway.api("GET", "/v1/rooms/weekly/access").json["rule"].string == "token")
            _ = try await dashboard.browser.evaluate(
                """
                enter(document.querySelector('[aria-labelledby=access-title] .plan .field'), 'Ada');
                document.querySelector('[aria-labelledby=access-title] .plan').requestSubmit();
                """
            )
            try await dashboard.waits("document.querySelector('[aria-labelledby=access-title] li .name')")
            let tickets = try await gateway.api("GET", "/v1/rooms/weekly/tickets").json["tickets"].elements
            #expect(tickets.map { $0["name"].string } == ["Ada"])
        }
    }

    @Test("a host who was removed is shown with who did it, and is let back in")
    func removedHost() async throws {
        try await withShow(tab: "studio") { gateway, dashboard, show in
            let folder = try TemporaryFolder("dashboard")
            let clip = folder.file("ann.flv")
            try await FFmpeg.encode(HostScript(.red, tone: 440), seconds: 40, to: clip)
            let key = try #require(show["seats"].elements.first?["ingest"]["rtmp"]["stream_key"].string)
            let url = gateway.ingestURL(key: key)
            let encoder = try FFmpeg.host(file: clip, to: url)
            defer { encoder.end() }
            try await dashboard.waits("document.querySelector('.host .name')?.textContent === 'Ann'", 30)
            _ = try await dashboard.browser.evaluate(
                "[...document.querySelectorAll('.host button')].find((one) => one.textContent === 'Remove').click()"
            )
            let seat = "document.querySelector('.seat')?.innerText"
            try await dashboard.waits("\(seat)?.includes('Removed by operator')")
            #expect(try await dashboard.browser.evaluate(seat).string?.contains("not connected") == false)
            let refused = try FFmpeg.host(file: clip, to: url)
            defer { refused.end() }
            #expect(try await refused.wait(.seconds(20)) != .code(0))

            try await dashboard.click("Let back in")
            try await dashboard.waits("\(seat)?.includes('not connected')")
            let again = try FFmpeg.host(file: clip, to: url)
            defer { again.end() }
            try await dashboard.waits("document.querySelector('.host .name')?.textContent === 'Ann'", 30)
        }
    }

    @Test("a link is a QR code in a dialog, which says what it is and gives the focus back")
    func code() async throws {
        try await withShow(tab: "studio") { gateway, dashboard, _ in
            try await dashboard.waits("named('QR code')")
            _ = try await dashboard.browser.evaluate("named('QR code').focus(); named('QR code').click()")
            try await dashboard.waits("document.querySelector('dialog[open] svg')")
            let link = try await dashboard.browser.evaluate("document.querySelector('dialog code').textContent").string
            #expect(link == "http://127.0.0.1:\(gateway.endpoints.httpPort)/watch/weekly")
            let label = "document.querySelector('dialog svg').getAttribute('aria-label')"
            #expect(try await dashboard.browser.evaluate(label).string == "QR code: Watch page of The weekly")
            // This gateway is of this machine alone.
            try await dashboard.waits("document.querySelector('dialog .notice').offsetParent")
            try await dashboard.click("Close")
            let isBack = "!document.querySelector('dialog') && document.activeElement === named('QR code')"
            try await dashboard.waits(isBack)
        }
    }
}
