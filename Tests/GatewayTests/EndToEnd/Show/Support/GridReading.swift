import FootlightTesting
import Stage

/// Reads from a picture of 320x180 which hosts stand in which columns of the program.
enum GridReading {
    /// What is seen in one column.
    enum Host: Equatable {
        case red
        case blue
        /// The host that flashes: black, white, or still without a picture.
        case flash
        case unknown
    }

    /// The hosts from left to right when the grid has this many columns.
    static func hosts(in picture: PictureFrame, columns: Int) -> [Host] {
        (0..<columns).map { column in
            let middle = picture.width * (2 * column + 1) / (2 * columns)
            // Above the marker, away from the edges of the narrowest tile.
            return host(picture.averageColour(x: middle - 30, y: 20, width: 60, height: 90))
        }
    }

    private static func host(_ colour: Colour) -> Host {
        if colour.distance(to: .red) < 20 { return .red }
        if colour.distance(to: .blue) < 20 { return .blue }
        let isGrey = abs(colour.red - colour.green) < 12 && abs(colour.green - colour.blue) < 12
        return isGrey ? .flash : .unknown
    }
}
