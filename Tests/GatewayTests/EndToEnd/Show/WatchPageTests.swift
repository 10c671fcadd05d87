import FootlightTesting
import Foundation
import Testing

@Suite("The watch page beside others", .serialized, .timeLimit(.minutes(2)))
struct WatchPageTests {
    /// A room on the air, and the encoder of its host.
    private func onAir(
        _ room: String,
        environment: [String: String] = [:]
    ) async throws -> (stage: FaultStage, publisher: ChildProcess) {
        let stage = try await FaultStage(room: room, environment: environment)
        let host = try await stage.join("red")
        let publisher = try stage.publish(try await stage.clip(HostScript(.red, tone: 440)), as: host)
        try await stage.waitUntilOnAir()
        return (stage, publisher)
    }

    private func site(_ stage: FaultStage) -> String { "http://127.0.0.1:\(stage.gateway.endpoints.httpPort)" }

    @Test("Two tabs, and one that is loaded anew, are one device where the operator wants that told")
    func tabs() async throws {
        let (stage, publisher) = try await onAir(
            "tabs",
            environment: ["FOOTLIGHT_VIEWERSHIP_DEVICE_IDS": "true"]
        )
        defer { publisher.end() }
        let browser = try await HeadlessBrowser()
        try await browser.open("\(site(stage))/watch/tabs")
        let isPlaying = "globalThis.footlight?.program.state === 'playing'"
        #expect(try await browser.waits(for: isPlaying, within: .seconds(20)))
        _ = try await browser.evaluate("void (globalThis.other = open('/watch/tabs'))")
        let otherPlays = "other?.footlight?.program.state === 'playing'"
        #expect(try await browser.waits(for: otherPlays, within: .seconds(20)))
        let sids = "[footlight.program.sid, other.footlight.program.sid]"
        #expect(Set(try await browser.evaluate(sids).elements.compactMap(\.string)).count == 2)
        try await expect(viewers: 2, devices: 1, joins: 2, stage)

        let kept = "localStorage.getItem('footlight.device')"
        let device = try #require(try await browser.evaluate(kept).string)
        #expect(device.wholeMatch(of: /[0-9a-f]{32}/) != nil, "\(device)")
        _ = try await browser.evaluate("other.close()")
        try await browser.open("\(site(stage))/watch/tabs")
        #expect(try await browser.waits(for: "!globalThis.other && \(isPlaying)", within: .seconds(20)))
        #expect(try await browser.evaluate(kept).string == device)
        try await expect(viewers: 1, devices: 1, joins: 3, stage)
        let playlists = browser.requests.filter { $0.contains(".m3u8") }
        #expect(playlists.contains { $0.contains("/index.m3u8?did=") })
        #expect(playlists.contains { $0.contains("_HLS_msn") })
        #expect(playlists.allSatisfy { $0.contains("did=\(device)") }, "\(playlists)")
    }

    @Test("A page of another origin frames the program, and it plays there; nothing else of ours stands in its frames")
    func frames() async throws {
        let (stage, publisher) = try await onAir("framed")
        defer { publisher.end() }
        let site = site(stage)
        let frames = ["watch/framed?embed=1", "watch/framed", "dashboard?embed=1"].map { path in
            "<iframe src='\(site)/\(path)' allow='autoplay' width='640' height='360'></iframe>"
        }
        let other = try await OnePageServer("<!doctype html><title>Other</title>" + frames.joined())
        let browser = try await HeadlessBrowser()
        // Neither page may look into the other; each frame tells of itself what it shows.
        try await browser.open("http://127.0.0.1:\(other.port)/", preparedBy: Self.telling)
        let plays = "globalThis.told?.some(({ state, moved }) => state === 'playing' && moved > 1)"
        #expect(try await browser.waits(for: plays, within: .seconds(30)))
        let told = try await browser.evaluate("told").elements
        #expect(told.map { $0["page"].string } == ["\(site)/watch/framed?embed=1"], "\(told)")
        let shown = told.first?["colour"].elements.compactMap(\.int) ?? []
        #expect(shown.count == 4 && shown[0] > 120 && shown[1] < shown[0] / 2 && shown[2] < shown[0] / 2, "\(shown)")
        #expect(told.first?["width"].int == 1280)
        let refused = browser.complaints.filter { $0.contains("frame-ancestors") }
        #expect(refused.contains { $0.contains("watch/framed") || $0.contains("\(site)") }, "\(browser.complaints)")
        // It counts as any other viewer, by its beacons too.
        var summary: JSONValue = .null
        let isHeard = try await eventually(within: .seconds(20), every: .milliseconds(250)) {
            summary = try await stage.gateway.api("GET", stage.path("viewership/summary")).json
            return summary["coverage"].double == 1 && summary["joins"].int == 1
        }
        #expect(isHeard, "\(summary.text)")
    }

    /// Gathers in the outer page, as `told`, the latest word of each page of ours that came up in a frame of it.
    private static let telling = """
        if (parent === self) {
            globalThis.told = [];
            addEventListener('message', ({ data }) => {
                told = [...told.filter(({ page }) => page !== data.page), data];
            });
        } else {
            let began = null;
            setInterval(() => {
                const video = document.querySelector('video');
                if (!location.protocol.startsWith('http')) return;
                if (!video?.videoWidth) return parent.postMessage({ page: location.href }, '*');
                began ??= video.currentTime;
                const canvas = Object.assign(document.createElement('canvas'), { width: 1, height: 1 });
                const context = canvas.getContext('2d');
                context.drawImage(video, 0, 0, 1, 1);
                const colour = [...context.getImageData(0, 0, 1, 1).data];
                const { state } = globalThis.footlight.program;
                const moved = video.currentTime - began;
                parent.postMessage({ page: location.href, state, moved, width: video.videoWidth, colour }, '*');
            }, 200);
        }
        """

    /// Waits until the room's figures are these, of which all devices since the beginning are as many as now.
    private func expect(viewers: Int, devices: Int, joins: Int, _ stage: FaultStage) async throws {
        var counted: JSONValue = .null
        let isCounted = try await eventually(within: .seconds(45), every: .milliseconds(250)) {
            counted = try await stage.gateway.api("GET", stage.path("viewership")).json
            return counted["concurrent_viewers"].int == viewers && counted["joins"].int == joins
        }
        #expect(isCounted && counted["devices"].int == devices, "\(counted.text)")
        #expect(counted["uniques"]["devices"].int == devices, "\(counted.text)")
    }
}
