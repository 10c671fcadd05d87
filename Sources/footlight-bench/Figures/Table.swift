import Foundation

/// A small Markdown table for terminals.
struct Table {
    private var rows: [[String]]

    /// - Parameter heads: The column heads; the first column is aligned left, the others right.
    init(_ heads: String...) {
        rows = [heads]
    }

    mutating func add(_ cells: [String]) {
        rows.append(cells)
    }

    func printOut() {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in
            rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
        }
        for (index, row) in rows.enumerated() {
            print(line(row, widths))
            guard index == 0 else { continue }
            let rules = widths.enumerated().map { $0.offset == 0 ? dashes($0.element) : dashes($0.element - 1) + ":" }
            print(line(rules, widths))
        }
    }

    private func line(_ cells: [String], _ widths: [Int]) -> String {
        let padded = widths.enumerated().map { column, width in
            let cell = column < cells.count ? cells[column] : ""
            let space = String(repeating: " ", count: max(width - cell.count, 0))
            return column == 0 ? cell + space : space + cell
        }
        return "| " + padded.joined(separator: " | ") + " |"
    }

    private func dashes(_ count: Int) -> String {
        String(repeating: "-", count: max(count, 1))
    }
}

extension Double {
    /// Returns the value with a number of decimals; a dash for NaN and infinities.
    func text(_ digits: Int) -> String {
        isFinite ? String(format: "%.\(digits)f", self) : "-"
    }
}

/// Returns the text of a value, its limit, and whether the limit is met.
func verdict(_ value: Double, atMost limit: Double, digits: Int) -> String {
    "\(value.text(digits)) (goal at most \(limit.text(digits)): \(value <= limit ? "met" : "missed"))"
}
