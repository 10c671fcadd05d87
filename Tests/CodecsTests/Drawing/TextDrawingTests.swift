import Codecs
import TestSupport
import Testing

@Suite("Text in the frame", .enabled(if: TestRun.isFull)) struct TextDrawingTests {
    private static let box = DrawingBox(x: 0, y: 0, width: 400, height: 60)

    private func rendered(
        _ text: String,
        _ style: TextStyle = TextStyle(size: 32),
        in box: DrawingBox = Self.box
    ) throws -> OverlayImage {
        try Drawing(width: Int(box.width), height: Int(box.height), marks: [.text(text, style, box)]).render()
    }

    @Test(
        "V8 names in every script are seen, and are no row of empty boxes",
        arguments: ["Ada Lovelace", "فاطمة الزهراء", "प्रियंका चोपड़ा", "王小明", "이민호", "さくら", "שלום", "Ζωή", "Жанна", "สมชาย"]
    )
    func scripts(name: String) throws {
        let ink = Ink(of: try rendered(name))
        #expect(ink.count > 150)
        #expect(ink.right - ink.left > 30)
        #expect(ink.bottom - ink.top > 14)
        // Where no font has a sign there would be a box with the sign's number.
        #expect(TextStyle(size: 32).extent(of: name).missing == 0)
        // A private character is nothing but that, so it is left out.
        #expect(Ink(of: try rendered("\u{F0000}\u{F0001}")).count == 0)
    }

    @Test("text has its style's colour, is solid within its strokes and clear outside of them")
    func colour() throws {
        let red = RGBAColour(red: 250, green: 30, blue: 20)
        let overlay = try rendered("HHH", TextStyle(size: 48, weight: .bold, colour: red))
        let ink = Ink(of: overlay)
        #expect(ink.solid > ink.count / 3)
        for (x, y) in ink.solidPixels {
            let colour = try #require(overlay.colour(x: x, y: y))
            #expect(abs(Int(colour.y) - Int(YUVColour(red: 250, green: 30, blue: 20).y)) <= 1)
        }
        #expect(overlay.alpha(x: 399, y: 30) == 0)
    }

    @Test("text that runs from right to left begins at the right edge")
    func rightToLeft() throws {
        let latin = Ink(of: try rendered("Salam"))
        let arabic = Ink(of: try rendered("سلام"))
        let hebrew = Ink(of: try rendered("שלום"))
        #expect(latin.left < 10 && latin.right < 200)
        #expect(arabic.right > 385 && arabic.left > 200)
        #expect(hebrew.right > 385 && hebrew.left > 200)
        let trailing = Ink(of: try rendered("سلام", TextStyle(size: 32, alignment: .trailing)))
        #expect(trailing.left < 15 && trailing.right < 200)
        #expect(TextStyle.isRightToLeft("123 سلام") && !TextStyle.isRightToLeft("Salam سلام"))
        let centred = Ink(of: try rendered("Salam", TextStyle(size: 32, alignment: .centre)))
        #expect(abs(centred.left - (399 - centred.right)) <= 4)
    }

    @Test("Arabic letters are joined: narrower together than side by side")
    func joined() {
        let style = TextStyle(size: 48)
        // Letters kept apart by a sign that says so and has no width of its own.
        let apart = ["س", "ل", "ا", "م"].joined(separator: "\u{200C}")
        #expect(Double(style.extent(of: "سلام").width) < Double(style.extent(of: apart).width) * 0.85)
        // Hindi conjuncts and reordered vowels too.
        let loose = style.extent(of: "क\u{094D}\u{200C}ष").width
        #expect(style.extent(of: "क्ष").width < loose)
    }

    @Test("emoji have colours of their own, families and skins are one sign")
    func emoji() throws {
        let overlay = try rendered("🍓🥦")
        let colours = Ink(of: overlay).solidPixels.compactMap { overlay.colour(x: $0.0, y: $0.1)?.rgb }
        #expect(colours.contains { $0.red > 170 && $0.green < 90 })
        #expect(colours.contains { $0.green > 110 && $0.red < 120 })
        let style = TextStyle(size: 32)
        let one = style.extent(of: "👩").width
        #expect(style.extent(of: "👩🏽‍🚀").width == one)
        #expect(style.extent(of: "👨‍👩‍👧‍👦").width == one)
    }

    @Test("a name that is too long ends in an ellipsis within its width")
    func ellipsis() throws {
        let style = TextStyle(size: 32)
        let name = "Hubert Blaine Wolfeschlegelsteinhausenbergerdorff"
        let whole = style.extent(of: name)
        #expect(!whole.isShortened && whole.width > 500)
        let cut = style.extent(of: name, width: 200)
        #expect(cut.isShortened && cut.lines == 1 && cut.width <= 200 && cut.width > 150)
        #expect(Ink(of: try rendered(name, in: DrawingBox(x: 0, y: 0, width: 200, height: 60))).right <= 200)
    }

    @Test("text wraps at words, in so many lines and no more")
    func wrapping() {
        var style = TextStyle(size: 20, maximumLines: 3)
        let text = Array(repeating: "words", count: 60).joined(separator: " ")
        let three = style.extent(of: text, width: 200)
        #expect(three.lines == 3 && three.isShortened && three.width <= 200)
        style.maximumLines = 100
        let all = style.extent(of: text, width: 200)
        #expect(all.lines > 10 && !all.isShortened && all.height > 10 * 20)
        #expect(style.extent(of: "one\ntwo", width: 200).lines == 2)
        // One line has no line feeds.
        style.maximumLines = 1
        #expect(style.extent(of: "one\ntwo", width: 200).lines == 1)
        // A word longer than a line is broken.
        style.maximumLines = 10
        #expect(style.extent(of: String(repeating: "x", count: 80), width: 200).width <= 200)
    }

    @Test("names of different scripts stand on the same line")
    func baseline() throws {
        let bottoms = try ["HELLO", "HELLO 王", "HELLO 🎉", "HELLO प्र"].map { text in
            Ink(of: try rendered(text), columns: 0..<90).bottom
        }
        #expect(Set(bottoms).count == 1)
    }

    @Test("text from outside never does harm", arguments: HostileText.all)
    func hostile(sample: HostileText) throws {
        for lines in [1, 4] {
            let style = TextStyle(size: 24, maximumLines: lines)
            let extent = style.extent(of: sample.text, width: 300)
            #expect(extent.width <= 300 && extent.lines <= lines)
            _ = try rendered(sample.text, style)
        }
        #expect(TextStyle(size: .nan).extent(of: sample.text, width: -1) == TextStyle(size: 9).extent(of: ""))
    }

    @Test("markup is letters like any others")
    func markup() {
        let style = TextStyle(size: 24)
        #expect(style.extent(of: "<b>x</b>").width > 3 * style.extent(of: "x").width)
    }

    @Test("threads draw at the same time and come to the same frame")
    func threads() async throws {
        let name = "Ada فاطمة 王小明 🎉"
        let expected = Ink(of: try rendered(name))
        let inks = await withTaskGroup(of: Ink?.self) { group in
            for _ in 0..<24 {
                group.addTask {
                    let marks = [Drawing.Mark.text(name, TextStyle(size: 32), Self.box)]
                    return (try? Drawing(width: 400, height: 60, marks: marks).render()).map { Ink(of: $0) }
                }
            }
            return await group.reduce(into: [Ink?]()) { $0.append($1) }
        }
        #expect(inks.count == 24)
        for ink in inks { #expect(ink == expected) }
    }
}

/// Text that somebody might send.
struct HostileText: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let text: String

    static let all = [
        HostileText(testDescription: "nothing", text: ""),
        HostileText(testDescription: "a space", text: " "),
        HostileText(testDescription: "control characters", text: "\u{0}\u{1}\u{7F}\u{85}"),
        HostileText(testDescription: "overrides of direction", text: "\u{202E}\u{2066}\u{202E}x"),
        HostileText(testDescription: "marks without a letter", text: String(repeating: "\u{0301}", count: 5000)),
        HostileText(
            testDescription: "letters under many marks",
            text: String(repeating: "a\u{0300}\u{0301}\u{0302}\u{0303}", count: 2000)
        ),
        HostileText(testDescription: "no characters", text: "\u{FFFD}\u{FFFE}\u{FFFF}"),
        HostileText(testDescription: "families", text: String(repeating: "👨‍👩‍👧‍👦", count: 800)),
        HostileText(testDescription: "a word without an end", text: String(repeating: "W", count: 100_000)),
        HostileText(testDescription: "lines without an end", text: String(repeating: "a\n", count: 3000)),
    ]
}
