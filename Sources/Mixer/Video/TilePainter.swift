import Codecs

/// Paints one tile: its frame or its card, and its overlays.
struct TilePainter {
    /// The canvas for a card that is blended with a frame.
    let scratch: Canvas
    let colours: SceneColours
    /// The row at which a ticker begins; tile overlays stay above it.
    let tickerTop: Int

    /// Paints a tile into `rectangle`, which is its final or an intermediate one.
    ///
    /// - Returns: Whether the frame could be painted; if not, the card is shown.
    func paint(
        _ content: TileContent,
        _ tileOverlays: TileOverlays,
        fit: FrameFit,
        in rectangle: PixelRectangle,
        on canvas: Canvas
    ) -> Bool {
        var isPainted = true
        if let frame = content.frame, content.appearance.card < 256 {
            do {
                try canvas.draw(frame, in: rectangle, mode: fit)
                finish(content.appearance, tileOverlays, in: rectangle, on: canvas)
            } catch {
                // A frame that cannot be drawn must not affect other hosts: the card is shown until the next one.
                paintCard(tileOverlays, in: rectangle, on: canvas)
                isPainted = false
            }
        } else {
            paintCard(tileOverlays, in: rectangle, on: canvas)
        }
        layOver(tileOverlays, in: rectangle, on: canvas)
        return isPainted
    }

    private func finish(
        _ appearance: TileVisibility.Appearance,
        _ tileOverlays: TileOverlays,
        in rectangle: PixelRectangle,
        on canvas: Canvas
    ) {
        if appearance.dim > 0 { canvas.dim(rectangle, amount: Double(appearance.dim) / 256) }
        if appearance.card > 0 {
            paintCard(tileOverlays, in: rectangle, on: scratch)
            canvas.fade(rectangle, from: scratch, amount: Double(appearance.card) / 256)
        }
    }

    private func paintCard(_ tileOverlays: TileOverlays, in rectangle: PixelRectangle, on canvas: Canvas) {
        do {
            guard let card = tileOverlays.card else { return canvas.fill(rectangle, colours.emptyTile) }
            try canvas.draw(card, in: rectangle, mode: .fill)
        } catch {
            canvas.fill(rectangle, colours.emptyTile)
        }
    }

    private func layOver(_ tileOverlays: TileOverlays, in rectangle: PixelRectangle, on canvas: Canvas) {
        let lift = max(rectangle.bottom - tickerTop, 0)
        if let tag = tileOverlays.tag {
            let (x, y) = NameTag.origin(of: tag, in: rectangle)
            canvas.blend(tag, x: x, y: y - lift, within: rectangle)
        }
        if let badge = tileOverlays.badge {
            let (x, y) = MuteBadge.origin(of: badge, in: rectangle)
            canvas.blend(badge, x: x, y: y - lift, within: rectangle)
        }
    }
}

/// The video content of a tile.
struct TileContent {
    /// The frame; nil while only the card is shown.
    var frame: VideoFrame?
    /// Identifies the frame among all of the host's; 0 stands for none.
    var serial: Int64
    /// The blend of frame and card.
    var appearance: TileVisibility.Appearance

    /// The host's card alone.
    static let absent = TileContent(frame: nil, serial: 0, appearance: .absent)

    /// Makes content with a frame at full brightness by default.
    init(frame: VideoFrame?, serial: Int64, appearance: TileVisibility.Appearance = .init(dim: 0, card: 0)) {
        self.frame = frame
        self.serial = serial
        self.appearance = frame == nil ? .absent : appearance
    }
}

/// The rendered overlays of a tile; each is rendered once and then blended.
struct TileOverlays {
    /// The card of a host without video.
    var card: VideoFrame?
    /// The name and the microphone; at the bottom left.
    var tag: OverlayImage?
    /// The badge of a microphone that is off; at the bottom right.
    var badge: OverlayImage?
    /// A version number, so that a canvas knows which overlays it shows.
    var number = 0

    /// No overlays.
    static let none = TileOverlays()

    func matches(_ other: TileOverlays) -> Bool {
        card === other.card && tag === other.tag && badge === other.badge
    }
}
