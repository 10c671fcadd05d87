import Testing

@testable import Codecs

@Suite("Halving pictures") struct HalfScalerTests {
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

    private func halved(_ source: Canvas, isPlain: Bool = false, lots: [Int] = []) throws -> Canvas {
        let (width, height) = (source.width / 2, source.height / 2)
        let target = try Canvas(width: width, height: height)
        let scaler = HalfScaler(isPlain: isPlain)
        var begin = 0
        for end in lots + [height] {
            scaler.scale(
                source.planes,
                source.width,
                source.height,
                to: target.ownPlanes,
                rows: begin..<end,
                isNear: begin > 0
            )
            begin = end
        }
        return target
    }

    @Test("every sample is made of the six by six about it, with vector instructions and without, whole or in lots")
    func samples() throws {
        var random = SeededNumbers(seed: 11)
        let weights = [-9.0, 17, 56, 56, 17, -9].map { $0 / 128 }
        for (width, height) in [(128, 32), (132, 24), (260, 64)] {
            // Much white, so that sums run over.
            let source = try canvas(width, height) { _, _ in
                Bool.random(using: &random) ? 255 : UInt8.random(in: 0...255, using: &random)
            }
            let target = try halved(source)
            #expect(try halved(source, isPlain: true).fingerprint == target.fingerprint)
            #expect(try halved(source, lots: [2, 8, 10]).fingerprint == target.fingerprint)
            for ((plane, width, height), (made, _, _)) in zip(planes(of: source), planes(of: target)) {
                func row(_ y: Int, _ x: Int) -> Double {
                    let sum = (0..<6).reduce(0.0) { sum, tap in
                        let place = min(max(2 * y - 2 + tap, 0), height - 1)
                        return sum + weights[tap] * Double(plane.at(x: min(max(x, 0), width - 1), y: place).pointee)
                    }
                    return min(max((sum + 0.5).rounded(.down), 0), 255)
                }
                for y in 0..<height / 2 {
                    for x in 0..<width / 2 {
                        let sum = (0..<6).reduce(0.0) { $0 + weights[$1] * row(y, 2 * x - 2 + $1) }
                        let wanted = min(max((sum + 0.5).rounded(.down), 0), 255)
                        #expect(Double(made.at(x: x, y: y).pointee) == wanted, "\(x),\(y) of \(width)x\(height)")
                    }
                }
            }
        }
    }

    @Test("an even picture stays exactly what it is, to its edges")
    func even() throws {
        for value in [UInt8(0), 16, 201, 255] {
            let target = try halved(try canvas(160, 40) { _, _ in value })
            for (plane, width, height) in planes(of: target) {
                for y in 0..<height { for x in 0..<width { #expect(plane.at(x: x, y: y).pointee == value) } }
            }
        }
    }

    @Test("lines too fine for the smaller picture become gray, and those that are not stay sharper than means of two")
    func detail() throws {
        let fine = try halved(try canvas(256, 64) { x, _ in x % 2 == 0 ? 16 : 235 })
        #expect((120...131).contains(fine.luma(x: 40, y: 20)))
        // One period in ten samples.
        let wave = try halved(try canvas(320, 64) { x, _ in x % 10 < 5 ? 80 : 160 })
        let lumas = (60..<100).map { Int(wave.luma(x: $0, y: 16)) }
        #expect((lumas.max() ?? 0) - (lumas.min() ?? 0) >= 80)
    }

    @Test("it takes exact halves alone, and says how far rows reach")
    func limits() {
        #expect(HalfScaler.takes(1272, 636, 712, 356) && HalfScaler.takes(128, 64, 64, 32))
        #expect(!HalfScaler.takes(1272, 636, 710, 356) && !HalfScaler.takes(1274, 637, 712, 356))
        #expect(!HalfScaler.takes(124, 62, 64, 32) && !HalfScaler.takes(640, 640, 360, 360))
        #expect([0, 4, 7, 8, 12, 64].map(HalfScaler.reach) == [0, 0, 0, 2, 4, 30])
    }
}
