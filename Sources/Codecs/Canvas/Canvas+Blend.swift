extension Canvas {
    /// Lays `overlay` over the canvas with its upper left corner at (`x`, `y`).
    ///
    /// Only pixels where something of the overlay is seen are touched; where nothing is seen through it they are copied.
    /// Luma stays within 16 to 235 and chroma within 16 to 240.
    ///
    /// - Parameters:
    ///   - x: May be anywhere, also outside; an odd column moves to the even one before it.
    ///   - y: As `x`, for rows.
    ///   - opacity: 0, which does nothing, to 1.
    ///   - window: The only part of the canvas that is touched; nil for all of it.
    public func blend(
        _ overlay: OverlayPicture,
        x: Int,
        y: Int,
        opacity: Double = 1,
        within window: PixelRectangle? = nil
    ) {
        let strength = UInt16(min(max(opacity.isNaN ? 0 : opacity, 0), 1) * 256 + 0.5)
        let visible = clipped(window ?? bounds)
        // Far outside there is nothing to see, and no sum may run over.
        let near = -(1 << 30)...1 << 30
        guard strength > 0, !visible.isEmpty, near.contains(x), near.contains(y) else { return }
        let (x, y) = (x & ~1, y & ~1)
        let rows = max(visible.y - y, 0)..<max(min(visible.bottom - y, overlay.height), max(visible.y - y, 0))
        let columns = max(visible.x - x, 0)..<max(min(visible.right - x, overlay.width), max(visible.x - x, 0))
        for pair in rows.lowerBound / 2..<rows.upperBound / 2 {
            for run in overlay.runs[pair] where run.start < columns.upperBound && run.end > columns.lowerBound {
                let start = max(run.start, columns.lowerBound)
                let part = Part(
                    start: start,
                    count: min(run.end, columns.upperBound) - start,
                    pair: pair,
                    isOpaque: run.isOpaque && strength == 256
                )
                blend(part, of: overlay, x: x, y: y, strength: strength)
            }
        }
    }

    /// Columns of one pair of an overlay's rows.
    private struct Part {
        let start: Int
        let count: Int
        let pair: Int
        let isOpaque: Bool
    }

    private func blend(_ part: Part, of overlay: OverlayPicture, x: Int, y: Int, strength: UInt16) {
        let (column, row) = (part.start, 2 * part.pair)
        let source = overlay.planes.moved(x: column, y: row)
        let alpha = overlay.alpha.moved(x: column, y: row)
        let chromaAlpha = overlay.chromaAlpha.moved(x: column / 2, y: row / 2).start
        let target = ownPlanes.moved(x: x + column, y: y + row)
        if part.isOpaque {
            target.y.start.update(from: source.y.start, count: part.count)
            target.y.at(x: 0, y: 1).update(from: source.y.at(x: 0, y: 1), count: part.count)
            target.u.start.update(from: source.u.start, count: part.count / 2)
            target.v.start.update(from: source.v.start, count: part.count / 2)
            return
        }
        let luma = BlendKernel(strength: strength, upperBound: 235)
        let chroma = BlendKernel(strength: strength, upperBound: 240)
        luma.run(source.y.start, alpha.start, over: target.y.start, count: part.count)
        luma.run(source.y.at(x: 0, y: 1), alpha.at(x: 0, y: 1), over: target.y.at(x: 0, y: 1), count: part.count)
        chroma.run(source.u.start, chromaAlpha, over: target.u.start, count: part.count / 2)
        chroma.run(source.v.start, chromaAlpha, over: target.v.start, count: part.count / 2)
    }
}
