import ArgumentParser
import Foundation
import TestSupport

/// A page of Chromium that plays a room's program, with its player in `globalThis.video`.
enum BrowserPage {
    /// The watch page of the gateway.
    case watch
    /// A `video` element with the playlist as its source, played by Chromium itself.
    case native
    /// A `video` element played by hls.js.
    case hlsJS(HLSJS)

    /// Opens the page, and waits until it shows the first frame.
    ///
    /// - Returns: Seconds from the page's request, or from the start of its player, to the first frame.
    ///
    /// - Parameter query: The query of the page, or of the playlist; empty for none.
    func open(
        _ room: String,
        query: String = "",
        at gateway: GatewayProcess,
        in browser: HeadlessBrowser
    ) async throws -> Double {
        let playlist = gateway.hlsURL(room: room) + query
        switch self {
        case .watch:
            try await browser.open("http://127.0.0.1:\(gateway.endpoints.httpPort)/watch/\(room)\(query)")
            return try await firstFrame(after: "const begun = 0", in: browser)
        case .native:
            try await makeVideo(in: browser, at: gateway)
            return try await firstFrame(
                after: "const begun = performance.now(); video.src = '\(playlist)'; void video.play()",
                in: browser
            )
        case .hlsJS(let player):
            try await makeVideo(in: browser, at: gateway)
            _ = try await browser.evaluate(player.script + "; 0")
            return try await firstFrame(
                after: """
                    const begun = performance.now();
                    globalThis.waits = 0;
                    video.addEventListener('playing', () => {
                        video.addEventListener('waiting', () => { globalThis.waits += 1; });
                    }, { once: true });
                    globalThis.hls = new Hls(\(player.settings));
                    hls.loadSource('\(playlist)');
                    hls.attachMedia(video);
                    void video.play()
                    """,
                in: browser
            )
        }
    }

    private func makeVideo(in browser: HeadlessBrowser, at gateway: GatewayProcess) async throws {
        // A page of the same origin, because Chromium blocks requests to this machine from others; its content is
        // replaced.
        try await browser.open("\(gateway.hlsURL(room: "nobody-is-here"))")
        guard try await browser.waits(for: "document.body", within: .seconds(5)) else {
            throw ToolFailure("the browser cannot open a page")
        }
        _ = try await browser.evaluate(
            """
            document.body.style.margin = 0;
            document.body.innerHTML = '<video crossorigin="anonymous" style="width: 600px; display: block" autoplay></video>';
            globalThis.video = document.querySelector('video'); 0
            """
        )
    }

    private func firstFrame(after start: String, in browser: HeadlessBrowser) async throws -> Double {
        let script = """
            new Promise((resolve) => {
                \(start);
                const search = setInterval(() => {
                    globalThis.video ??= document.querySelector('video') ?? undefined;
                    if (!globalThis.video) return;
                    clearInterval(search);
                    video.requestVideoFrameCallback(() => resolve((performance.now() - begun) / 1000));
                }, 5);
            })
            """
        do {
            guard let seconds = try await browser.evaluate(script, within: .seconds(25)).double else {
                throw ToolFailure("the page does not report its first frame")
            }
            return seconds
        } catch let failure as ToolFailure {
            let consoleErrors = browser.consoleErrors.joined(separator: "\n")
            throw ToolFailure("no frame is shown: \(failure.description)", log: consoleErrors)
        }
    }
}

/// hls.js with its settings.
struct HLSJS {
    /// The source of the script, which defines `Hls`.
    let script: String
    /// The settings that differ from the defaults, as JavaScript.
    var settings = "{}"

    /// Settings that keep the player near the live edge.
    ///
    /// With its defaults hls.js never plays faster: its startup time and each stall add to its latency for good. With a
    /// higher maximum rate it catches up while it has more than a second buffered. By default each stall also raises
    /// its target latency by a second, up to a target duration, for good; a quarter of a second is enough.
    static let nearTheEdge = "{ maxLiveSyncPlaybackRate: 1.5, liveSyncOnStallIncrease: 0.25 }"

    /// Returns the latency, targets and stalls of the player in a page, in one line.
    static func status(in browser: HeadlessBrowser) async throws -> String {
        let said = try await browser.evaluate(
            """
            (() => {
                const seconds = (value) => value === null || value === undefined ? '-' : value.toFixed(2) + ' s';
                const { holdBack, partHoldBack, partTarget } = hls.latestLevelDetails ?? {};
                return `behind the end ${seconds(hls.latency)}, target ${seconds(hls.targetLatency)}, `
                    + `PART-HOLD-BACK ${seconds(partHoldBack)}, HOLD-BACK ${seconds(holdBack)}, `
                    + `parts of ${seconds(partTarget)}, rate ${video.playbackRate.toFixed(2)}, `
                    + `stalls ${hls.latencyController?.stallCount ?? '-'}, waited ${globalThis.waits} times`;
            })()
            """
        )
        return said.string ?? "nothing"
    }
}

/// The file of hls.js; an option group of every command that plays by it.
struct HLSJSFile: ParsableArguments {
    @Option(help: "The file of hls.js (its UMD build, a script that leaves Hls), for Chromium to play with.")
    var hlsJs: String?

    /// The source of the script; nil when the option is omitted.
    var script: String? {
        get throws { try hlsJs.map { try String(contentsOfFile: $0, encoding: .utf8) } }
    }
}
