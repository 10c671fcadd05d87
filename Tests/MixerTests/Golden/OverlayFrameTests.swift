import Codecs
import Media
import NIOCore
import Stage
import TestSupport
import Testing

@testable import Mixer

/// Renders all overlays in five scripts and three themes, from the scene to the pixels.
///
/// `overlays.txt` beside this file records for each part its rectangle, the luma of a grid of cells, and the colour of
/// the grid's columns. The fonts are those that an installation includes.
@Suite("Golden frames of overlays", .enabled(if: TestRun.isFull)) struct OverlayFrameTests {
    typealias Script = OverlayTexts.Script

    /// The colours and the background.
    enum Theme: String, CaseIterable {
        /// The default of a room, with an image behind the tiles.
        case standard
        case light
        /// Dark, with a background colour on which light text would be unreadable.
        case coloured
    }

    /// The overlays shown.
    enum Subject: String, CaseIterable {
        /// Names, microphones and badges on video and cards; a logo.
        case tiles
        /// A lower third over a ticker, and a logo in the opposite corner.
        case titles
        case slate
    }

    private static let size = (width: 960, height: 540)
    /// A pixel by which text moves is a twentieth of a cell.
    private static let record = GoldenRecord("overlays.txt", tolerance: 12)

    @Test("V8 L8 L9 names, badges, cards, titles, tickers, logos and slates of every script match the golden frames")
    func everyScript() throws {
        let lines = try Self.lines()
        try Self.record.check(lines)
        // The entries differ by more than the tolerance.
        for (index, line) in lines.enumerated() {
            let others = lines[..<index].filter { Self.record.isAlike(Self.parts(of: $0), Self.parts(of: line)) }
            #expect(others.isEmpty, "\(line)\n\(others)")
        }
    }

    @Test("every character of the texts has a glyph", arguments: Script.allCases)
    func fonts(script: Script) {
        for text in OverlayTexts.of(script).all {
            #expect(TextStyle(size: 24).extent(of: text).missing == 0, "\(text)")
        }
    }

    private static func parts(of line: String) -> String {
        String(line.drop { $0 != ":" })
    }

    private static func lines() throws -> [String] {
        let clips = try [YUVColour.blue, .green].map { try HostClip.plain($0, tone: nil, frameRate: 10) }
        let images = try Images()
        var lines: [String] = []
        for theme in Theme.allCases {
            for subject in Subject.allCases {
                for script in Script.allCases {
                    let scene = scene(subject, theme, OverlayTexts.of(script))
                    let canvas = try renderedCanvas(of: scene, clips, images)
                    let name = "\(script.rawValue) \(theme.rawValue) \(subject.rawValue)"
                    try GoldenRecord.writePNG(canvas, "overlays " + name)
                    lines.append("\(name): " + describe(canvas, scene, subject))
                }
            }
        }
        return lines
    }

    private static func scene(_ subject: Subject, _ theme: Theme, _ texts: OverlayTexts) -> Scene {
        var scene = TestProgram.grid(texts.names, width: size.width, height: size.height)
        scene.transition = 0
        // The first two have video, the others cards; the last is in a strip.
        for index in [1, 3] { scene.tiles[index].isMicOn = false }
        scene.tiles[3].avatar = "asset:avatar"
        scene.tiles[3].isInStrip = true
        switch theme {
        case .standard: scene.decoration.background = "asset:wall"
        case .light: scene.colours = .light
        case .coloured: scene.colours.background = YUVColour(red: 250, green: 210, blue: 60)
        }
        switch subject {
        case .tiles:
            scene.decoration.logo = Logo(asset: "asset:logo", opacity: 0.6, height: 0.15)
        case .titles:
            scene.decoration.lowerThird = LowerThird(title: texts.title, subtitle: texts.subtitle)
            scene.decoration.ticker = Ticker(text: texts.ticker, speed: 0.5)
            scene.decoration.logo = Logo(asset: "asset:logo", corner: .topLeft, height: 0.1)
        case .slate:
            scene.slate = Slate(kind: .startingSoon, text: texts.slate)
        }
        return scene
    }

    /// The files that scenes reference.
    private struct Images {
        let files: [(name: String, bytes: ByteBuffer)]

        init() throws {
            files = [
                ("asset:avatar", try Self.halves(.white, YUVColour(red: 200, green: 30, blue: 160), 120, 120)),
                ("asset:wall", try Self.halves(YUVColour(red: 20, green: 40, blue: 90), .black, 96, 54)),
                ("asset:logo", try Self.halves(.red, .white, 160, 80)),
            ]
        }

        /// Makes an image with one colour above the other, so that its orientation is visible.
        private static func halves(
            _ upper: YUVColour,
            _ lower: YUVColour,
            _ width: Int,
            _ height: Int
        ) throws -> ByteBuffer {
            let canvas = try Canvas(width: width, height: height)
            canvas.fill(canvas.bounds, lower)
            canvas.fill(PixelRectangle(x: 0, y: 0, width: width, height: height / 2), upper)
            return try canvas.png()
        }
    }

    /// Returns the canvas of `scene` 1.5 seconds after the program's beginning.
    private static func renderedCanvas(of scene: Scene, _ clips: [HostClip], _ images: Images) throws -> Canvas {
        let ring = try CanvasRing(width: size.width, height: size.height)
        let renderer = ProgramRenderer(
            configuration: ProgramConfiguration(width: size.width, height: size.height, frameRate: FrameRate(10)),
            ring: ring,
            output: RecordingOutput(ring: ring)
        )
        for (name, bytes) in images.files { renderer.provide(bytes, for: name) }
        renderer.apply(scene)
        for (tile, clip) in zip(scene.tiles, clips) {
            let input = renderer.addHost(tile.participantSID)
            for packet in clip.packets(from: 0, to: 1200) {
                input.receive(packet, arrival: TestProgram.moment(Double(packet.timestamp)))
            }
        }
        renderer.advance(to: TestProgram.moment(1500))
        return renderer.newestCanvas
    }

    // MARK: Recorded parts

    /// A part of the canvas, and its number of cells.
    private struct Part {
        let name: String
        let area: PixelRectangle
        let columns: Int
        let rows: Int
    }

    private static func parts(_ scene: Scene, _ subject: Subject) -> [Part] {
        let (width, height) = size
        switch subject {
        case .tiles:
            let tiles = scene.tiles.enumerated().flatMap { index, tile -> [Part] in
                let tile = tile.rectangle
                let (foot, area) = (36, PixelRectangle(x: tile.x, y: tile.y, width: tile.width, height: tile.height))
                return [
                    Part(name: "tile\(index)", area: area, columns: 8, rows: 5),
                    Part(
                        name: "words\(index)",
                        area: PixelRectangle(x: tile.x + 8, y: area.bottom - foot, width: 200, height: 28),
                        columns: 10,
                        rows: 2
                    ),
                    Part(
                        name: "badge\(index)",
                        area: PixelRectangle(x: area.right - foot, y: area.bottom - foot, width: 28, height: 28),
                        columns: 2,
                        rows: 2
                    ),
                ]
            }
            let logo = PixelRectangle(x: width - 200, y: 0, width: 200, height: 120)
            let left = scene.tiles[0].rectangle.width
            let gap = PixelRectangle(x: left, y: 0, width: scene.tiles[1].rectangle.x - left, height: height)
            return tiles + [
                Part(name: "logo", area: logo, columns: 5, rows: 6), Part(name: "gap", area: gap, columns: 1, rows: 6),
            ]
        case .titles:
            let band = TickerStrip.band(width: width, height: height)
            let texts = PixelRectangle(x: 40, y: band.y - 120, width: 640, height: 120)
            return [
                Part(name: "lower-third", area: texts, columns: 20, rows: 6),
                Part(name: "ticker", area: band, columns: 30, rows: 2),
                Part(
                    name: "logo",
                    area: PixelRectangle(x: 0, y: 0, width: 160, height: 100),
                    columns: 4,
                    rows: 5
                ),
            ]
        case .slate:
            let texts = PixelRectangle(x: 180, y: height / 2 - 60, width: 600, height: 140)
            return [
                Part(
                    name: "canvas",
                    area: PixelRectangle(x: 0, y: 0, width: width, height: height),
                    columns: 8,
                    rows: 6
                ),
                Part(name: "words", area: texts, columns: 20, rows: 5),
            ]
        }
    }

    /// Describes parts separated by spaces: `name@x,y,width,height=`, two digits of luma per cell, four of colour per
    /// column.
    private static func describe(_ canvas: Canvas, _ scene: Scene, _ subject: Subject) -> String {
        parts(scene, subject).map { part in
            let (area, columns, rows) = (part.area, part.columns, part.rows)
            func cell(_ column: Int, _ rows: Range<Int>) -> YUVColour {
                let (left, right) = (area.width * column / columns & ~1, area.width * (column + 1) / columns & ~1)
                let (top, bottom) = (
                    area.height * rows.lowerBound / part.rows & ~1, area.height * rows.upperBound / part.rows & ~1
                )
                return canvas.averageColour(
                    of: PixelRectangle(x: area.x + left, y: area.y + top, width: right - left, height: bottom - top)
                )
            }
            let light = (0..<rows).flatMap { row in (0..<columns).map { cell($0, row..<row + 1).y } }
            let colours = (0..<columns).map { cell($0, 0..<rows) }.flatMap { [$0.u, $0.v] }
            let values = (light + colours).map(GoldenRecord.hex).joined()
            return "\(part.name)@\(area.x),\(area.y),\(area.width),\(area.height)=" + values
        }.joined(separator: " ")
    }
}
