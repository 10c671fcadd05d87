import TestSupport
import Testing

@testable import Codecs

@Suite("Laying overlays over the canvas") struct BlendTests {
    /// A canvas on which no two neighbours are alike.
    private func patterned(width: Int = 128, height: Int = 64, seed: Int = 1) throws -> Canvas {
        let canvas = try Canvas(width: width, height: height)
        var numbers = SeededGenerator(seed: seed)
        for y in 0..<height {
            for x in 0..<width {
                canvas.planes.y.at(x: x, y: y).pointee = UInt8.random(in: 16...235, using: &numbers)
                guard x % 2 == 0, y % 2 == 0 else { continue }
                canvas.planes.u.at(x: x / 2, y: y / 2).pointee = UInt8.random(in: 16...240, using: &numbers)
                canvas.planes.v.at(x: x / 2, y: y / 2).pointee = UInt8.random(in: 16...240, using: &numbers)
            }
        }
        return canvas
    }

    /// An overlay with clear, half clear and opaque parts of any colour.
    private func overlay(width: Int = 60, height: Int = 36, seed: Int = 7) throws -> OverlayImage {
        var numbers = SeededGenerator(seed: seed)
        var drawing = Drawing(width: width, height: height)
        for _ in 0..<12 {
            func place(_ span: Int) -> Double { Double(Int.random(in: -4..<span, using: &numbers)) + 0.3 }
            func part() -> UInt8 { UInt8.random(in: 0...255, using: &numbers) }
            let box = DrawingBox(x: place(width), y: place(height), width: place(30) + 6, height: place(20) + 6)
            let opacity = [1, 1, 0.4, 0.7][Int.random(in: 0..<4, using: &numbers)]
            let colour = RGBAColour(red: part(), green: part(), blue: part(), opacity: opacity)
            drawing.marks.append(.box(box, cornerRadius: 5, colour))
        }
        return try drawing.render()
    }

    /// Every sample of the canvas, by the formula in plain arithmetic.
    private func reference(_ overlay: OverlayImage, x: Int, y: Int, opacity: Int, over canvas: Canvas) -> [[Int]] {
        func sample(_ share: UInt8, _ alpha: UInt8, _ below: UInt8, most: Int) -> Int {
            let (share, alpha) = (Int(share), Int(alpha))
            let (part, hidden) = ((share * opacity + 128) / 256, (alpha * opacity + 128) / 256)
            let rest = (2 * Int(below) * (255 - hidden) + 255) / 510
            return min(max(part + rest, 16), most)
        }
        func plane(
            _ width: Int,
            _ height: Int,
            _ below: FramePlanes.Plane,
            _ share: FramePlanes.Plane,
            _ alpha: FramePlanes.Plane,
            at: (Int, Int),
            size: (Int, Int),
            most: Int
        ) -> [Int] {
            (0..<height).flatMap { row in
                (0..<width).map { column in
                    let old = below.at(x: column, y: row).pointee
                    let (i, j) = (column - at.0, row - at.1)
                    guard (0..<size.0).contains(i), (0..<size.1).contains(j) else { return Int(old) }
                    return sample(share.at(x: i, y: j).pointee, alpha.at(x: i, y: j).pointee, old, most: most)
                }
            }
        }
        let (width, height) = (canvas.width, canvas.height)
        let (x, y) = (x & ~1, y & ~1)
        let size = (overlay.width, overlay.height)
        let half = (overlay.width / 2, overlay.height / 2)
        let chroma = overlay.chromaAlpha
        let planes = canvas.planes
        return [
            plane(width, height, planes.y, overlay.planes.y, overlay.alpha, at: (x, y), size: size, most: 235),
            plane(width / 2, height / 2, planes.u, overlay.planes.u, chroma, at: (x / 2, y / 2), size: half, most: 240),
            plane(width / 2, height / 2, planes.v, overlay.planes.v, chroma, at: (x / 2, y / 2), size: half, most: 240),
        ]
    }

    private func samples(of canvas: Canvas) -> [[Int]] {
        let (width, height) = (canvas.width, canvas.height)
        return [(canvas.planes.y, 1), (canvas.planes.u, 2), (canvas.planes.v, 2)].map { plane, part in
            (0..<height / part).flatMap { row in
                (0..<width / part).map { Int(plane.at(x: $0, y: row).pointee) }
            }
        }
    }

    @Test(
        "every sample is as the formula says, at any place and opacity",
        arguments: [(0, 0), (10, 6), (33, 11), (-7, -5), (100, 50), (-200, 0), (0, 900), (68, 28), (Int.max, Int.min)],
        [1.0, 0.5, 0.003, 0]
    )
    func formula(place: (Int, Int), opacity: Double) throws {
        let overlay = try overlay()
        let canvas = try patterned()
        let isFar = abs(max(place.0, -1000)) > 1000
        let expected =
            isFar
            ? samples(of: canvas)
            : reference(overlay, x: place.0, y: place.1, opacity: Int(opacity * 256 + 0.5), over: canvas)
        canvas.blend(overlay, x: place.0, y: place.1, opacity: opacity)
        #expect(samples(of: canvas) == expected)
    }

    @Test("odd sizes and shapes of overlays all follow the formula", arguments: 1...12)
    func sizes(seed: Int) throws {
        let overlay = try overlay(width: 2 * seed * seed, height: 4 * seed, seed: seed)
        let canvas = try patterned(seed: seed)
        let expected = reference(overlay, x: seed, y: 3, opacity: 256, over: canvas)
        canvas.blend(overlay, x: seed, y: 3)
        #expect(samples(of: canvas) == expected)
    }

