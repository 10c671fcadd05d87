import Codecs

extension SceneLayer {
    /// What has to be drawn for it.
    func overlay(on plan: TilePlan) -> Overlay {
        let theme = OverlayTheme(plan.colours)
        let (width, height) = (plan.width, plan.height)
        switch self {
        case .lowerThird(let words):
            return .lowerThird(
                LowerThirdOverlay(
                    title: words.title,
                    subtitle: words.subtitle,
                    canvasWidth: width,
                    canvasHeight: height,
                    theme: theme
                )
            )
        case .slate(let slate):
            return .slate(
                SlateCard(
                    // An image says it all, unless there are words too.
                    text: slate.text ?? (slate.image == nil ? slate.kind.words : nil),
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
                    mostWidth: width / 2
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
    /// What a slate says that was given no words.
    fileprivate var words: String {
        switch self {
        case .startingSoon: "Starting soon"
        case .beRightBack: "We'll be right back"
        case .ended: "The stream has ended"
        }
    }
}
