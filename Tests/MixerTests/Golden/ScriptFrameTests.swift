import Codecs
import Media
import NIOCore
import Stage
import Testing

@testable import Mixer

/// Renders names, titles and a ticker in many scripts, over hosts with video and hosts with cards.
@Suite("Golden frames of many scripts") struct ScriptFrameTests {
    private static let names = [
        "Ada Lovelace", "فاطمة الزهراء", "प्रियंका चोपड़ा", "王小明", "🎉 Zoë 👩🏽‍🚀", "Дмитрий", "이민호", "Ελένη", "สมชาย",
    ]
    private static let size = (width: 1280, height: 720)

    /// Returns the canvas after all transitions.
    private func canvas(names: [String], hasTitles: Bool) throws -> Canvas {
        let (width, height) = Self.size
        let ring = try CanvasRing(width: width, height: height)
        let renderer = ProgramRenderer(
            configuration: ProgramConfiguration(width: width, height: height, frameRate: FrameRate(10)),
            ring: ring,
            output: RecordingOutput(ring: ring)
        )
        var scene = TestProgram.grid(names, width: width, height: height)
        scene.transition = 0
        for index in scene.tiles.indices where index % 2 == 1 { scene.tiles[index].isMicOn = false }
        if hasTitles {
            scene.decoration.lowerThird = LowerThird(title: "مرحبا بكم في العرض", subtitle: "नमस्ते · 欢迎 · Welcome 🎬")
            scene.decoration.ticker = Ticker(text: "Latin · العربية · हिन्दी · 中文 · 🍓🥦 · Кириллица · 한국어 ")
        }
        renderer.apply(scene)
        let clip = try HostClip.plain(.blue, tone: nil, width: 320, height: 180, frameRate: 10)
        // Every third host has a card.
        for (index, name) in names.enumerated() where index % 3 != 2 {
            let input = renderer.addHost(name)
            for packet in clip.packets(from: 0, to: 1000) {
                input.receive(packet, arrival: TestProgram.moment(Double(packet.timestamp)))
            }
        }
        renderer.advance(to: TestProgram.moment(1200))
        return renderer.newestCanvas
    }

    /// The luma of each pixel of a tile's tag.
    private func tag(_ tile: TileRectangle, on canvas: Canvas) -> [UInt8] {
        (tile.y + tile.height - 44..<tile.y + tile.height).flatMap { y in
            (tile.x..<tile.x + 200).map { x in
                canvas.averageColour(of: PixelRectangle(x: x & ~1, y: y & ~1, width: 2, height: 2)).y
            }
        }
    }

    @Test("V8 Latin, Arabic, Hindi, Chinese, emoji: each name is on its tile or card, all different, in every frame")
    func names() throws {
        let canvas = try canvas(names: Self.names, hasTitles: false)
        try GoldenRecord.writePNG(canvas, "scripts_names")
        let scene = TestProgram.grid(Self.names, width: Self.size.width, height: Self.size.height)
        let tiles = scene.tiles.map(\.rectangle)
        let tags = tiles.map { tag($0, on: canvas) }
        for (name, tag) in zip(Self.names, tags) {
            // Text is lighter than everything behind it.
            #expect(tag.count { $0 > 110 } > 60, "\(name)")
            #expect(TextStyle(size: 20).extent(of: name).missing == 0, "\(name)")
        }
        #expect(Set(tags).count == tags.count)
        #expect(try self.canvas(names: Self.names, hasTitles: false).bytesOfLuma == canvas.bytesOfLuma)
    }

    @Test("a right-to-left lower third and a ticker of all scripts lie over the right tiles")
    func titles() throws {
        let bare = try canvas(names: Self.names, hasTitles: false)
        let decorated = try canvas(names: Self.names, hasTitles: true)
        try GoldenRecord.writePNG(decorated, "scripts_titles")
        let (width, height) = Self.size
        let band = TickerStrip.band(width: width, height: height)
        func isSame(_ area: PixelRectangle) -> Bool {
            bare.averageColour(of: area) == decorated.averageColour(of: area)
        }
        #expect(isSame(PixelRectangle(x: 0, y: 0, width: width, height: height / 2)))
        // Text runs from the right: the strip's right end has some, and so has the panel.
        #expect(!isSame(PixelRectangle(x: 0, y: band.y, width: width, height: band.height)))
        #expect(!isSame(PixelRectangle(x: 64, y: height * 3 / 4, width: 320, height: 60)))
    }
}

extension Canvas {
    /// Means of 4x4 pixel blocks, row by row: enough to distinguish two frames.
    fileprivate var bytesOfLuma: [UInt8] {
        stride(from: 0, to: height, by: 4).flatMap { y in
            stride(from: 0, to: width, by: 4).map { x in
                averageColour(of: PixelRectangle(x: x, y: y, width: 4, height: 4)).y
            }
        }
    }
}
