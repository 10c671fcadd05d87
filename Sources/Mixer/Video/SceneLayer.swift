import Codecs

/// A layer over the tiles; two equal layers look the same.
enum SceneLayer: Sendable, Hashable {
    case lowerThird(LowerThird)
    /// Covers the tiles and the lower third.
    case slate(Slate)
    case logo(Logo)
    case ticker(Ticker)

    /// Returns the layers of a scene in painting order; the logo and the ticker are also shown over a slate.
    static func layers(of scene: Scene) -> [SceneLayer] {
        var layers: [SceneLayer] = []
        if let slate = scene.slate {
            // Without the music, which does not affect the look.
            layers.append(.slate(Slate(kind: slate.kind, text: slate.text, image: slate.image)))
        } else if let lowerThird = scene.decoration.lowerThird {
            layers.append(.lowerThird(lowerThird))
        }
        if let logo = scene.decoration.logo { layers.append(.logo(logo)) }
        if let ticker = scene.decoration.ticker { layers.append(.ticker(ticker)) }
        return layers
    }

    /// Returns whether `other` replaces this layer without a fade: the same ticker at another speed.
    func isSame(as other: SceneLayer) -> Bool {
        if case .ticker(let one) = self, case .ticker(let other) = other { return one.text == other.text }
        return self == other
    }

    /// The painting order.
    var rank: Int {
        switch self {
        case .lowerThird: 0
        case .slate: 1
        case .logo: 2
        case .ticker: 3
        }
    }

    var isSlate: Bool { rank == 1 }

    var isLowerThird: Bool { rank == 0 }
}

extension SceneLayer {
    /// Returns the overlay to render for the layer.
    func overlay(on plan: TilePlan) -> Overlay {
        let theme = OverlayTheme(plan.colours)
        let (width, height) = (plan.width, plan.height)
        switch self {
        case .lowerThird(let lowerThird):
            return .lowerThird(
                LowerThirdOverlay(
                    title: lowerThird.title,
                    subtitle: lowerThird.subtitle,
                    canvasWidth: width,
                    canvasHeight: height,
                    theme: theme
                )
            )
        case .slate(let slate):
            return .slate(
                SlateCard(
                    // An image needs no text unless the slate has one.
                    text: slate.text ?? (slate.image == nil ? slate.kind.defaultText : nil),
                    image: slate.image ?? plan.background,
                    width: width,
                    height: height,
                    theme: theme
                )
            )
        case .logo(let logo):
            return .logo(
                LogoOverlay(
                    asset: logo.asset,
                    height: Int(Double(height) * min(max(logo.height, 0.02), 0.5)),
                    maximumWidth: width / 2
                )
            )
        case .ticker(let ticker):
            return .ticker(strip(ticker, on: plan))
        }
    }

    func strip(_ ticker: Ticker, on plan: TilePlan) -> TickerStrip {
        TickerStrip(
            text: ticker.text,
            canvasWidth: plan.width,
            canvasHeight: plan.height,
            theme: OverlayTheme(plan.colours)
        )
    }
}

extension Slate.Kind {
    /// The text of a slate without a text of its own.
    fileprivate var defaultText: String {
        switch self {
        case .startingSoon: "Starting soon"
        case .beRightBack: "We'll be right back"
        case .ended: "The stream has ended"
        }
    }
}

/// The rendered content of a layer.
enum LayerContent {
    /// Not rendered yet, or not renderable.
    case none
    /// A frame that covers the canvas.
    case frame(VideoFrame)
    /// A bitmap at a fixed position.
    case overlay(OverlayImage, x: Int, y: Int, opacity: Double)
    /// A strip that scrolls along its band.
    case ticker(Ticker)

    /// The rendered strip of a ticker.
    struct Ticker {
        let strip: TickerStrip
        let text: OverlayImage
        let motion: TickerMotion
    }

    func matches(_ other: LayerContent) -> Bool {
        switch (self, other) {
        case (.none, .none):
            true
        case (.frame(let one), .frame(let other)):
            one === other
        case (
            .overlay(let one, let x, let y, let opacity), .overlay(let other, let otherX, let otherY, let otherOpacity)
        ):
            one === other && x == otherX && y == otherY && opacity == otherOpacity
        case (.ticker(let one), .ticker(let other)):
            one.text === other.text && one.motion == other.motion
        default:
            false
        }
    }
}

/// The position of each layer on the canvas.
extension LayerContent {
    /// Makes the content of a layer from its rendered overlay.
    ///
    /// - Parameters:
    ///   - logo: The part of the canvas that a logo covers; nil without one.
    ///   - rate: Program frames per second.
    init(
        _ layer: SceneLayer,
        _ drawn: RenderedOverlay,
        on plan: TilePlan,
        beside logo: PixelRectangle?,
        rate: Double
    ) {
        switch (layer, drawn.content) {
        case (.slate, .frame(let frame)):
            self = .frame(frame)
        case (.lowerThird, .overlay(let overlay)):
            let (x, y) = LowerThirdOverlay.origin(of: overlay, on: plan, beside: logo)
            self = .overlay(overlay, x: x, y: y, opacity: 1)
        case (.logo(let logo), .overlay(let overlay)):
            let (x, y) = LogoOverlay.origin(of: overlay, in: logo.corner, on: plan)
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
}
