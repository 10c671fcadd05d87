import Testing

@testable import Codecs

@Suite("Scaling by area") struct AreaScalerTests {
    /// A picture in memory of its own, with bytes past each row that must not be seen.
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

        var planes: PicturePlanes {
            let chroma = bytes + size
            return PicturePlanes(
                y: .init(start: bytes, stride: stride),
                u: .init(start: chroma, stride: stride),
                v: .init(start: chroma + size / 2 / stride * stride, stride: stride)
            )
        }
    }

    /// The mean of the area that pixel (`x`, `y`) of a `width` x `height` picture covers of `plane`.
    private func mean(
        of plane: PicturePlanes.Plane,
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
        var generator = SeededNumbers(seed: 7)
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

    @Test("an even picture stays exactly what it is")
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
