import Codecs

/// What of a layer is painted, once it is drawn.
enum LayerArt {
    /// Not drawn yet, or cannot be.
    case none
    /// Covers everything.
    case picture(Picture)
    /// Lies in its place.
    case overlay(OverlayPicture, x: Int, y: Int, opacity: Double)
    /// Runs along its band.
    case ticker(Ticker)

    /// A text that runs.
    struct Ticker {
        let strip: TickerStrip
        let text: OverlayPicture
        let motion: TickerMotion
    }

    func looksLike(_ other: LayerArt) -> Bool {
        switch (self, other) {
        case (.none, .none):
            true
        case (.picture(let one), .picture(let other)):
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
