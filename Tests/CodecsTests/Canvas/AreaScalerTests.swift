import TestSupport
import Testing

@testable import Codecs

@Suite("Scaling by area") struct AreaScalerTests {
    /// A frame in memory of its own, with bytes past each row that must not be seen.
    private final class Memory {
        let width: Int
        let height: Int
        private let bytes: UnsafeMutablePointer<UInt8>
        private let stride: Int
        private let size: Int

        init(width: Int, height: Int, fill: () -> UInt8) {
            (self.width, self.height) = (width, height)
            stride = width + 24
            size = stride * height
            bytes = .allocate(capacity: 2 * size)
            for index in 0..<2 * size { bytes[index] = fill() }
        }

        deinit { bytes.deallocate() }

        var planes: FramePlanes {
            let chroma = bytes + size
            return FramePlanes(
                y: .init(start: bytes, stride: stride),
                u: .init(start: chroma, stride: stride),
                v: .init(start: chroma + size / 2 / stride * stride, stride: stride)
            )
        }
    }

    /// The mean of the area that pixel (`x`, `y`) of a `width` x `height` frame covers of `plane`.
    private func mean(
        of plane: FramePlanes.Plane,
        _ from: (width: Int, height: Int),
        _ to: (width: Int, height: Int),
        x: Int,
        y: Int
    ) -> Double {
        func shares(_ index: Int, _ source: Int, _ target: Int) -> [(Int, Double)] {
            let (begin, end) = (Double(index * source) / Double(target), Double((index + 1) * source) / Double(target))
            return (Int(begin)..<source).prefix { Double($0) < end }.map { place in
                (place, (min(Double(place + 1), end) - max(Double(place), begin)) / (end - begin))
            }
        }
        var sum = 0.0
        for (row, rowShare) in shares(y, from.height, to.height) {
            for (column, share) in shares(x, from.width, to.width) {
                sum += Double(plane.at(x: column, y: row).pointee) * rowShare * share
            }
        }
        return sum
    }

    @Test(
        "every sample is the mean of what it covers, with vector instructions and without, and nothing else is written",
        arguments: [
            (96, 72, 32, 24), (96, 72, 64, 48), (94, 71, 32, 24), (128, 96, 126, 94), (127, 95, 48, 36),
            (120, 90, 120, 60), (120, 90, 80, 90), (64, 48, 46, 34), (33, 20, 12, 8),
        ]
    )
    func means(width: Int, height: Int, targetWidth: Int, targetHeight: Int) {
        var generator = SeededGenerator(seed: 7)
        let source = Memory(width: width, height: height) { UInt8.random(in: 0...255, using: &generator) }
        var made: [Memory] = []
        #expect(AreaScaler.takes(width, targetWidth, height, targetHeight))
        for isPlain in [false, true] {
            let target = Memory(width: targetWidth, height: targetHeight) { 77 }
            var scaler = AreaScaler(isPlain: isPlain)
            scaler.scale(source.planes, width, height, to: target.planes, targetWidth, targetHeight)
            made.append(target)
        }
        var worst = 0.0
        let (from, to) = ((width, height), (targetWidth, targetHeight))
        for y in 0..<targetHeight {
            for x in 0..<targetWidth {
                let wanted = mean(of: source.planes.y, from, to, x: x, y: y)
                worst = max(worst, abs(Double(made[0].planes.y.at(x: x, y: y).pointee) - wanted))
                #expect(made[0].planes.y.at(x: x, y: y).pointee == made[1].planes.y.at(x: x, y: y).pointee)
            }
            #expect(made.allSatisfy { $0.planes.y.at(x: targetWidth, y: y).pointee == 77 })
        }
        // Two roundings, and weights in 128ths.
        #expect(worst < 4)
        let halfFrom = ((width + 1) / 2, (height + 1) / 2)
        let halfTo = (targetWidth / 2, targetHeight / 2)
        for y in 0..<targetHeight / 2 {
            for x in 0..<targetWidth / 2 {
                let wanted = mean(of: source.planes.u, halfFrom, halfTo, x: x, y: y)
                #expect(abs(Double(made[0].planes.u.at(x: x, y: y).pointee) - wanted) < 4)
                #expect(made[0].planes.v.at(x: x, y: y).pointee == made[1].planes.v.at(x: x, y: y).pointee)
            }
            #expect(made.allSatisfy { $0.planes.u.at(x: targetWidth / 2, y: y).pointee == 77 })
        }
    }

    @Test("an even frame stays exactly what it is")
    func even() {
        let source = Memory(width: 126, height: 70) { 201 }
        let target = Memory(width: 84, height: 50) { 0 }
        var scaler = AreaScaler()
        scaler.scale(source.planes, 126, 70, to: target.planes, 84, 50)
        for y in 0..<50 { for x in 0..<84 { #expect(target.planes.y.at(x: x, y: y).pointee == 201) } }
    }

    @Test("what it does not take goes another way")
    func limits() {
        #expect(!AreaScaler.takes(1280, 1282, 720, 720) && !AreaScaler.takes(1280, 640, 720, 722))
        #expect(!AreaScaler.takes(1282, 427, 720, 240) && !AreaScaler.takes(30, 20, 30, 20))
        #expect(AreaScaler.takes(1260, 420, 702, 234) && AreaScaler.takes(1920, 1280, 1080, 720))
    }
}

@Suite("Halves and thirds of frames") struct FineScalerTests {
    /// A canvas of which every sample is made by `sample`.
    private func canvas(_ width: Int, _ height: Int, _ sample: (Int, Int) -> UInt8) throws -> Canvas {
        let canvas = try Canvas(width: width, height: height)
        for (plane, width, height) in planes(of: canvas) {
            for y in 0..<height { for x in 0..<width { plane.at(x: x, y: y).pointee = sample(x, y) } }
        }
        return canvas
    }

    private func planes(of canvas: Canvas) -> [(FramePlanes.Plane, Int, Int)] {
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
                isInCache: begin > 0
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
        var random = SeededGenerator(seed: 11)
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

    @Test("an even frame stays exactly what it is, to its edges", arguments: [FineScaler.Divisor.two, .three])
    func even(divisor: FineScaler.Divisor) throws {
        for value in [UInt8(0), 16, 201, 255] {
            let target = try smaller(try canvas(192, 48) { _, _ in value }, divisor)
            for (plane, width, height) in planes(of: target) {
                for y in 0..<height { for x in 0..<width { #expect(plane.at(x: x, y: y).pointee == value) } }
            }
        }
    }

    @Test("lines too fine for the smaller frame become gray, and those that are not stay")
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
