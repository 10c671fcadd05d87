import Codecs

/// Something the program shows that is no host's picture, said by what it has to say; what it looks like follows from it.
///
/// Two that are equal look the same, so each is rendered once.
enum Overlay: Sendable, Hashable, Codable {
    case nameTag(NameTag)
    case muteBadge(MuteBadge)
    case personCard(PersonCard)
    case slate(SlateCard)
    case logo(LogoOverlay)
    case lowerThird(LowerThirdOverlay)
    case ticker(TickerStrip)
    case background(BackgroundPicture)

    /// The asset its look depends on.
    var asset: String? {
        switch self {
        case .personCard(let card): card.avatar
        case .slate(let card): card.image
        case .logo(let logo): logo.asset
        case .background(let background): background.asset
        case .nameTag, .muteBadge, .lowerThird, .ticker: nil
        }
    }

    /// Renders it; milliseconds of work, on the calling thread.
    ///
    /// - Parameter images: The assets that are there.
    /// - Returns: nil when there is nothing to show.
    func render(with images: OverlayImages) throws(CodecError) -> RenderedOverlay.Content? {
        guard let drawing = try drawing(with: images) else { return nil }
        let overlay = try drawing.render()
        switch self {
        case .personCard, .slate, .background: return .picture(try overlay.picture())
        case .nameTag, .muteBadge, .logo, .lowerThird, .ticker: return .overlay(overlay)
        }
    }

    private func drawing(with images: OverlayImages) throws(CodecError) -> Drawing? {
        switch self {
        case .nameTag(let tag): tag.drawing()
        case .muteBadge(let badge): badge.drawing()
        case .personCard(let card): try card.drawing(with: images)
        case .slate(let card): try card.drawing(with: images)
        case .logo(let logo): try logo.drawing(with: images)
        case .lowerThird(let titles): titles.drawing()
        case .ticker(let strip): strip.drawing()
        case .background(let background): try background.drawing(with: images)
        }
    }
}
