import Codecs

/// A host's name and microphone state in the lower left corner of the tile.
struct NameTag: Sendable, Hashable, Codable {
    /// The name; nil shows none.
    var name: String?
    /// Whether the microphone is on; nil shows no microphone.
    var isMicrophoneOn: Bool?
    /// The tile width in pixels, which limits the tag.
    var tileWidth: Int
    /// The tile height in pixels; the text size is proportional to it.
    var tileHeight: Int
    var theme: OverlayTheme = .dark
    /// The smallest text in pixels; nil for 14.
    var minimumTextSize: Double?

    /// Returns the text size in pixels.
    static func textSize(tileHeight: Int, minimum: Double? = nil) -> Double {
        min(max(Double(tileHeight) * 0.048, minimum ?? 14), 48)
    }

    /// Returns the smallest text on a canvas of more than 720 lines: as legible as 14 pixels on one of 720; nil on
    /// smaller ones.
    static func minimumTextSize(width: Int, height: Int) -> Double? {
        let side = min(width, height)
        return side > 720 ? (14 * Double(side) / 720).rounded() : nil
    }

    /// Returns the pixels between the tag and the tile's edges, even.
    static func margin(tileHeight: Int) -> Int {
        Int(textSize(tileHeight: tileHeight) * 0.6) & ~1
    }

    /// Returns the pixels from a tile's lower edge to the upper edge of its tag.
    static func reach(tileHeight: Int) -> Int {
        margin(tileHeight: tileHeight) + Int((textSize(tileHeight: tileHeight) * 1.8).rounded(.up))
    }

    /// Returns the position of the tag's upper left corner.
    static func origin(of tag: OverlayImage, in tile: PixelRectangle) -> (x: Int, y: Int) {
        let margin = margin(tileHeight: tile.height)
        return (tile.x + margin, tile.bottom - margin - tag.height)
    }

    /// Returns the drawing; nil when there is nothing to show or no room for it.
    func drawing() -> Drawing? {
        let size = Self.textSize(tileHeight: tileHeight, minimum: minimumTextSize)
        let room = Double(tileWidth - 2 * Self.margin(tileHeight: tileHeight))
        let padding = size * 0.6
        let icon = isMicrophoneOn == nil ? 0 : size * 1.25
        let style = TextStyle(size: size, weight: .medium, colour: theme.panelText)
        let free = (room - 2 * padding - icon - (icon > 0 ? size * 0.4 : 0)).rounded(.down)
        var text = 0.0
        if let name, free >= size { text = Double(style.extent(of: name, width: free).width) }
        guard text + icon > 0, room >= 2 * padding + icon else { return nil }
        let gap = text > 0 && icon > 0 ? size * 0.4 : 0
        let height = (size * 1.8).rounded()
        var drawing = Drawing(width: Int((2 * padding + text + gap + icon).rounded(.up)), height: Int(height))
        let bounds = drawing.bounds
        drawing.marks.append(.box(bounds, cornerRadius: size * 0.5, theme.panel))
        if let name, text > 0 {
            let box = DrawingBox(x: padding, y: 0, width: text, height: bounds.height)
            drawing.marks.append(.text(name, style, box))
        }
        if let isMicrophoneOn {
            let box = DrawingBox(
                x: padding + text + gap,
                y: (bounds.height - icon) / 2,
                width: icon,
                height: icon
            )
            drawing.marks.append(
                isMicrophoneOn
                    ? .icon(.microphone, box, theme.microphoneOn)
                    : .icon(.mutedMicrophone, box, theme.microphoneOff)
            )
        }
        return drawing
    }
}

/// A badge in the lower right corner of a small tile: the microphone is off.
struct MuteBadge: Sendable, Hashable, Codable {
    /// The tile height in pixels; the badge is proportional to it.
    var tileHeight: Int
    var theme: OverlayTheme = .dark
    /// The smallest text of a tag in pixels, as for `NameTag`.
    var minimumTextSize: Double?

    /// Returns the position of the badge's upper left corner.
    static func origin(of badge: OverlayImage, in tile: PixelRectangle) -> (x: Int, y: Int) {
        let margin = NameTag.margin(tileHeight: tile.height)
        return (tile.right - margin - badge.width, tile.bottom - margin - badge.height)
    }

    func drawing() -> Drawing {
        let side = Int(NameTag.textSize(tileHeight: tileHeight, minimum: minimumTextSize) * 1.8)
        var drawing = Drawing(width: side, height: side)
        let bounds = drawing.bounds
        drawing.marks = [
            .disc(bounds, theme.microphoneOff),
            .icon(.mutedMicrophone, bounds.inset(by: bounds.width * 0.2), .white),
        ]
        return drawing
    }
}
