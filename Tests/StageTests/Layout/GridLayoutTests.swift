import Stage
import TestSupport
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

@Suite("Grid geometry")
struct GridGeometryTests {
    /// Rows by columns in portrait; landscape is the same turned.
    static let table: [(count: Int, rows: Int, columns: Int)] = [
        (0, 0, 0), (1, 1, 1), (2, 2, 1), (3, 3, 1), (4, 2, 2), (5, 3, 2), (6, 3, 2), (7, 4, 2), (8, 4, 2), (9, 3, 3),
        (10, 4, 3), (11, 4, 3), (12, 4, 3), (13, 4, 3),
    ]

    @Test("D25 a pad's grid has the rows and columns of the table, turned in landscape", arguments: table)
    func pad(row: (count: Int, rows: Int, columns: Int)) {
        let portrait = GridGeometry(count: row.count, orientation: .portrait)
        let landscape = GridGeometry(count: row.count, orientation: .landscape)
        #expect(portrait == GridGeometry(rows: row.rows, columns: row.columns))
        #expect(landscape == GridGeometry(rows: row.columns, columns: row.rows))
    }

    @Test("D25 a phone never shows more than six", arguments: 6...13)
    func phone(count: Int) {
        #expect(GridGeometry(count: count, orientation: .portrait, idiom: .phone) == GridGeometry(rows: 3, columns: 2))
        #expect(GridGeometry(count: count, orientation: .landscape, idiom: .phone) == GridGeometry(rows: 2, columns: 3))
    }
}

@Suite("Layouts with a large tile, and portrait")
struct LayoutGeometryTests {
    private func numbers(_ rectangles: [TileRectangle]) -> [[Int]] {
        rectangles.map { [$0.x, $0.y, $0.width, $0.height] }
    }

    private func sidebar(_ count: Int, _ width: Int = 1280, _ height: Int = 720) -> [[Int]] {
        numbers(SidebarLayout.rectangles(count: count, width: width, height: height))
    }

    private func strip(_ hosts: Int, of size: Int, _ width: Int = 1280, _ height: Int = 720) -> [[Int]] {
        let all = SidebarLayout.rectangles(count: hosts + 1, width: width, height: height, stripSize: size)
        return numbers(Array(all.dropFirst()))
    }

    private func presentation(_ count: Int, _ width: Int = 1280, _ height: Int = 720) -> [[Int]] {
        numbers(PresentationLayout.rectangles(count: count, width: width, height: height))
    }

    private func grid(_ count: Int, _ width: Int, _ height: Int, _ orientation: Orientation? = nil) -> [[Int]] {
        numbers(GridLayout.rectangles(count: count, width: width, height: height, orientation: orientation))
    }

