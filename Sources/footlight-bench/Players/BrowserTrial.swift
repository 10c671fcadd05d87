import FootlightTesting

/// Chromium with one of the ways in which a page can play.
struct BrowserTrial {
    let name: String
    let way: PlayerTrial.Way
    let page: BrowserPage

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
        let browser = try await HeadlessBrowser(width: 640, height: 480)
        let join = try await page.open(room, at: gateway, in: browser)
        guard try await browser.waits(for: "video.currentTime > 0.2", within: .seconds(20)) else {
            throw ToolFailure("\(name): nothing plays", log: browser.complaints.joined(separator: "\n"))
        }
        _ = try await browser.evaluate(Self.meter)
        let reader = PageReader(browser)
        try await reader.begin()
        let before = try await frames(browser)
        for _ in 0..<seconds * 4 {
            try await look()
            try await Task.sleep(for: .milliseconds(250))
        }
        let pictures = try await frames(browser) - before
        let level = try await browser.evaluate("20 * Math.log10(Math.max(globalThis.loudest, 1e-6))").double
        try await browser.takePicture(to: still)
        return PlayedMedia(pictures: pictures, level: level, join: join, ages: try await reader.read().ages)
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
