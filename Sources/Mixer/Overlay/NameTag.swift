import Codecs

/// A host's name, then whether the microphone is on, in the lower left corner of the host's tile.
struct NameTag: Sendable, Hashable, Codable {
    /// The name; nil shows none.
    var name: String?
    /// Whether the microphone is on; nil shows none.
    var isMicrophoneOn: Bool?
    /// Pixels across of the tile, which the tag does not leave.
    var tileWidth: Int
    /// Pixels down of the tile; letters grow with it.
    var tileHeight: Int
    var theme: OverlayTheme = .dark

    /// The height of the letters' square, in pixels.
    static func textSize(tileHeight: Int) -> Double {
        min(max(Double(tileHeight) * 0.048, 14), 48)
    }

    /// Pixels between the tag and the tile's edges, even.
    static func margin(tileHeight: Int) -> Int {
        Int(textSize(tileHeight: tileHeight) * 0.6) & ~1
    }

    /// Where the tag's upper left corner belongs.
    static func origin(of tag: OverlayPicture, in tile: PixelRectangle) -> (x: Int, y: Int) {
        let margin = margin(tileHeight: tile.height)
        return (tile.x + margin, tile.bottom - margin - tag.height)
    }

    /// What it looks like; nil when there is nothing to say or no room to say it.
    func drawing() -> Drawing? {
        let size = Self.textSize(tileHeight: tileHeight)
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
