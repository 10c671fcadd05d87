import Codecs

/// An overlay ready to be painted.
struct RenderedOverlay: Sendable {
    /// What it is painted as.
    enum Content: Sendable {
        /// Something that hides all that lies below: drawn and scaled like a host's picture.
        case picture(Picture)
        /// Something to be blended at its own size.
        case overlay(OverlayPicture)
    }

    /// Another one for each rendering, so that a canvas knows whether it shows this one.
    let serial: Int64
    let content: Content

    /// What is drawn like a host's picture: cards, slates and backgrounds.
    var picture: Picture? {
        if case .picture(let picture) = content { picture } else { nil }
    }

    /// What is blended: tags, badges, logos, lower thirds and tickers.
    var overlay: OverlayPicture? {
        if case .overlay(let overlay) = content { overlay } else { nil }
    }
}
