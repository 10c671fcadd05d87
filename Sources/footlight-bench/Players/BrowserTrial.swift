import FootlightTesting

/// Chromium with one of the ways in which a page can play.
struct BrowserTrial {
    enum Page {
        /// The page that the gateway serves.
        case watch
        /// An address of the playlist in a `video` of its own, which Chromium plays by itself.
        case native
        /// The same by hls.js, whose text this is.
        case hlsJS(String)
    }

    let name: String
    let way: PlayerTrial.Way
    let page: Page

    /// Plays for some seconds; calls `look` meanwhile.
    ///
    /// - Returns: What was decoded.
    func play(
        room: String,
        _ gateway: GatewayProcess,
        seconds: Int,
        still: String,
        look: () async throws -> Void
    ) async throws -> PlayedMedia {
        let site = "http://127.0.0.1:\(gateway.endpoints.httpPort)"
        let browser = try await HeadlessBrowser(width: 640, height: 480)
        switch page {
        case .watch:
            try await browser.open("\(site)/watch/\(room)")
        case .native:
            try await makeVideo(browser)
            _ = try await browser.evaluate("video.src = '\(gateway.hlsURL(room: room))'; void video.play()")
        case .hlsJS(let script):
            try await makeVideo(browser)
            _ = try await browser.evaluate(script + "; 0")
            _ = try await browser.evaluate(
                """
                globalThis.hls = new Hls({ lowLatencyMode: true });
                hls.loadSource('\(gateway.hlsURL(room: room))');
                hls.attachMedia(video);
                void video.play(); 0
                """
            )
        }
        let moves = "(globalThis.video ??= document.querySelector('video'))?.currentTime > 0.2"
        guard try await browser.waits(for: moves, within: .seconds(20)) else {
            throw ToolFailure("\(name): nothing plays", log: browser.complaints.joined(separator: "\n"))
        }
        _ = try await browser.evaluate(Self.meter)
        let before = try await frames(browser)
        for _ in 0..<seconds * 4 {
            try await look()
            try await Task.sleep(for: .milliseconds(250))
        }
        let pictures = try await frames(browser) - before
        let level = try await browser.evaluate("20 * Math.log10(Math.max(globalThis.loudest, 1e-6))").double
        try await browser.takePicture(to: still)
        return PlayedMedia(pictures: pictures, level: level)
    }

    private func makeVideo(_ browser: HeadlessBrowser) async throws {
        try await browser.open("about:blank")
        _ = try await browser.evaluate(
            """
            document.body.innerHTML = '<video crossorigin="anonymous" width="600" autoplay></video>';
            globalThis.video = document.querySelector('video'); 0
            """
        )
    }

    private func frames(_ browser: HeadlessBrowser) async throws -> Int {
        try await browser.evaluate("video.getVideoPlaybackQuality().totalVideoFrames").int ?? 0
    }

    /// Listens along, and keeps the loudest that it hears.
    private static let meter = """
        video.muted = false;
        globalThis.loudest = 0;
        const context = new AudioContext();
        const ear = context.createAnalyser();
        const source = context.createMediaElementSource(video);
        source.connect(ear);
        ear.connect(context.destination);
        const wave = new Float32Array(ear.fftSize);
        setInterval(() => {
            ear.getFloatTimeDomainData(wave);
            const level = Math.sqrt(wave.reduce((sum, value) => sum + value * value, 0) / wave.length);
            globalThis.loudest = Math.max(globalThis.loudest, level);
        }, 100);
        void context.resume(); 0
        """
}
