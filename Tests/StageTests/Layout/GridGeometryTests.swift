import Stage
import Testing

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
