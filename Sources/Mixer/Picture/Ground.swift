import Codecs

/// What lies behind all tiles of a program.
struct Ground {
    var colours = SceneColours.dark
    /// Covers the colour.
    var background: Picture?
    /// Nothing may be laid over a tile below this row.
    var floor = Int.max

    func looksLike(_ other: Ground) -> Bool { colours == other.colours && background === other.background }

    /// Paints the background all over a canvas.
    func paint(on canvas: Canvas) {
        canvas.fill(canvas.bounds, colours.background)
        // As large as the canvas; one that cannot be painted is left out.
        if let background { _ = try? canvas.draw(background, in: canvas.bounds) }
    }
}

/// One ground on its way into another's place.
struct GroundChange {
    /// The one that goes.
    let former: Ground
    let passage: Passage

    /// Paints what lies between the two.
    ///
    /// - Parameter scratch: As large as `canvas`.
    func paint(_ ground: Ground, at sample: Int64, on canvas: Canvas, scratch: Canvas) {
        let amount = passage.amount(at: sample)
        former.paint(on: canvas)
        if ground.background == nil {
            canvas.fade(canvas.bounds, to: ground.colours.background, amount: amount)
        } else {
            ground.paint(on: scratch)
            canvas.fade(canvas.bounds, from: scratch, amount: amount)
        }
    }
}
