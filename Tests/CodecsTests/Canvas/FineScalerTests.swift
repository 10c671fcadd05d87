import Testing

@testable import Codecs

@Suite("Halves and thirds of pictures") struct FineScalerTests {
    /// A canvas of which every sample is made by `sample`.
    private func canvas(_ width: Int, _ height: Int, _ sample: (Int, Int) -> UInt8) throws -> Canvas {
        let canvas = try Canvas(width: width, height: height)
        for (plane, width, height) in planes(of: canvas) {
            for y in 0..<height { for x in 0..<width { plane.at(x: x, y: y).pointee = sample(x, y) } }
        }
        return canvas
    }

    private func planes(of canvas: Canvas) -> [(PicturePlanes.Plane, Int, Int)] {
        let planes = canvas.ownPlanes
        return [
            (planes.y, canvas.width, canvas.height), (planes.u, canvas.width / 2, canvas.height / 2),
            (planes.v, canvas.width / 2, canvas.height / 2),
        ]
    }

    private func smaller(
        _ source: Canvas,
        _ divisor: FineScaler.Divisor,
        lanes: Int = 64,
        lots: [Int] = []
    ) throws -> Canvas {
        let (width, height) = (source.width / divisor.rawValue, source.height / divisor.rawValue)
        let target = try Canvas(width: width, height: height)
        let scaler = FineScaler(lanes: lanes)
        var begin = 0
        for end in lots + [height] {
            scaler.scale(
                source.planes,
                source.width,
                source.height,
                by: divisor,
                to: target.ownPlanes,
                rows: begin..<end,
                isNear: begin > 0
            )
            begin = end
        }
        return target
    }

    @Test(
        "every sample is made of those about it, with vector instructions of either width and without, whole or in lots",
        arguments: [FineScaler.Divisor.two, .three]
    )
    func samples(divisor: FineScaler.Divisor) throws {
        var random = SeededNumbers(seed: 11)
        let parts: [Double] = divisor == .two ? [-9, 17, 56, 56, 17, -9] : [-8, 0, 16, 35, 42, 35, 16, 0, -8]
        let weights = parts.map { $0 / 128 }
        #expect(parts.reduce(0, +) == 128 && parts.count == divisor.span)
        for (width, height) in [(64, 16), (66, 18), (130, 32), (402, 20)] {
            // Much white, so that sums run over.
            let source = try canvas(width * divisor.rawValue, height * divisor.rawValue) { _, _ in
                Bool.random(using: &random) ? 255 : UInt8.random(in: 0...255, using: &random)
            }
            let target = try smaller(source, divisor)
            for lanes in [1, 32] {
                #expect(try smaller(source, divisor, lanes: lanes).fingerprint == target.fingerprint, "\(lanes) lanes")
            }
            #expect(try smaller(source, divisor, lots: [2, 8, 10]).fingerprint == target.fingerprint)
            for ((plane, width, height), (made, _, _)) in zip(planes(of: source), planes(of: target)) {
                func row(_ y: Int, _ x: Int) -> Double {
                    let sum = weights.indices.reduce(0.0) { sum, tap in
                        let place = min(max(divisor.rawValue * y - divisor.beyond + tap, 0), height - 1)
                        return sum + weights[tap] * Double(plane.at(x: min(max(x, 0), width - 1), y: place).pointee)
                    }
                    return min(max((sum + 0.5).rounded(.down), 0), 255)
                }
                for y in 0..<height / divisor.rawValue {
                    for x in 0..<width / divisor.rawValue {
                        let sum = weights.indices.reduce(0.0) {
                            $0 + weights[$1] * row(y, divisor.rawValue * x - divisor.beyond + $1)
                        }
                        let wanted = min(max((sum + 0.5).rounded(.down), 0), 255)
                        #expect(Double(made.at(x: x, y: y).pointee) == wanted, "\(x),\(y) of \(width)x\(height)")
                    }
                }
            }
        }
    }

    @Test("an even picture stays exactly what it is, to its edges", arguments: [FineScaler.Divisor.two, .three])
    func even(divisor: FineScaler.Divisor) throws {
        for value in [UInt8(0), 16, 201, 255] {
            let target = try smaller(try canvas(192, 48) { _, _ in value }, divisor)
            for (plane, width, height) in planes(of: target) {
                for y in 0..<height { for x in 0..<width { #expect(plane.at(x: x, y: y).pointee == value) } }
            }
        }
    }

    @Test("lines too fine for the smaller picture become gray, and those that are not stay")
    func detail() throws {
        let fine = try smaller(try canvas(256, 64) { x, _ in x % 2 == 0 ? 16 : 235 }, .two)
        #expect((120...131).contains(fine.luma(x: 40, y: 20)))
        // One period in ten samples.
        let wave = try smaller(try canvas(320, 64) { x, _ in x % 10 < 5 ? 80 : 160 }, .two)
        let lumas = (60..<100).map { Int(wave.luma(x: $0, y: 16)) }
        #expect((lumas.max() ?? 0) - (lumas.min() ?? 0) >= 80)
    }

    @Test("it takes exact halves and thirds alone, and says how far rows reach")
    func limits() {
        #expect(FineScaler.divisor(1272, 636, 712, 356) == .two && FineScaler.divisor(1260, 420, 702, 234) == .three)
        #expect(FineScaler.divisor(1272, 636, 710, 356) == nil && FineScaler.divisor(1274, 637, 712, 356) == nil)
        #expect(FineScaler.divisor(124, 62, 64, 32) == nil && FineScaler.divisor(640, 640, 360, 360) == nil)
        #expect(FineScaler.divisor(1256, 314, 936, 234) == nil)
        #expect([0, 4, 7, 8, 12, 64].map { FineScaler.reach(of: $0, .two) } == [0, 0, 0, 2, 4, 30])
        #expect([0, 4, 11, 12, 18, 64].map { FineScaler.reach(of: $0, .three) } == [0, 0, 0, 2, 4, 18])
    }
}
