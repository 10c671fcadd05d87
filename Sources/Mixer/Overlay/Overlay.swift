import Codecs

/// A graphic of the program, described by its content, from which its look follows.
///
/// Two equal overlays look the same, so each is rendered once.
enum Overlay: Sendable, Hashable, Codable {
    case nameTag(NameTag)
    case muteBadge(MuteBadge)
    case personCard(PersonCard)
    case slate(SlateCard)
    case logo(LogoOverlay)
    case lowerThird(LowerThirdOverlay)
    case ticker(TickerStrip)
    case background(BackgroundImage)

    /// The asset that the overlay shows.
    var asset: String? {
        switch self {
        case .personCard(let card): card.avatar
        case .slate(let card): card.image
        case .logo(let logo): logo.asset
        case .background(let background): background.asset
        case .nameTag, .muteBadge, .lowerThird, .ticker: nil
        }
    }

    /// Renders the overlay on the calling thread, which takes milliseconds.
    ///
    /// - Parameter images: The assets available.
    /// - Returns: nil when there is nothing to show.
    func render(with images: OverlayImages) throws(CodecError) -> RenderedOverlay.Content? {
        guard let drawing = try drawing(with: images) else { return nil }
        let overlay = try drawing.render()
        switch self {
        case .personCard, .slate, .background: return .frame(try overlay.makeFrame())
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

/// An overlay ready to be painted.
struct RenderedOverlay: Sendable {
    /// The bitmap of an overlay.
    enum Content: Sendable {
        /// An opaque frame, drawn and scaled like video.
        case frame(VideoFrame)
        /// A bitmap with alpha, blended at its own size.
        case overlay(OverlayImage)
    }

    /// A number unique to each rendering, so that a canvas knows whether it shows this one.
    let serial: Int64
    let content: Content

    /// The frame of a card, a slate or a background.
    var frame: VideoFrame? {
        if case .frame(let frame) = content { frame } else { nil }
    }

    /// The bitmap of a tag, a badge, a logo, a lower third or a ticker.
    var overlay: OverlayImage? {
        if case .overlay(let overlay) = content { overlay } else { nil }
    }
}

/// Decodes the images that overlays show from the provided files.
struct OverlayImages: Sendable {
    private let assets: AssetCache?

    /// Makes an empty set: an overlay without its files.
    init() {
        assets = nil
    }

    init(_ assets: AssetCache) {
        self.assets = assets
    }

    /// The image of that name at its own size; nil when the file is missing or cannot be decoded.
    ///
    /// An overlay is then drawn without its image.
    subscript(asset: String?) -> RasterImage? {
        guard let asset, let file = assets?.asset(asset) else { return nil }
        do {
            return try RasterImage.read(file.bytes)
        } catch {
            assets?.reportUnusable(file, of: asset, because: error)
            return nil
        }
    }
}
