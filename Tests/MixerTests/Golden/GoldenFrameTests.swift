import Codecs
import Media
import NIOCore
import Stage
import TestSupport
import Testing

@testable import Mixer

/// Renders every layout of every number of hosts, from the layout rules to the pixels.
///
/// `frames.txt` beside this file records each tile's rectangle, the luma of its nine parts, and the colour in its
/// middle.
@Suite("Golden frames", .enabled(if: TestRun.isFull)) struct GoldenFrameTests {
    /// A variation of the hosts.
    enum Variant: String, CaseIterable {
        case plain
        case share
        case pinned
        case cameraOff = "camera-off"
    }

    private static let record = GoldenRecord("frames.txt", tolerance: 6)

    @Test("D26 D27 D28 D29 L7 L8 L10 V24 every layout of 1 to 12 hosts matches the golden frames")
    func everyLayout() throws {
        let (cameras, screen) = try GoldenRenderer.clips()
        var lines: [String] = []
        for (width, height) in [(640, 360), (360, 640)] {
            let renderer = try GoldenRenderer(width: width, height: height, cameras: cameras, screen: screen)
            for kind in LayoutSettings.Kind.allCases {
                for count in 1...12 {
                    for variant in Variant.allCases {
                        let scene = Self.scene(kind, count, variant, width: width, height: height)
                        let canvas = renderer.renderedCanvas(of: scene)
                        let name = "\(kind.rawValue) \(width)x\(height) \(count) \(variant.rawValue)"
                        try GoldenRecord.writePNG(canvas, name)
                        lines.append("\(name): " + Self.describe(canvas, scene))
                    }
                }
            }
        }
        try Self.record.check(lines)
    }

    /// Returns the scene of a room with these hosts.
    private static func scene(
        _ kind: LayoutSettings.Kind,
        _ count: Int,
        _ variant: Variant,
        width: Int,
        height: Int
    ) -> Scene {
        let special = min(count - 1, 1)
        let hosts = GoldenRenderer.names.prefix(count).enumerated().map { index, name in
            var host = LayoutHost(sid: name, label: name.uppercased(), hasCamera: true, isMicOn: true)
            if index == special {
                host.hasScreen = variant == .share
                host.pin = variant == .pinned ? .camera : nil
                host.hasCamera = variant != .cameraOff
            }
            return host
        }
        var settings = LayoutSettings(kind: kind)
        if variant == .pinned { settings.priority = .pin }
        settings.gridSize = 12
        let layout = LayoutPlanner.preview(settings: settings, width: width, height: height, hosts: hosts)
        let tiles = layout.tiles.map { tile in
            var tile = tile
            if tile.source == .screen { tile.participantSID += ".screen" }
            return tile
        }
        return Scene(tiles: tiles, decoration: Decoration(showsNames: false, showsMicrophones: false))
    }

    /// Describes tiles separated by spaces: `x,y,width,height=`, nine times two digits of luma, and six of the middle's
    /// colour.
    private static func describe(_ canvas: Canvas, _ scene: Scene) -> String {
        let plan = TilePlan(scene: scene, width: canvas.width, height: canvas.height)
        return plan.placements.map { placement in
            let area = placement.rectangle
            var parts = ""
            for row in 0..<3 {
                for column in 0..<3 {
                    let part = PixelRectangle(
                        x: area.x + area.width * column / 3,
                        y: area.y + area.height * row / 3,
                        width: area.width / 3,
                        height: area.height / 3
                    )
                    parts += GoldenRecord.hex(canvas.averageColour(of: part).y)
                }
            }
            let middle = PixelRectangle(
                x: area.x + area.width * 2 / 5,
                y: area.y + area.height * 2 / 5,
                width: area.width / 5,
                height: area.height / 5
            )
            let colour = canvas.averageColour(of: middle)
            let position = "\(area.x),\(area.y),\(area.width),\(area.height)"
            return position + "=" + parts + [colour.y, colour.u, colour.v].map(GoldenRecord.hex).joined()
        }.joined(separator: " ")
    }
}