    @Test("D26 D27 a portrait canvas has the grid of a pad in portrait")
    func portraitGrid() {
        #expect(grid(1, 720, 1280) == [[0, 0, 720, 1280]])
        #expect(grid(2, 720, 1280) == [[0, 0, 720, 636], [0, 644, 720, 636]])
        #expect(
            grid(5, 720, 1280) == [
                [0, 2, 356, 420], [364, 2, 356, 420], [0, 430, 356, 420], [364, 430, 356, 420], [182, 858, 356, 420],
            ]
        )
        let seven = grid(7, 720, 1280)
        #expect(seven.allSatisfy { $0[2] == 356 && $0[3] == 314 })
        #expect(seven[6] == [182, 966, 356, 314])
        let twelve = grid(12, 720, 1280)
        #expect(twelve.allSatisfy { $0[2] == 234 && $0[3] == 314 })
        #expect(twelve[..<3].map { $0[0] } == [0, 242, 484])
        #expect(stride(from: 0, to: 12, by: 3).map { twelve[$0][1] } == [0, 322, 644, 966])
    }

    @Test("D26 an orientation that is asked for is used on any canvas")
    func askedOrientation() {
        #expect(grid(2, 1280, 720, .portrait) == [[0, 0, 1280, 356], [0, 364, 1280, 356]])
        #expect(grid(2, 720, 1280, .landscape) == [[0, 0, 356, 1280], [364, 0, 356, 1280]])
    }

    @Test("L10 Q7 below the large tile is a strip with places for four")
    func landscapeStrip() {
        #expect(sidebar(0) == [])
        #expect(sidebar(1) == [[0, 0, 1280, 720]])
        #expect(sidebar(2) == [[0, 0, 1280, 532], [482, 540, 314, 180]])
        #expect(sidebar(3) == [[0, 0, 1280, 532], [322, 540, 314, 180], [644, 540, 314, 180]])
        let five = [
            [0, 0, 1280, 532], [0, 540, 314, 180], [322, 540, 314, 180], [644, 540, 314, 180], [966, 540, 314, 180],
        ]
        #expect(sidebar(5) == five)
        #expect(sidebar(6) == five, "what does not fit is not drawn")
        #expect(SidebarLayout.stripCapacity(width: 1280, height: 720) == 4)
        for (width, height) in [(1920, 1080), (854, 480), (852, 480), (640, 360), (720, 1280), (1080, 1920)] {
            #expect(SidebarLayout.stripCapacity(width: width, height: height) == 4, "\(width)x\(height)")
        }
        #expect(SidebarLayout.stripCapacity(width: 720, height: 720) == 2)
    }

    @Test("a strip with more places than fit has narrower tiles that span the canvas, in one row or two")
    func narrowStrip() {
        for size in [1, 2, 4, 12] {
            let few = min(size, 4)
            #expect(strip(few, of: size) == Array(sidebar(few + 1).dropFirst()), "as many as fit look as usual")
        }
        #expect(strip(3, of: 2).count == 2 && strip(12, of: 12).count == 11 && strip(11, of: 100).count == 11)
        let five = strip(5, of: 12)
        #expect(five == strip(9, of: 5))
        #expect(five.map { $0[0] } == [4, 260, 516, 772, 1028])
        #expect(five.allSatisfy { $0[1] == 540 && $0[2] == 248 && $0[3] == 180 })
        let ten = strip(10, of: 12)
        #expect(ten.allSatisfy { $0[1] == 540 && $0[2] == 120 && $0[3] == 180 })
        let eleven = strip(11, of: 12)
        #expect(eleven.allSatisfy { $0[2] == 206 && $0[3] == 86 })
        #expect(eleven[0][1] == 540 && eleven[5][1] == 540 && eleven[6][1] == 634 && eleven[10][1] == 634)
        #expect(eleven[6][0] == 108, "the incomplete row is centred")
        let tall = strip(8, of: 12, 720, 1280)
        #expect(tall.allSatisfy { $0[2] == 174 && $0[3] == 156 } && tall[4][1] == 1124)
    }

    @Test("L10 in portrait the strip's tiles are tall")
    func portraitStrip() {
        #expect(
            sidebar(5, 720, 1280) == [
                [0, 0, 720, 952], [0, 960, 174, 320], [182, 960, 174, 320], [364, 960, 174, 320],
                [546, 960, 174, 320],
            ]
        )
    }

    @Test("V24 beside a screen the grid is a column at the right")
    func landscapePresentation() {
        #expect(presentation(1) == [[0, 0, 1280, 720]])
        #expect(presentation(2) == [[0, 0, 952, 720], [960, 272, 320, 174]])
        #expect(presentation(3) == [[0, 0, 952, 720], [960, 182, 320, 174], [960, 364, 320, 174]])
        #expect(presentation(5)[1...].map { $0[1] } == [0, 182, 364, 546])
        #expect(
            presentation(6) == [
                [0, 0, 952, 720], [960, 184, 156, 112], [1124, 184, 156, 112], [960, 304, 156, 112],
                [1124, 304, 156, 112], [1042, 424, 156, 112],
            ]
        )
        #expect(presentation(12).count == 12 && presentation(12)[11] == [1042, 604, 156, 112])
        #expect(presentation(13) == presentation(12))
    }

    @Test("V24 in portrait the grid beside a screen is below it")
    func portraitPresentation() {
        #expect(presentation(3, 720, 1280) == [[0, 0, 720, 952], [182, 960, 174, 320], [364, 960, 174, 320]])
        #expect(
            presentation(6, 720, 1280) == [
                [0, 0, 720, 952], [0, 960, 234, 156], [242, 960, 234, 156], [484, 960, 234, 156],
                [122, 1124, 234, 156], [364, 1124, 234, 156],
            ]
        )
    }
}
