import Codecs

/// Where on the canvas each layer lies.
extension LayerArt {
    /// How a layer is painted.
    ///
    /// - Parameter rate: Program pictures per second.
    init(_ layer: SceneLayer, _ drawn: RenderedOverlay, on plan: TilePlan, rate: Double) {
        switch (layer, drawn.content) {
        case (.slate, .picture(let picture)):
            self = .picture(picture)
        case (.lowerThird, .overlay(let overlay)):
            let lift = plan.height - plan.floor
            let (x, y) = LowerThirdOverlay.origin(of: overlay, width: plan.width, height: plan.height, lift: lift)
            self = .overlay(overlay, x: x, y: y, opacity: 1)
        case (.logo(let logo), .overlay(let overlay)):
            let (x, y) = Self.origin(of: overlay, in: logo.corner, plan)
            self = .overlay(overlay, x: x, y: y, opacity: min(max(logo.opacity, 0), 1))
        case (.ticker(let ticker), .overlay(let overlay)):
            let strip = layer.strip(ticker, on: plan)
            let motion = TickerMotion(
                stripWidth: overlay.width,
                canvasWidth: plan.width,
                speed: ticker.speed,
                rate: rate,
                isRightToLeft: strip.isRightToLeft
            )
            self = .ticker(Ticker(strip: strip, text: overlay, motion: motion))
        default:
            self = .none
        }
    }

    private static func origin(
        of logo: OverlayPicture,
        in corner: Logo.Corner,
        _ plan: TilePlan
    ) -> (x: Int, y: Int) {
        let margin = min(plan.width, plan.height) / 24
        let isRight = corner == .topRight || corner == .bottomRight
        let isLow = corner == .bottomLeft || corner == .bottomRight
        return (
            isRight ? plan.width - margin - logo.width : margin,
            isLow ? plan.floor - margin - logo.height : margin
        )
    }
}
