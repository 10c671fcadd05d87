import Codecs

/// Paints one tile: its picture or its card, and what is said about it.
struct TilePainter {
    /// Where a card is painted that shines through a picture.
    let scratch: Canvas
    let colours: SceneColours
    /// Nothing may be laid over a tile below this row.
    let floor: Int

    /// Paints into `rectangle`, which is its own place or one on the way there.
    ///
    /// - Returns: Whether the picture could be painted; if not, its card is there.
    func paint(
        _ content: TileContent,
        _ dress: TileDress,
        fit: PictureFit,
        in rectangle: PixelRectangle,
        on canvas: Canvas
    ) -> Bool {
        var isPainted = true
        if let picture = content.picture, content.look.card < 256 {
            do {
                try canvas.draw(picture, in: rectangle, mode: fit)
                finish(content.look, dress, in: rectangle, on: canvas)
            } catch {
                // One host's odd picture must not cost the others theirs: its card stands for it until the next one.
                paintCard(dress, in: rectangle, on: canvas)
                isPainted = false
            }
        } else {
            paintCard(dress, in: rectangle, on: canvas)
        }
        layOver(dress, in: rectangle, on: canvas)
        return isPainted
    }

    private func finish(
        _ look: PicturePresence.Look,
        _ dress: TileDress,
        in rectangle: PixelRectangle,
        on canvas: Canvas
    ) {
        if look.dim > 0 { canvas.dim(rectangle, amount: Double(look.dim) / 256) }
        if look.card > 0 {
            paintCard(dress, in: rectangle, on: scratch)
            canvas.fade(rectangle, from: scratch, amount: Double(look.card) / 256)
        }
    }

    private func paintCard(_ dress: TileDress, in rectangle: PixelRectangle, on canvas: Canvas) {
        do {
            guard let card = dress.card else { return canvas.fill(rectangle, colours.emptyTile) }
            try canvas.draw(card, in: rectangle, mode: .fill)
        } catch {
            canvas.fill(rectangle, colours.emptyTile)
        }
    }

    private func layOver(_ dress: TileDress, in rectangle: PixelRectangle, on canvas: Canvas) {
        let lift = max(rectangle.bottom - floor, 0)
        if let tag = dress.tag {
            let (x, y) = NameTag.origin(of: tag, in: rectangle)
            canvas.blend(tag, x: x, y: y - lift, within: rectangle)
        }
        if let badge = dress.badge {
            let (x, y) = MuteBadge.origin(of: badge, in: rectangle)
            canvas.blend(badge, x: x, y: y - lift, within: rectangle)
        }
    }
}
