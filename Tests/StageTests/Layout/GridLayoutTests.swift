import Stage
import Testing

@Suite("Grid layout")
struct GridLayoutTests {
    private func rectangles(_ count: Int, _ width: Int = 1280, _ height: Int = 720) -> [[Int]] {
        GridLayout.rectangles(count: count, width: width, height: height).map { [$0.x, $0.y, $0.width, $0.height] }
    }

    @Test("D27 two and four hosts divide 1280x720 as agreed")
    func fewHosts() {
        #expect(rectangles(1) == [[0, 0, 1280, 720]])
        #expect(rectangles(2) == [[0, 0, 636, 720], [644, 0, 636, 720]])
        #expect(
            rectangles(4) == [[0, 0, 636, 356], [644, 0, 636, 356], [0, 364, 636, 356], [644, 364, 636, 356]]
        )
    }

    @Test("D27 an incomplete last row is centred")
    func incompleteRows() {
        #expect(
            rectangles(5) == [
                [2, 0, 420, 356], [430, 0, 420, 356], [858, 0, 420, 356], [216, 364, 420, 356], [644, 364, 420, 356],
            ]
        )
        let seven = rectangles(7)
        #expect(seven.allSatisfy { $0[2] == 314 && $0[3] == 356 })
        #expect(seven[4...].map { [$0[0], $0[1]] } == [[160, 364], [482, 364], [804, 364]])
    }

    @Test("D27 twelve hosts fill four columns and three rows")
    func twelveHosts() {
        let twelve = rectangles(12)
        #expect(twelve.allSatisfy { $0[2] == 314 && $0[3] == 234 })
        #expect(twelve[..<4].map { $0[0] } == [0, 322, 644, 966])
        #expect([twelve[0][1], twelve[4][1], twelve[8][1]] == [0, 242, 484])
        #expect(rectangles(13) == twelve)
    }

    @Test("D27 on any canvas all numbers are even, and no tile touches another or the outside")
    func everyCanvas() {
        var generator = SeededGenerator(seed: 27)
        for _ in 0..<500 {
            let width = Int.random(in: 80...960, using: &generator) * 2
            let height = Int.random(in: 45...960, using: &generator) * 2
            let count = Int.random(in: 0...14, using: &generator)
            let tiles = GridLayout.rectangles(count: count, width: width, height: height)
            #expect(tiles.count == min(count, 12))
            for tile in tiles {
                #expect([tile.x, tile.y, tile.width, tile.height].allSatisfy { $0 % 2 == 0 && $0 >= 0 })
                #expect(tile.x + tile.width <= width && tile.y + tile.height <= height)
                #expect(tile.width > 0 && tile.height > 0)
            }
            for (index, tile) in tiles.enumerated() {
                for other in tiles[(index + 1)...] {
                    let apart =
                        tile.x + tile.width + GridLayout.gap <= other.x
                        || other.x + other.width + GridLayout.gap <= tile.x
                        || tile.y + tile.height + GridLayout.gap <= other.y
                        || other.y + other.height + GridLayout.gap <= tile.y
                    #expect(apart)
                }
            }
        }
    }
}
