import Codecs
import Stage

/// A scene prepared for painting: rectangles on the canvas, and which tiles lie over which.
struct TilePlan: Sendable {
    struct Place: Sendable, Hashable {
        let host: String
        let rectangle: PixelRectangle
        let fit: PictureFit
        /// The tile shows its colour whatever the host sends.
        let isPlaceholder: Bool
        /// Earlier tiles that this one overlaps: when one of them is painted, this one has to be painted again.
        let covers: [Int]
    }

    /// Rises with every plan, so that a canvas knows whether it was painted by this one.
    let revision: Int
    let places: [Place]
    let colours: SceneColours

    /// - Parameters:
    ///   - width: Canvas width in pixels; tiles that leave the canvas are cut to it, empty ones left out.
    ///   - height: Canvas height in pixels.
    init(scene: Scene, width: Int, height: Int, revision: Int) {
        var places: [Place] = []
        for tile in scene.tiles {
            let rectangle = Self.cut(tile.rectangle, width: width, height: height)
            guard !rectangle.isEmpty else { continue }
            places.append(
                Place(
                    host: tile.participantSID,
                    rectangle: rectangle,
                    fit: tile.scaleMode == .fill ? .fill : .fit,
                    isPlaceholder: tile.source == .placeholder,
                    covers: places.indices.filter { Self.overlap(places[$0].rectangle, rectangle) }
                )
            )
        }
        self.places = places
        self.revision = revision
        colours = scene.colours
    }

    /// Whether the two look the same: words and microphones of the tiles are not painted.
    func isPaintedLike(_ other: TilePlan) -> Bool {
        places == other.places && colours == other.colours
    }

    private static func cut(_ tile: TileRectangle, width: Int, height: Int) -> PixelRectangle {
        // Numbers from outside may be anything; limiting them first keeps the sums small.
        let (x, y) = (min(max(tile.x, -width), width), min(max(tile.y, -height), height))
        let (left, top) = (max(x, 0), max(y, 0))
        let right = min(x + min(max(tile.width, 0), 2 * width), width)
        let bottom = min(y + min(max(tile.height, 0), 2 * height), height)
        return PixelRectangle(x: left, y: top, width: max(right - left, 0), height: max(bottom - top, 0))
    }

    private static func overlap(_ one: PixelRectangle, _ other: PixelRectangle) -> Bool {
        one.x < other.right && other.x < one.right && one.y < other.bottom && other.y < one.bottom
    }
}
