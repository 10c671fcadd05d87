import Codecs
import NIOCore
import TestSupport
import Testing

@testable import Mixer

@Suite("Overlay drawings", .enabled(if: TestRun.isFull)) struct OverlayDrawingTests {
    private func rendered(_ drawing: Drawing?) throws -> OverlayImage { try #require(drawing).render() }

    /// Returns the share of pixels in `columns` of an overlay whose colour is near `colour`.
    private func share(of colour: RGBAColour, in overlay: OverlayImage, _ columns: Range<Int>? = nil) -> Double {
        let expected = YUVColour(red: colour.red, green: colour.green, blue: colour.blue)
        var (count, all) = (0, 0)
        // A part of the pixels of a large overlay is enough.
        let step = overlay.height > 200 ? 3 : 1
        for y in stride(from: 0, to: overlay.height, by: step) {
            for x in stride(from: columns?.lowerBound ?? 0, to: columns?.upperBound ?? overlay.width, by: step) {
                all += 1
                guard let found = overlay.colour(x: x, y: y) else { continue }
                let distance =
                    [(found.y, expected.y), (found.u, expected.u), (found.v, expected.v)]
                    .map { abs(Int($0) - Int($1)) }.max() ?? 0
                if distance < 12 { count += 1 }
            }
        }
        return Double(count) / Double(max(all, 1))
    }

    @Test("V8 a tag is the name, then a green microphone, on translucent black")
    func tag() throws {
        let on = try rendered(
            NameTag(name: "Ada Lovelace", isMicrophoneOn: true, tileWidth: 636, tileHeight: 356).drawing()
        )
        #expect((60...400).contains(on.width) && (24...48).contains(on.height))
        let (left, right) = (0..<on.width - on.height, on.width - on.height..<on.width)
        #expect(share(of: OverlayTheme.dark.microphoneOn, in: on, right) > 0.03)
        #expect(share(of: OverlayTheme.dark.microphoneOn, in: on, left) < 0.01)
        #expect(share(of: OverlayTheme.dark.panelText, in: on, left) > 0.02)
        // The panel itself, in an area without text.
        #expect((126...129).contains(on.alpha(x: 4, y: on.height / 2)))
        // Its corners are round.
        #expect(on.alpha(x: 0, y: 0) < 60)
    }

    @Test("V8 a muted microphone is red and crossed out")
    func muted() throws {
        let off = try rendered(NameTag(name: "Ada", isMicrophoneOn: false, tileWidth: 1280, tileHeight: 720).drawing())
        let on = try rendered(NameTag(name: "Ada", isMicrophoneOn: true, tileWidth: 1280, tileHeight: 720).drawing())
        #expect(off.width == on.width && off.height == on.height)
        #expect(share(of: OverlayTheme.dark.microphoneOff, in: off) > 0.015)
        #expect(share(of: OverlayTheme.dark.microphoneOn, in: off) == 0)
        #expect(share(of: OverlayTheme.dark.microphoneOff, in: on) == 0)
        // The name before it is the same.
        for x in 0..<off.width / 3 { #expect(off.alpha(x: x, y: off.height / 2) == on.alpha(x: x, y: on.height / 2)) }
    }

    @Test("a tag shows what is requested: name, microphone, both or nothing")
    func parts() throws {
        let both = try rendered(NameTag(name: "Ada", isMicrophoneOn: true, tileWidth: 636, tileHeight: 356).drawing())
        let name = try rendered(NameTag(name: "Ada", tileWidth: 636, tileHeight: 356).drawing())
        let microphone = try rendered(NameTag(isMicrophoneOn: true, tileWidth: 636, tileHeight: 356).drawing())
        #expect(name.width < both.width && microphone.width < both.width)
        #expect(NameTag(tileWidth: 636, tileHeight: 356).drawing() == nil)
        #expect(NameTag(name: " \n", tileWidth: 636, tileHeight: 356).drawing() == nil)
        #expect(NameTag(name: "Ada", tileWidth: 10, tileHeight: 4).drawing() == nil)
    }

    @Test("a tag grows with its tile and never leaves it", arguments: [64, 180, 314, 636, 1280, 1920, 3840])
    func sizes(width: Int) throws {
        let long = String(repeating: "Hubert Blaine Wolfeschlegelsteinhausenbergerdorff ", count: 3)
        for isOn in [true, false, nil] {
            guard
                let drawing = NameTag(name: long, isMicrophoneOn: isOn, tileWidth: width, tileHeight: width * 9 / 16)
                    .drawing()
            else {
                #expect(width < 100)
                continue
            }
            #expect(drawing.width <= width - 2 * NameTag.margin(tileHeight: width * 9 / 16))
            #expect(drawing.width % 2 == 0 && drawing.height % 2 == 0)
        }
        #expect(NameTag.margin(tileHeight: width * 9 / 16) % 2 == 0)
    }

    @Test("L9 the mute badge is a red disc with a white sign")
    func badge() throws {
        let badge = try rendered(MuteBadge(tileHeight: 176).drawing())
        #expect(badge.width == badge.height && (20...40).contains(badge.width))
        #expect(share(of: OverlayTheme.dark.microphoneOff, in: badge) > 0.3)
        #expect(badge.alpha(x: 0, y: 0) == 0)
        #expect(badge.alpha(x: badge.width / 2, y: badge.height / 2) == 255)
    }

    @Test("text on tiles has 14 pixels or more at 720 lines, and proportionally more on a larger canvas")
    func legibleText() {
        for (height, smallest) in [(360, 14.0), (720, 14), (1080, 21), (2160, 42)] {
            let minimum = NameTag.minimumTextSize(width: height * 16 / 9, height: height)
            #expect(NameTag.textSize(tileHeight: height / 8, minimum: minimum) == smallest)
            #expect(NameTag.textSize(tileHeight: height, minimum: minimum) > smallest)
            let badge = MuteBadge(tileHeight: height / 8, minimumTextSize: minimum).drawing()
            #expect(Double(badge.width) >= smallest * 1.7)
        }
    }

    @Test("V8 a card fills its tile with the theme's colour, the disc with initials and the name")
    func card() throws {
        let card = try rendered(PersonCard(name: "Ada Lovelace", width: 636, height: 356).drawing())
        #expect(card.isOpaque && card.width == 636 && card.height == 356)
        #expect(share(of: OverlayTheme.dark.tile, in: card) > 0.6)
        #expect(share(of: Initials.colour(of: "Ada Lovelace"), in: card) > 0.04)
        let light = try rendered(PersonCard(name: "Ada", width: 636, height: 356, theme: .light).drawing())
        #expect(share(of: OverlayTheme.light.tile, in: light) > 0.6)
    }

    @Test("L8 an avatar replaces the initials, as a disc")
    func avatar() throws {
        let green = RGBAColour(red: 20, green: 200, blue: 30)
        let card = try rendered(
            PersonCard(name: "Ada", avatar: "asset:a", width: 320, height: 180)
                .drawing(with: Self.images(green, width: 90, height: 40))
        )
        #expect(share(of: green, in: card) > 0.1)
        #expect(share(of: Initials.colour(of: "Ada"), in: card) < 0.01)
        let centre = try #require(card.colour(x: 160, y: 90))
        #expect(abs(Int(centre.y) - Int(YUVColour(red: 20, green: 200, blue: 30).y)) < 6)
        let corner = try #require(card.colour(x: 2, y: 2))
        #expect(abs(Int(corner.y) - Int(SceneColours.dark.emptyTile.y)) <= 1)
    }

    @Test("initials are those of the first and the last name, in every script, with a colour of their own")
    func initials() {
        #expect(Initials.of("Ada Lovelace") == "AL")
        #expect(Initials.of("ada") == "A")
        #expect(Initials.of("Juan Carlos de la Cruz") == "JC")
        #expect(Initials.of("  élodie  (Paris) ") == "ÉP")
        #expect(Initials.of("فاطمة الزهراء") == "ف")
        #expect(Initials.of("王小明") == "王")
        #expect(Initials.of("प्रियंका चोपड़ा") == "प्रि")
        #expect(Initials.of("🎉") == "🎉")
        #expect(Initials.of("") == "")
        #expect(Initials.colour(of: "Ada") == Initials.colour(of: "Ada"))
        #expect(Set((0..<200).map { Initials.colour(of: "host \($0)") }).count >= 8)
    }

    @Test("a slate covers the canvas, with text, with an image, with both")
    func slate() throws {
        let words = try rendered(SlateCard(text: "Starting soon", width: 1280, height: 720).drawing())
        #expect(words.isOpaque)
        #expect(share(of: OverlayTheme.dark.background, in: words) > 0.8)
        #expect((0.01...0.15).contains(share(of: OverlayTheme.dark.text, in: words)))
        let green = RGBAColour(red: 20, green: 200, blue: 30)
        let images = try Self.images(green, width: 100, height: 100)
        let alone = try rendered(SlateCard(image: "asset:a", width: 640, height: 360).drawing(with: images))
        #expect(share(of: green, in: alone) > 0.99)
        let both = try rendered(
            SlateCard(text: "Starting soon", image: "asset:a", width: 640, height: 360).drawing(with: images)
        )
        #expect(share(of: green, in: both) < 0.01)
        #expect(share(of: .white, in: both) > 0.004)
    }

    @Test("a long slate text is smaller and complete", arguments: [(1280, 720), (720, 1280), (320, 180)])
    func longSlate(width: Int, height: Int) throws {
        let text = Array(repeating: "words that go on", count: 31).joined(separator: " ")
        let short = try rendered(SlateCard(text: "Back soon", width: width, height: height).drawing())
        let long = try rendered(SlateCard(text: text, width: width, height: height).drawing())
        #expect(share(of: OverlayTheme.dark.text, in: long) > share(of: OverlayTheme.dark.text, in: short))
    }

    @Test("a lower third is a panel with an accent, as wide as its text, within the canvas")
    func lowerThird() throws {
        func titles(_ title: String, _ subtitle: String? = nil) -> Drawing? {
            LowerThirdOverlay(title: title, subtitle: subtitle, canvasWidth: 1280, canvasHeight: 720).drawing()
        }
        let one = try rendered(titles("Ada Lovelace"))
        let two = try rendered(titles("Ada Lovelace", "Countess, mathematician and the first programmer"))
        #expect(two.height > one.height && two.width > one.width && two.width < 1152)
        #expect(share(of: OverlayTheme.dark.accent, in: two, 0..<4) > 0.9)
        #expect(share(of: OverlayTheme.dark.panelText, in: one) > 0.05)
        // The accent lies at the side where reading begins.
        let arabic = try rendered(titles("آدا لوفليس"))
        #expect(share(of: OverlayTheme.dark.accent, in: arabic, arabic.width - 4..<arabic.width) > 0.9)
        #expect(share(of: OverlayTheme.dark.accent, in: arabic, 0..<4) == 0)
        #expect((200...208).contains(two.alpha(x: two.width - 3, y: 3)))
        let endless = String(repeating: "very long ", count: 50)
        #expect(try rendered(titles(endless, endless)).width <= 1152)
        #expect(titles("", nil) == nil)
        #expect(titles("", "only this") != nil)
    }

    @Test("a logo keeps its aspect ratio and transparency, and a background covers the canvas")
    func images() throws {
        let green = RGBAColour(red: 20, green: 200, blue: 30)
        let images = try Self.images(green, width: 80, height: 40)
        let logo = try rendered(LogoOverlay(asset: "asset:a", height: 72, maximumWidth: 400).drawing(with: images))
        #expect(logo.width == 144 && logo.height == 72)
        let wide = try rendered(LogoOverlay(asset: "asset:a", height: 72, maximumWidth: 100).drawing(with: images))
        #expect(wide.width == 100 && wide.height == 50)
        let background = try rendered(
            BackgroundImage(asset: "asset:a", width: 320, height: 180).drawing(with: images)
        )
        #expect(background.isOpaque && background.width == 320 && background.height == 180)
        #expect(share(of: green, in: background) > 0.99)
    }

    @Test("an overlay is drawn without its image if the file is missing or no image")
    func missing() throws {
        let images = try Self.images(.white, width: 32, height: 32)
        let initials = try rendered(PersonCard(name: "Ada", width: 320, height: 180).drawing())
        for asset in ["asset:b", "asset:c"] {
            let card = Overlay.personCard(PersonCard(name: "Ada", avatar: asset, width: 320, height: 180))
            #expect(card.asset == asset)
            guard case .frame(let frame) = try card.render(with: images) else {
                Issue.record("a card must be opaque")
                continue
            }
            let canvas = try Canvas(width: 320, height: 180)
            try canvas.draw(frame, in: canvas.bounds)
            #expect(canvas.colour(x: 160, y: 60) == initials.colour(x: 160, y: 60))
            let logo = Overlay.logo(LogoOverlay(asset: asset, height: 40, maximumWidth: 80))
            #expect(try logo.render(with: images) == nil)
            let background = Overlay.background(BackgroundImage(asset: asset, width: 320, height: 180))
            #expect(try background.render(with: images) == nil)
        }
    }

    @Test("the theme follows the scene's colours, and text is readable on any background")
    func themes() {
        #expect(OverlayTheme(.dark) == .dark)
        #expect(OverlayTheme(.light) == .light)
        var scene = SceneColours.dark
        scene.background = YUVColour(red: 250, green: 240, blue: 120)
        let theme = OverlayTheme(scene)
        #expect(theme.panel == OverlayTheme.dark.panel)
        #expect(theme.text.red < 60)
    }

    /// Makes a cache with an image of one colour.
    private static func images(_ colour: RGBAColour, width: Int, height: Int) throws -> OverlayImages {
        let canvas = try Canvas(width: width, height: height)
        canvas.fill(canvas.bounds, YUVColour(red: colour.red, green: colour.green, blue: colour.blue))
        let assets = AssetCache()
        assets.put(try canvas.png(), for: "asset:a")
        assets.put(ByteBuffer(string: "no image"), for: "asset:b")
        return OverlayImages(assets)
    }
}
