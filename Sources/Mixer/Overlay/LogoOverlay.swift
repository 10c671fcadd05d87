import Codecs

/// A picture over a corner of the canvas, in its own shape.
struct LogoOverlay: Sendable, Hashable, Codable {
    var asset: String
    /// Pixels.
    var height: Int
    /// Pixels; a wide picture is made lower instead.
    var mostWidth: Int

    /// nil as long as the asset is not there.
    func drawing(with images: OverlayImages) throws(CodecError) -> Drawing? {
        guard let picture = try images[asset]?.contained(width: max(mostWidth, 2), height: max(height, 2)) else {
            return nil
        }
        var drawing = Drawing(width: picture.width, height: picture.height)
        drawing.marks.append(.image(picture, x: 0, y: 0, cornerRadius: 0, opacity: 1))
        return drawing
    }
}
