import Codecs
import Stage
import Testing

@testable import Mixer

@Suite("Ticker") struct TickerTests {
    private func strip(_ text: String, theme: OverlayTheme = .dark) -> TickerStrip {
        TickerStrip(text: text, canvasWidth: 640, canvasHeight: 360, theme: theme)
    }

    private func letters(in overlay: OverlayImage, _ columns: Range<Int>) -> Int {
        columns.reduce(0) { count, x in
            count + (0..<overlay.height).count { (overlay.colour(x: x, y: $0)?.y ?? 0) > 120 }
        }
    }

    @Test("a strip is opaque and as long as its text")
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
        "the longest allowed text is complete in the strip, however many marks its letters have",
        arguments: ["بَّتُّ ", "किंपिं "]
    )
    func longest(word: String) throws {
        let text = String(repeating: word, count: LayoutSettings.maximumTickerLength / word.count)
        var layout = LayoutSettings()
        layout.ticker = .init(text: text)
        try layout.validate()
        #expect(text.unicodeScalars.count > 4500)
        func width(_ text: String) throws -> Int {
            try #require(strip(text).drawing()).width - 3 * TickerStrip.band(width: 640, height: 360).height
        }
        let half = try width(String(repeating: word, count: LayoutSettings.maximumTickerLength / word.count / 2))
        #expect(abs(Double(try width(text)) / Double(half) - 2) < 0.01)
    }

    @Test("right-to-left text begins at the strip's right end and moves to the right")
    func rightToLeft() throws {
        let arabic = strip("عاجل: لم يحدث شيء")
        #expect(arabic.isRightToLeft && !strip("Breaking").isRightToLeft)
        let overlay = try #require(arabic.drawing()).render()
        #expect(letters(in: overlay, 600..<640) > 20 && letters(in: overlay, 0..<300) == 0)
        let motion = TickerMotion(stripWidth: 640, canvasWidth: 640, speed: 0.1, rate: 30, isRightToLeft: true)
        #expect(motion.positions(at: 1) == [motion.step - 640])
        #expect(motion.positions(at: 10) == [10 * motion.step - 640])
    }

    @Test(
        "every step is the same even number of pixels, near the requested speed",
        arguments: [24.0, 25, 30, 50, 60],
        [0.03, 0.05, 0.1, 0.25, 1]
    )
    func steps(rate: Double, speed: Double) {
        let motion = TickerMotion(stripWidth: 1600, canvasWidth: 1280, speed: speed, rate: rate)
        #expect(motion.step % 2 == 0 && motion.step >= 2 && motion.interval >= 1)
        let real = Double(motion.step) / Double(motion.interval) * rate / 1280
        #expect((0.66...1.34).contains(real / speed))
        for frame in Int64(1)..<4000 {
            let (before, now) = (motion.positions(at: frame - 1), motion.positions(at: frame))
            let moved = motion.moves(at: frame) ? motion.step : 0
            // Whatever remains visible has moved by exactly that much.
            for x in before where x - moved > -1600 { #expect(now.contains(x - moved)) }
            #expect(now.allSatisfy { $0 < 1280 && $0 > -1600 })
            #expect(now.count <= 2)
        }
    }

    @Test("the canvas is covered for hours once the text has crossed it")
    func covered() {
        let motion = TickerMotion(stripWidth: 700, canvasWidth: 640, speed: 0.1, rate: 30)
        for frame in [400, 10_000, 1_000_000, 100_000_000, Int64.max / 1000] {
            let positions = motion.positions(at: frame).sorted()
            #expect((positions.first ?? 1) <= 0 && (positions.last ?? 0) + 700 >= 640)
        }
        #expect(motion.positions(at: 0) == [] && motion.positions(at: -5) == [])
    }

    @Test("a new speed continues from the present position, and a new text begins at the edge")
    func otherSpeed() throws {
        var transition = SceneTransition()
        func change(_ text: String, _ speed: Double, at sample: Int64) throws {
            var scene = Scene()
            scene.decoration.ticker = Ticker(text: text, speed: speed)
            let plan = TilePlan(scene: scene, width: 640, height: 360)
            transition.move(to: plan, at: sample, over: 14_400)
            let drawn = try #require(strip(text).drawing()).render()
            let motion = TickerMotion(stripWidth: drawn.width, canvasWidth: 640, speed: speed, rate: 30)
            let content = LayerContent.ticker(LayerContent.Ticker(strip: strip(text), text: drawn, motion: motion))
            transition.setContent(content, at: transition.overlays.count - 1)
        }
        func positions(at sample: Int64) -> [Int] {
            guard let animation = transition.overlays.last, case .ticker(let ticker) = animation.content
            else { return [] }
            return animation.positions(of: ticker.motion, at: sample)
        }
        try change("News", 0.1, at: 0)
        // The second round, after eleven seconds: 330 steps of two pixels.
        var now: Int64 = 330 * 1600
        #expect(positions(at: now) == [-20, 620])
        for (speed, step) in [(0.5, 10), (0.03, 0), (0.2, 4)] {
            let before = positions(at: now)
            try change("News", speed, at: now)
            #expect(transition.overlays.count == 1 && !transition.isMoving(at: now + 1600))
            #expect(positions(at: now) == before)
            #expect(positions(at: now + 1600) == before.map { $0 - step })
            now += 16_000
        }
        try change("Other news", 0.2, at: now)
        #expect(transition.overlays.count == 2 && transition.overlays[0].isLeaving && positions(at: now) == [])
    }

    @Test("the band shows the due window, and nothing above it is touched")
    func painting() throws {
        let strip = strip("█ News █", theme: .light)
        let rendered = try #require(strip.drawing()).render()
        let motion = TickerMotion(stripWidth: rendered.width, canvasWidth: 640, speed: 0.2, rate: 30)
        let canvas = try Canvas(width: 640, height: 360)
        let band = TickerStrip.band(width: 640, height: 360)
        #expect(band.bottom == 360 && band.y % 2 == 0)
        for frame in [0, 1, 60, 200, 500, 2000] as [Int64] {
            canvas.paint(strip, rendered: rendered, at: motion.positions(at: frame))
            for x in stride(from: 0, to: 640, by: 7) {
                let position = motion.positions(at: frame).first { (0..<rendered.width).contains(x - $0) }
                let expected = position.flatMap { rendered.colour(x: x - $0, y: 10) } ?? strip.bandColour
                #expect(canvas.colour(x: x, y: band.y + 10) == expected)
            }
        }
        #expect(canvas.averageColour(of: PixelRectangle(x: 0, y: 0, width: 640, height: band.y)) == .black)
    }
}
