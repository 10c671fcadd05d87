import Codecs

/// A sign in the lower right corner of a small tile: the host is not heard.
struct MuteBadge: Sendable, Hashable, Codable {
    /// Pixels down of the tile; the badge grows with it.
    var tileHeight: Int
    var theme: OverlayTheme = .dark

    /// Where the badge's upper left corner belongs.
    static func origin(of badge: OverlayPicture, in tile: PixelRectangle) -> (x: Int, y: Int) {
        let margin = NameTag.margin(tileHeight: tile.height)
        return (tile.right - margin - badge.width, tile.bottom - margin - badge.height)
    }

    func drawing() -> Drawing {
        let side = Int(NameTag.textSize(tileHeight: tileHeight) * 1.8)
        var drawing = Drawing(width: side, height: side)
        let bounds = drawing.bounds
        drawing.marks = [
            .disc(bounds, theme.microphoneOff),
            .icon(.mutedMicrophone, bounds.inset(by: bounds.width * 0.2), .white),
        ]
        return drawing
    }
}
