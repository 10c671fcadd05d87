import Codecs

/// The picture that covers the canvas behind the tiles.
struct BackgroundPicture: Sendable, Hashable, Codable {
    var asset: String
    /// Pixels, even.
    var width: Int
    /// Pixels, even.
    var height: Int
    /// What is seen through it where it has holes.
    var theme: OverlayTheme = .dark

    /// nil as long as the asset is not there.
    func drawing(with images: OverlayImages) throws(CodecError) -> Drawing? {
        guard let picture = try images[asset]?.covering(width: width, height: height) else { return nil }
        var drawing = Drawing(width: width, height: height)
        drawing.marks = [
            .box(drawing.bounds, cornerRadius: 0, theme.background),
            .image(picture, x: 0, y: 0, cornerRadius: 0, opacity: 1),
        ]
        return drawing
    }
}
