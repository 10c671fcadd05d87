import ArgumentParser
import Codecs
import Egress
import Foundation
import Media
import NIOCore
import NIOPosix
import RTMP
import Stage
import TestSupport

struct GlassCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "glass",
        abstract: "Measures the delay from a host's capture until Chromium shows the frame, by low-latency HLS.",
        discussion: """
            A host draws the capture time into its frames; the gateway, its mixer and the pages use their default \
            settings. A canvas in the page reads the time from every frame that the page shows, and for comparison \
            an RTMP player receives the same program. All runs on this machine: the host's encoder, the mixer, the \
            gateway, and the browser, which decodes and draws without a GPU.
            """
    )

    @Option(help: "Seconds to measure with each player.")
    var seconds = 15

    @Option(help: "Seconds before that, in which a player's latency settles.")
    var settle = 12

    @Option(help: "The room's jitter target in milliseconds; by default the gateway's.")
    var jitterTarget: Int?

    @OptionGroup var hlsJS: HLSJSFile

    @Option(help: "Settings of hls.js, as JavaScript, to measure beside its defaults.")
    var hlsSettings = HLSJS.nearTheEdge

    @Option(help: "A folder in which to save a screenshot of each player.")
    var keep: String?

    @OptionGroup var program: GatewayProgram

    private static let room = "bench"

    func run() async throws {
        CodecLibraries.quiet()
        EgressLibraries.initialise()
        let gateway = try await program.start()
        defer { gateway.end() }
        let settings: [String: JSONValue]? = jitterTarget.map { ["program": ["jitter_target": .number(Double($0))]] }
        try await gateway.makeRoom(Self.room, settings ?? [:])
        let ingest = try await gateway.makeHost(for: "host", in: Self.room)
        let host = TimeCodeHost(address: ingest.address, audioMode: .live)
        try await gateway.waitUntilPlayable(Self.room)

        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let program = ReceivedProgram()
        let player = RTMPPlayer(
            url: gateway.rtmpURL(room: Self.room),
            group: group,
            onPacket: { program.receive($0, arrival: $1) },
            onEnd: { _ in }
        )
        player.start()
        // Wait until the host's offset has settled.
        try await Task.sleep(for: .seconds(settle))
        let start = MonotonicTime.now()
        var rows: [[String]] = []
        var statuses: [String] = []
        for (name, page) in try pages {
            let browser = try await HeadlessBrowser(width: 1280, height: 760)
            rows.append([name] + (try await measure(page, name, gateway, browser)))
            guard case .hlsJS(let player) = page else { continue }
            let status = try await HLSJS.status(in: browser)
            statuses.append("\(name), settings \(player.settings): \(status)")
        }
        let sync = try await gateway.api("GET", "/v1/rooms/\(Self.room)/participants/host").json
        player.stop()
        let parts = try await partTarget(gateway)
        try host.stop()
        gateway.end()
        try await group.shutdownGracefully()
        let whole = PixelRectangle(x: 0, y: 0, width: 1280, height: 720)
        let byRTMP = try program.ages(in: [whole], sent: [host.sent], from: start)[0]
        rows.append(["RTMP, as it arrives", "-"] + cells(byRTMP.ages, unread: byRTMP.unread) + ["-", "-"])
        let target = jitterTarget.map { "jitter target \($0) ms" } ?? "the default jitter target"
        let buffer = (sync["sync"]["buffer_ms"].double ?? 0).text(0)
        print("one host 720p30 with a live tone, \(target) (\(buffer) ms buffered in the mixer), \(parts)")
        print("milliseconds from a frame's capture until it is shown\n")
        var table = Table(
            "player",
            "first frame after",
            "frames",
            "median",
            "99 %",
            "largest",
            "unread",
            "held by the page",
            "in a screenshot"
        )
        for row in rows { table.add(row) }
        table.printOut()
        print("\nof which in the host, for encoding and for the audio before the frame:", terminator: " ")
        print(host.delays.median.text(0))
        for status in statuses { print(status) }
    }

    private func measure(
        _ page: BrowserPage,
        _ name: String,
        _ gateway: GatewayProcess,
        _ browser: HeadlessBrowser
    ) async throws -> [String] {
        let join = try await page.open(Self.room, at: gateway, in: browser)
        try await Task.sleep(for: .seconds(settle))
        let reader = PageReader(browser)
        try await reader.begin()
        try await Task.sleep(for: .seconds(seconds))
        let reading = try await reader.read()
        let scratch = try TemporaryFolder("glass")
        if let keep { try FileManager.default.createDirectory(atPath: keep, withIntermediateDirectories: true) }
        let still = (keep ?? scratch.path) + "/" + name.filter { $0.isLetter || $0 == "." } + ".png"
        let shot = try await reader.screenshot(to: still)
        return [(join * 1000).text(0)] + cells(reading.ages, unread: reading.unread) + [
            reading.ahead.median.text(0),
            shot.map { "\($0.lowerBound.text(0)) to \($0.upperBound.text(0))" } ?? "unread",
        ]
    }

    private func cells(_ ages: Samples, unread: Int) -> [String] {
        ["\(ages.values.count)", ages.median.text(0), ages.percentile(99).text(0), ages.largest.text(0), "\(unread)"]
    }

    /// Returns the playlist's part target and part hold-back.
    private func partTarget(_ gateway: GatewayProcess) async throws -> String {
        let port = gateway.endpoints.httpPort
        let index = try await gateway.request("GET", port: port, "/live/\(Self.room)/index.m3u8").text
        let media = index.split(separator: "\n").last { !$0.hasPrefix("#") } ?? ""
        let playlist = try await gateway.request("GET", port: port, "/live/\(Self.room)/\(media)").text
        let tags = ["PART-TARGET", "PART-HOLD-BACK"].map { tag in
            playlist.split { ":,\n".contains($0) }.first { $0.hasPrefix("\(tag)=") } ?? "no \(tag)"
        }
        return tags.joined(separator: ", ")
    }

    private var pages: [(String, BrowserPage)] {
        get throws {
            guard let script = try hlsJS.script else { return [("watch page", .watch)] }
            return [
                ("watch page", .watch),
                ("hls.js by default", .hlsJS(HLSJS(script: script))),
                ("hls.js with settings", .hlsJS(HLSJS(script: script, settings: hlsSettings))),
            ]
        }
    }
}
