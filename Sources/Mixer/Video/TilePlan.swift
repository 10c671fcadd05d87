import Codecs
import Stage

/// A scene prepared for painting: rectangles on the canvas, and which tiles overlap.
struct TilePlan: Sendable {
    struct TilePlacement: Sendable, Hashable {
        let host: String
        let rectangle: PixelRectangle
        let fit: FrameFit
        /// Whether the host's video may not be shown.
        let isConcealed: Bool
        /// Whether the tile shows a screen share.
        let isScreen: Bool
        /// Whether a later tile hides it completely: it is painted only during transitions.
        let isCovered: Bool
        /// The earlier tiles that this one overlaps: when one of them is painted, this one has to be painted again.
        let covers: [Int]
        let labels: TileLabels

        /// Returns whether both have the same host and geometry, regardless of labels and content.
        func isArranged(like other: TilePlacement) -> Bool {
            host == other.host && rectangle == other.rectangle && fit == other.fit
        }
    }

    /// The tiles in painting order; none under a slate.
    let placements: [TilePlacement]
    /// The layers over the tiles, in painting order.
    let layers: [SceneLayer]
    let colours: SceneColours
    /// The asset behind the tiles.
    let background: String?
    /// Canvas width in pixels.
    let width: Int
    /// Canvas height in pixels.
    let height: Int

    /// - Parameters:
    ///   - width: Canvas width in pixels; tiles are clipped to the canvas, empty ones left out.
    ///   - height: Canvas height in pixels.
    init(scene: Scene, width: Int, height: Int) {
        var placements: [TilePlacement] = []
        for (index, tile) in scene.tiles.enumerated() where scene.slate == nil {
            let rectangle = Self.clipped(tile.rectangle, width: width, height: height)
            guard !rectangle.isEmpty else { continue }
            placements.append(
                TilePlacement(
                    host: tile.participantSID,
                    rectangle: rectangle,
                    fit: tile.scaleMode == .fill ? .fill : .fit,
                    isConcealed: tile.source == .placeholder,
                    isScreen: tile.source == .screen,
                    isCovered: scene.isCovered(index),
                    covers: placements.indices.filter {
                        !placements[$0].isCovered && placements[$0].rectangle.overlaps(rectangle)
                    },
                    labels: TileLabels(
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
        self.placements = placements
        layers = SceneLayer.layers(of: scene)
        colours = scene.colours
        background = scene.decoration.background
        self.width = width
        self.height = height
    }

    /// The rectangle of the whole canvas.
    var bounds: PixelRectangle { PixelRectangle(x: 0, y: 0, width: width, height: height) }

    /// The row at which a ticker begins; the canvas's height without one.
    var tickerTop: Int {
        for case .ticker in layers { return TickerStrip.band(width: width, height: height).y }
        return height
    }

    /// The row at which a strip of small tiles below all others begins; the canvas's height without one.
    var stripTop: Int {
        let strip = placements.filter(\.labels.isInStrip)
        guard let top = strip.map(\.rectangle.y).min(),
            placements.allSatisfy({ $0.labels.isInStrip || $0.rectangle.bottom <= top })
        else { return height }
        return top
    }

    /// The row at which the tags of the tiles over a strip begin; the canvas's height without any.
    var topOfTagOverStrip: Int {
        guard stripTop < height else { return height }
        let tagged = placements.filter { placement in
            !placement.labels.isInStrip && (placement.labels.showsName || placement.labels.showsMicrophone)
        }
        return tagged.map { $0.rectangle.bottom - NameTag.reach(tileHeight: $0.rectangle.height) }.min() ?? height
    }

    /// Returns whether tiles, background and layers are the same; labels and concealment are not compared.
    func isArranged(like other: TilePlan) -> Bool {
        colours == other.colours && background == other.background && layers == other.layers
            && placements.elementsEqual(other.placements) { $0.isArranged(like: $1) }
    }

    private static func clipped(_ tile: TileRectangle, width: Int, height: Int) -> PixelRectangle {
        // Coordinates from outside may be anything; clamping them first prevents overflow.
        let (x, y) = (min(max(tile.x, -width), width), min(max(tile.y, -height), height))
        let (left, top) = (max(x, 0), max(y, 0))
        let right = min(x + min(max(tile.width, 0), 2 * width), width)
        let bottom = min(y + min(max(tile.height, 0), 2 * height), height)
        return PixelRectangle(x: left, y: top, width: max(right - left, 0), height: max(bottom - top, 0))
    }
}

extension PixelRectangle {
    /// Returns whether the rectangles have a pixel in common.
    func overlaps(_ other: PixelRectangle) -> Bool {
        x < other.right && other.x < right && y < other.bottom && other.y < bottom
    }
}

extension TilePlan.TilePlacement {
    /// Returns the overlays to render for the tile; a tag or a badge only with content.
    ///
    /// - Parameter minimumTextSize: The smallest text of tags in pixels; nil for the usual one.
    func overlays(theme: OverlayTheme, minimumTextSize: Double?) -> (card: Overlay, tag: Overlay?, badge: Overlay?) {
        let name = labels.showsName && !labels.name.isEmpty ? labels.name : nil
        // In a strip there is little room: only a badge for a muted microphone.
        let isMicrophoneOn = labels.showsMicrophone && !labels.isInStrip ? labels.isMicOn : nil
        let hasTag = name != nil || isMicrophoneOn != nil
        let hasBadge = labels.isInStrip && labels.showsMicrophone && !labels.isMicOn
        let (width, height) = (rectangle.width, rectangle.height)
        let tag = NameTag(
            name: name,
            isMicrophoneOn: isMicrophoneOn,
            tileWidth: width,
            tileHeight: height,
            theme: theme,
            minimumTextSize: minimumTextSize
        )
        let badge = MuteBadge(tileHeight: height, theme: theme, minimumTextSize: minimumTextSize)
        return (
            card: .personCard(
                PersonCard(name: labels.name, avatar: labels.avatar, width: width, height: height, theme: theme)
            ),
            tag: hasTag ? .nameTag(tag) : nil,
            badge: hasBadge ? .muteBadge(badge) : nil
        )
    }
}

/// The labels of a tile's host.
struct TileLabels: Sendable, Hashable {
    /// The display name.
    var name: String
    var isMicOn: Bool
    /// The asset shown on the host's card.
    var avatar: String?
    /// Whether it is a small tile beside a large one: a badge shows only that the microphone is off.
    var isInStrip: Bool
    var showsName: Bool
    var showsMicrophone: Bool
}
