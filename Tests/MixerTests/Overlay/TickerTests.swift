import Codecs
import Stage
import Testing

@testable import Mixer

@Suite("Text that runs along the lower edge") struct TickerTests {
    private func strip(_ text: String, theme: OverlayTheme = .dark) -> TickerStrip {
        TickerStrip(text: text, canvasWidth: 640, canvasHeight: 360, theme: theme)
    }

    private func letters(in overlay: OverlayPicture, _ columns: Range<Int>) -> Int {
        columns.reduce(0) { count, x in
            count + (0..<overlay.height).count { (overlay.colour(x: x, y: $0)?.y ?? 0) > 120 }
        }
    }

    @Test("a strip is as long as its text, however long that is, and nothing is seen through it")
    func length() throws {
        let short = try #require(strip("News").drawing()).render()
        #expect(short.width == 640 && short.height == 22 && short.isOpaque)
        #expect(letters(in: short, 0..<60) > 40 && letters(in: short, 80..<640) == 0)
        let text = String(repeating: "Breaking: nothing happened today. ", count: 58)
        let long = try #require(strip(text).drawing()).render()
        #expect(long.width > 10_000 && long.isOpaque)
        #expect(letters(in: long, long.width - 200..<long.width - 60) > 40)
        #expect(letters(in: long, long.width - 60..<long.width) == 0)
        #expect(strip("  ").drawing() == nil)
    }

    @Test(
        "all of the longest text that a room takes is in the strip, however many marks its letters have",
        arguments: ["بَّتُّ ", "किंपिं "]
    )
    func longest(word: String) throws {
        let text = String(repeating: word, count: LayoutSettings.longestTicker / word.count)
        var layout = LayoutSettings()
        layout.ticker = .init(text: text)
        try layout.validate()
        #expect(text.unicodeScalars.count > 4500)
        func width(_ text: String) throws -> Int {
            try #require(strip(text).drawing()).width - 3 * TickerStrip.band(width: 640, height: 360).height
        }
        let half = try width(String(repeating: word, count: LayoutSettings.longestTicker / word.count / 2))
        #expect(abs(Double(try width(text)) / Double(half) - 2) < 0.01)
    }

    @Test("text from right to left stands at the strip's right end, and moves to the right")
    func rightToLeft() throws {
        let arabic = strip("عاجل: لم يحدث شيء")
        #expect(arabic.isRightToLeft && !strip("Breaking").isRightToLeft)
        let overlay = try #require(arabic.drawing()).render()
        #expect(letters(in: overlay, 600..<640) > 20 && letters(in: overlay, 0..<300) == 0)
        let motion = TickerMotion(stripWidth: 640, canvasWidth: 640, speed: 0.1, rate: 30, isRightToLeft: true)
        #expect(motion.places(at: 1) == [motion.step - 640])
        #expect(motion.places(at: 10) == [10 * motion.step - 640])
    }

    @Test(
        "every step is the same even number of pixels, near the speed that was asked for",
        arguments: [24.0, 25, 30, 50, 60],
        [0.03, 0.05, 0.1, 0.25, 1]
    )
    func steps(rate: Double, speed: Double) {
        let motion = TickerMotion(stripWidth: 1600, canvasWidth: 1280, speed: speed, rate: rate)
        #expect(motion.step % 2 == 0 && motion.step >= 2 && motion.interval >= 1)
        let real = Double(motion.step) / Double(motion.interval) * rate / 1280
        #expect((0.66...1.34).contains(real / speed))
        for picture in Int64(1)..<4000 {
            let (before, now) = (motion.places(at: picture - 1), motion.places(at: picture))
            let moved = motion.moves(at: picture) ? motion.step : 0
            // What was seen and is still seen has moved by just that much.
            for x in before where x - moved > -1600 { #expect(now.contains(x - moved)) }
            #expect(now.allSatisfy { $0 < 1280 && $0 > -1600 })
            #expect(now.count <= 2)
        }
    }

    @Test("the canvas is covered from the time the text has crossed it once, for hours")
    func covered() {
        let motion = TickerMotion(stripWidth: 700, canvasWidth: 640, speed: 0.1, rate: 30)
        for picture in [400, 10_000, 1_000_000, 100_000_000, Int64.max / 1000] {
            let places = motion.places(at: picture).sorted()
            #expect((places.first ?? 1) <= 0 && (places.last ?? 0) + 700 >= 640)
        }
        #expect(motion.places(at: 0) == [] && motion.places(at: -5) == [])
    }

    @Test("another speed goes on from where the text is, another text begins at the edge")
    func otherSpeed() throws {
        var choreography = Choreography()
        func change(_ text: String, _ speed: Double, at sample: Int64) throws {
            var scene = Scene()
            scene.decoration.ticker = Ticker(text: text, speed: speed)
            let plan = TilePlan(scene: scene, width: 640, height: 360)
            choreography.move(to: plan, at: sample, over: 14_400)
            let drawn = try #require(strip(text).drawing()).render()
            let motion = TickerMotion(stripWidth: drawn.width, canvasWidth: 640, speed: speed, rate: 30)
            let art = LayerArt.ticker(LayerArt.Ticker(strip: strip(text), text: drawn, motion: motion))
            choreography.paint(art, at: choreography.veils.count - 1)
        }
        func places(at sample: Int64) -> [Int] {
            guard let veil = choreography.veils.last, case .ticker(let ticker) = veil.art else { return [] }
            return veil.places(of: ticker.motion, at: sample)
        }
        try change("News", 0.1, at: 0)
        // Its second time round, after eleven seconds: 330 steps of two pixels.
        var now: Int64 = 330 * 1600
        #expect(places(at: now) == [-20, 620])
        for (speed, step) in [(0.5, 10), (0.03, 0), (0.2, 4)] {
            let before = places(at: now)
            try change("News", speed, at: now)
            #expect(choreography.veils.count == 1 && !choreography.isMoving(at: now + 1600))
            #expect(places(at: now) == before)
            #expect(places(at: now + 1600) == before.map { $0 - step })
            now += 16_000
        }
        try change("Other news", 0.2, at: now)
        #expect(choreography.veils.count == 2 && choreography.veils[0].isLeaving && places(at: now) == [])
    }

    @Test("the band shows the window that is due, and nothing above it is touched")
    func painting() throws {
        let strip = strip("█ News █", theme: .light)
        let rendered = try #require(strip.drawing()).render()
        let motion = TickerMotion(stripWidth: rendered.width, canvasWidth: 640, speed: 0.2, rate: 30)
        let canvas = try Canvas(width: 640, height: 360)
        let band = TickerStrip.band(width: 640, height: 360)
        #expect(band.bottom == 360 && band.y % 2 == 0)
        for picture in [0, 1, 60, 200, 500, 2000] as [Int64] {
            canvas.paint(strip, rendered: rendered, at: motion.places(at: picture))
            for x in stride(from: 0, to: 640, by: 7) {
                let place = motion.places(at: picture).first { (0..<rendered.width).contains(x - $0) }
                let expected = place.flatMap { rendered.colour(x: x - $0, y: 10) } ?? strip.bandColour
                #expect(canvas.colour(x: x, y: band.y + 10) == expected)
            }
        }
        #expect(canvas.averageColour(of: PixelRectangle(x: 0, y: 0, width: 640, height: band.y)) == .black)
    }
}
