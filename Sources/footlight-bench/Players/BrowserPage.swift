import FootlightTesting

/// A way in which a page of Chromium can play a room's program; it leaves the player in `globalThis.video`.
enum BrowserPage {
    /// The page that the gateway serves.
    case watch
    /// The playlist in a `video` of its own, which Chromium plays by itself.
    case native
    /// The same by hls.js.
    case hlsJS(HLSJS)

    /// Opens it, and waits until it shows the first picture.
    ///
    /// - Returns: Seconds until then, from when the page was asked for, or the player in it was started.
    func open(_ room: String, at gateway: GatewayProcess, in browser: HeadlessBrowser) async throws -> Double {
        let playlist = gateway.hlsURL(room: room)
        switch self {
        case .watch:
            try await browser.open("http://127.0.0.1:\(gateway.endpoints.httpPort)/watch/\(room)")
            return try await firstPicture(after: "const begun = 0", in: browser)
        case .native:
            try await makeVideo(in: browser, at: gateway)
            return try await firstPicture(
                after: "const begun = performance.now(); video.src = '\(playlist)'; void video.play()",
                in: browser
            )
        case .hlsJS(let player):
            try await makeVideo(in: browser, at: gateway)
            _ = try await browser.evaluate(player.script + "; 0")
            return try await firstPicture(
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
        // A page of this machine's, for Chromium lets no other ask this machine; what it says does not matter.
        try await browser.open("\(gateway.hlsURL(room: "nobody-is-here"))")
        guard try await browser.waits(for: "document.body", within: .seconds(5)) else {
            throw ToolFailure("the browser opens nothing")
        }
        _ = try await browser.evaluate(
            """
            document.body.style.margin = 0;
            document.body.innerHTML = '<video crossorigin="anonymous" style="width: 600px; display: block" autoplay></video>';
            globalThis.video = document.querySelector('video'); 0
            """
        )
    }

    private func firstPicture(after start: String, in browser: HeadlessBrowser) async throws -> Double {
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
                throw ToolFailure("the page does not tell when it shows something")
            }
            return seconds
        } catch let failure as ToolFailure {
            let complaints = browser.complaints.joined(separator: "\n")
            throw ToolFailure("nothing is shown: \(failure.description)", log: complaints)
        }
    }
}
