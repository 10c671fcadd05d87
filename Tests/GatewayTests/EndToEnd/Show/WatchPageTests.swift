import FootlightTesting
import Foundation
import NIOCore
import NIOPosix
import TestSupport
import Testing

@Suite("Watch page in tabs and frames", .enabled(if: TestRun.isFull), .serialized, .timeLimit(.minutes(2)))
struct WatchPageTests {
    /// Makes a room on air with one host.
    private func onAir(
        _ room: String,
        environment: [String: String] = [:]
    ) async throws -> (stage: RoomFixture, publisher: ChildProcess) {
        let stage = try await RoomFixture(room: room, environment: environment)
        let host = try await stage.join("red")
        let publisher = try stage.publish(try await stage.clip(HostScript(.red, tone: 440)), as: host)
        try await stage.waitUntilOnAir()
        return (stage, publisher)
    }

    private func site(_ stage: RoomFixture) -> String { "http://127.0.0.1:\(stage.gateway.endpoints.httpPort)" }

    @Test("two tabs and a reload are one device if device ids are enabled")
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

    @Test("plays the embedded watch page in a frame of another origin, and refuses other pages there")
    func frames() async throws {
        let (stage, publisher) = try await onAir("framed")
        defer { publisher.end() }
        let site = site(stage)
        let frames = ["watch/framed?embed=1", "watch/framed", "dashboard?embed=1"].map { path in
            "<iframe src='\(site)/\(path)' allow='autoplay' width='640' height='360'></iframe>"
        }
        let other = try await StaticPageServer("<!doctype html><title>Other</title>" + frames.joined())
        let browser = try await HeadlessBrowser()
        // The frames cannot be inspected; each one posts its state.
        try await browser.open("http://127.0.0.1:\(other.port)/", preparedBy: Self.frameProbe)
        let plays = "globalThis.states?.some(({ state, moved }) => state === 'playing' && moved > 1)"
        #expect(try await browser.waits(for: plays, within: .seconds(30)))
        let states = try await browser.evaluate("states").elements
        #expect(states.map { $0["page"].string } == ["\(site)/watch/framed?embed=1"], "\(states)")
        let shown = states.first?["colour"].elements.compactMap(\.int) ?? []
        #expect(shown.count == 4 && shown[0] > 120 && shown[1] < shown[0] / 2 && shown[2] < shown[0] / 2, "\(shown)")
        #expect(states.first?["width"].int == 1280)
        let refused = browser.consoleErrors.filter { $0.contains("frame-ancestors") }
        #expect(refused.contains { $0.contains("watch/framed") || $0.contains("\(site)") }, "\(browser.consoleErrors)")
        // It counts as any other viewer, and sends CMCD reports.
        var summary: JSONValue = .null
        let isAudible = try await eventually(within: .seconds(20), every: .milliseconds(250)) {
            summary = try await stage.gateway.api("GET", stage.path("viewership/summary")).json
            return summary["coverage"].double == 1 && summary["joins"].int == 1
        }
        #expect(isAudible, "\(summary.text)")
    }

    /// Collects in the outer page, as `states`, the latest state of each of the gateway's pages in its frames.
    private static let frameProbe = """
        if (parent === self) {
            globalThis.states = [];
            addEventListener('message', ({ data }) => {
                states = [...states.filter(({ page }) => page !== data.page), data];
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

    /// Waits until the room has these figures, with as many unique devices as present ones.
    private func expect(viewers: Int, devices: Int, joins: Int, _ stage: RoomFixture) async throws {
        var counted: JSONValue = .null
        let isCounted = try await eventually(within: .seconds(45), every: .milliseconds(250)) {
            counted = try await stage.gateway.api("GET", stage.path("viewership")).json
            return counted["concurrent_viewers"].int == viewers && counted["joins"].int == joins
        }
        #expect(isCounted && counted["devices"].int == devices, "\(counted.text)")
        #expect(counted["uniques"]["devices"].int == devices, "\(counted.text)")
    }
}

/// A web server on a free port of 127.0.0.1 with one page, as another origin.
final class StaticPageServer: Sendable {
    private final class Answerer: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let page: String

        init(_ page: String) {
            self.page = page
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let header =
                "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nConnection: close\r\n"
                + "Content-Length: \(page.utf8.count)\r\n\r\n"
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: header + page)), promise: nil)
            context.close(promise: nil)
        }
    }

    /// The server's port.
    let port: Int
    private let channel: any Channel

    init(_ page: String) async throws {
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Answerer(page))
                }
            }
            .bind(host: "127.0.0.1", port: 0)
            .get()
        port = channel.localAddress?.port ?? 0
    }

    deinit { channel.close(promise: nil) }
}