    @Test("what lies outside the window is not touched")
    func window() throws {
        let overlay = try overlay()
        let whole = try patterned()
        let before = try patterned()
        let canvas = try patterned()
        whole.blend(overlay, x: 20, y: 10)
        let window = PixelRectangle(x: 30, y: 20, width: 22, height: 14)
        canvas.blend(overlay, x: 20, y: 10, within: window)
        for y in 0..<64 {
            for x in 0..<128 {
                let isInside = (30..<52).contains(x) && (20..<34).contains(y)
                #expect(canvas.colour(x: x, y: y) == (isInside ? whole : before).colour(x: x, y: y))
            }
        }
    }

    @Test("black and white stay in the program's range, and clear pixels change nothing")
    func range() throws {
        for (colour, expected) in [(RGBAColour.white, YUVColour(y: 235, u: 128, v: 128)), (.black, .black)] {
            for opacity in stride(from: 0.0, through: 1, by: 0.05) {
                let canvas = try Canvas(width: 64, height: 16)
                canvas.fill(canvas.bounds, expected)
                let box = Drawing.Mark.box(DrawingBox(x: 3, y: 1, width: 40, height: 9), cornerRadius: 4, colour)
                canvas.blend(try Drawing(width: 48, height: 12, marks: [box]).render(), x: 0, y: 0, opacity: opacity)
                let now = canvas.averageColour(of: canvas.bounds)
                #expect(abs(Int(now.y) - Int(expected.y)) <= 1)
                #expect(abs(Int(now.u) - 128) <= 1 && abs(Int(now.v) - 128) <= 1)
                #expect((0..<64).allSatisfy { (16...235).contains(canvas.luma(x: $0, y: 5)) })
            }
        }
    }

    @Test("a half clear colour is the mean of both, and its edge has no fringe of another colour")
    func mean() throws {
        let canvas = try Canvas(width: 64, height: 64)
        canvas.fill(canvas.bounds, YUVColour(red: 200, green: 40, blue: 40))
        let half = RGBAColour(red: 40, green: 40, blue: 200, opacity: 0.5)
        let marks = [Drawing.Mark.box(DrawingBox(x: 9, y: 9, width: 30, height: 30), cornerRadius: 0, half)]
        canvas.blend(try Drawing(width: 48, height: 48, marks: marks).render(), x: 0, y: 0)
        #expect(distance(canvas.colour(x: 20, y: 20), red: 120, green: 40, blue: 120) <= 3)
        // The box begins in the middle of a chroma sample: its colour lies between the two.
        let edge = canvas.colour(x: 8, y: 20).rgb
        #expect((110...205).contains(edge.red) && (35...160).contains(edge.blue))
    }

    @Test("what nothing is seen through becomes a frame like a host's")
    func wholeImage() throws {
        let blue = RGBAColour(red: 20, green: 60, blue: 220)
        let drawing = Drawing(width: 64, height: 32)
        let marks = [Drawing.Mark.box(drawing.bounds, cornerRadius: 0, blue)]
        let overlay = try Drawing(width: 64, height: 32, marks: marks).render()
        #expect(overlay.isOpaque)
        let frame = try overlay.makeFrame()
        #expect(frame.width == 64 && frame.height == 32 && frame.matrix == .bt709 && !frame.isFullRange)
        let canvas = try Canvas(width: 128, height: 64)
        try canvas.draw(frame, in: canvas.bounds)
        #expect(distance(canvas.averageColour(of: canvas.bounds), red: 20, green: 60, blue: 220) <= 3)
        #expect(!(try self.overlay().isOpaque))
    }

    @Test("fading and dimming mix with weights, within the rectangle and nowhere else")
    func fading() throws {
        let (canvas, other) = (try patterned(), try patterned(seed: 2))
        let before = samples(of: canvas)[0]
        let after = samples(of: other)[0]
        canvas.fade(PixelRectangle(x: 16, y: 8, width: 200, height: 20), from: other, amount: 0.25)
        let mixed = samples(of: canvas)[0]
        for y in 0..<64 {
            for x in 0..<128 {
                let at = y * 128 + x
                let isInside = x >= 16 && (8..<28).contains(y)
                let expected = isInside ? (before[at] * 192 + after[at] * 64 + 128) / 256 : before[at]
                #expect(abs(mixed[at] - expected) <= (isInside ? 1 : 0))
            }
        }
        canvas.fade(canvas.bounds, from: other, amount: 1)
        #expect(samples(of: canvas) == samples(of: other))
        canvas.fade(canvas.bounds, from: try patterned(), amount: 0)
        #expect(samples(of: canvas) == samples(of: other))
        canvas.fill(canvas.bounds, YUVColour(y: 216, u: 200, v: 40))
        canvas.dim(PixelRectangle(x: 0, y: 0, width: 64, height: 64), amount: 0.5)
        #expect(canvas.colour(x: 10, y: 10) == YUVColour(y: 116, u: 164, v: 84))
        #expect(canvas.colour(x: 64, y: 10) == YUVColour(y: 216, u: 200, v: 40))
        canvas.dim(canvas.bounds, amount: 1)
        #expect(canvas.averageColour(of: canvas.bounds) == .black)
        canvas.fade(canvas.bounds, to: YUVColour(y: 235, u: 128, v: 128), amount: 0.5)
        #expect(abs(Int(canvas.luma(x: 3, y: 3)) - 126) <= 1)
    }
}
