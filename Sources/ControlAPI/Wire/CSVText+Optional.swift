import GatewayModel

extension CSVText.Cell {
    static func time(_ time: Timestamp?) -> CSVText.Cell {
        time.map { .text($0.text) } ?? .nothing
    }

    static func optional(_ text: String?) -> CSVText.Cell {
        text.map { .text($0) } ?? .nothing
    }

    static func optional(_ number: Double?) -> CSVText.Cell {
        number.map { .number($0) } ?? .nothing
    }

    static func optional(_ count: Int?) -> CSVText.Cell {
        count.map { .count($0) } ?? .nothing
    }
}
