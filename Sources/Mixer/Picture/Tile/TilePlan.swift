import Codecs
import Stage

/// A scene prepared for painting: rectangles on the canvas, and which tiles lie over which.
struct TilePlan: Sendable {
    struct Place: Sendable, Hashable {
        let host: String
        let rectangle: PixelRectangle
        let fit: PictureFit
        /// Nothing of what the host sends may be seen.
        let isConcealed: Bool
        /// It is a screen that is shown.
        let isScreen: Bool
        /// Nothing is seen of it under a later tile: it is not painted, but while things move.
        let isCovered: Bool
        /// Earlier tiles that this one overlaps: when one of them is painted, this one has to be painted again.
        let covers: [Int]
        let words: TileWords

        /// Whether the two are the same place of the same host, whatever is said or seen of it.
        func isArranged(like other: Place) -> Bool {
            host == other.host && rectangle == other.rectangle && fit == other.fit
        }
    }

    /// In painting order; none while there is a slate.
    let places: [Place]
    /// Over the tiles, in painting order.
    let layers: [SceneLayer]
    let colours: SceneColours
    /// The asset behind the tiles.
    let background: String?
    /// Canvas width in pixels.
    let width: Int
    /// Canvas height in pixels.
    let height: Int

    /// - Parameters:
    ///   - width: Canvas width in pixels; tiles that leave the canvas are cut to it, empty ones left out.
    ///   - height: Canvas height in pixels.
    init(scene: Scene, width: Int, height: Int) {
        var places: [Place] = []
        for (index, tile) in scene.tiles.enumerated() where scene.slate == nil {
            let rectangle = Self.cut(tile.rectangle, width: width, height: height)
            guard !rectangle.isEmpty else { continue }
            places.append(
                Place(
                    host: tile.participantSID,
                    rectangle: rectangle,
                    fit: tile.scaleMode == .fill ? .fill : .fit,
                    isConcealed: tile.source == .placeholder,
                    isScreen: tile.source == .screen,
                    isCovered: scene.isCovered(index),
                    covers: places.indices.filter {
                        !places[$0].isCovered && places[$0].rectangle.overlaps(rectangle)
                    },
                    words: TileWords(
                        name: tile.label,
                        isMicOn: tile.isMicOn,
                        avatar: tile.avatar,
                        isInStrip: tile.isInStrip,
                        showsName: scene.decoration.showsNames,
                        showsMicrophone: scene.decoration.showsMicrophones
                    )
                )
            )
        }
        self.places = places
        layers = SceneLayer.layers(of: scene)
        colours = scene.colours
        background = scene.decoration.background
        self.width = width
        self.height = height
    }

    /// The whole canvas.
    var bounds: PixelRectangle { PixelRectangle(x: 0, y: 0, width: width, height: height) }

    /// The row below which a ticker covers everything; the canvas's height without one.
    var floor: Int {
        for case .ticker in layers { return TickerStrip.band(width: width, height: height).y }
        return height
    }

    /// Whether tiles, and what lies behind and over them, are the same; words and who may be seen are not compared.
    func isArranged(like other: TilePlan) -> Bool {
        colours == other.colours && background == other.background && layers == other.layers
            && places.elementsEqual(other.places) { $0.isArranged(like: $1) }
    }

    private static func cut(_ tile: TileRectangle, width: Int, height: Int) -> PixelRectangle {
        // Numbers from outside may be anything; limiting them first keeps the sums small.
        let (x, y) = (min(max(tile.x, -width), width), min(max(tile.y, -height), height))
        let (left, top) = (max(x, 0), max(y, 0))
        let right = min(x + min(max(tile.width, 0), 2 * width), width)
        let bottom = min(y + min(max(tile.height, 0), 2 * height), height)
        return PixelRectangle(x: left, y: top, width: max(right - left, 0), height: max(bottom - top, 0))
    }
}

extension PixelRectangle {
    /// Whether there is a pixel in both.
    func overlaps(_ other: PixelRectangle) -> Bool {
        x < other.right && other.x < right && y < other.bottom && other.y < bottom
    }
}
